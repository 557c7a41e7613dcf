// Why a command failed, in words for the operator: what, why, what to do. Pure; any thread.

internal import Config
internal import Platform
internal import Reports
internal import Store
internal import Terminal

extension OperatorFault {
  /// A database that cannot be opened.
  init(_ error: StoreError, path: String) {
    let shown = DisplayText.clean(path)
    switch error {
    case .missing:
      if let fault = FileWriting.accessFault(path), !fault.isMissingFile {
        self.init(
          .refused,
          "cannot open \(shown) (\(fault.reason)); run receiptctl as the user that receiptd runs as, for "
            + "instance: sudo -u receiptd receiptctl …")
      } else {
        self.init(missingAt: path)
      }
    case .foreign, .ofDevelopment, .newerSchema, .olderSchema: self.init(.badData, "\(shown): \(error)")
    case .unsafeSetting: self.init(.failed, "\(shown): \(error)")
    case .retired, .unfinishedCopy, .severalSchemas:
      self.init(.refused, "\(shown): \(DisplayText.clean(error.description))")
    case .fault(let fault): self.init(fault)
    }
  }

  /// A configured database that cannot be opened.
  init(_ error: StoreError, _ place: DatabasePlace) {
    switch place {
    case .file(let path): self.init(error, path: path)
    case .postgres(let url): self.init(error, url)
    }
  }

  /// A database of a server that cannot be opened.
  private init(_ error: StoreError, _ url: DatabaseURL) {
    let shown = DisplayText.clean(url.description)
    switch error {
    case .missing: self.init(.notFound, "\(shown): \(error)")
    case .foreign, .ofDevelopment, .newerSchema, .olderSchema: self.init(.badData, "\(shown): \(error)")
    case .unsafeSetting: self.init(.failed, "\(shown): \(error)")
    case .retired, .unfinishedCopy, .severalSchemas:
      self.init(.refused, "\(shown): \(DisplayText.clean(error.description))")
    case .fault(let fault):
      let reason = DisplayText.clean(fault.reason)
      switch fault.kind {
      case .unreachable, .unavailable, .conflict, .busy:
        self.init(
          .tryAgain,
          "\(shown) cannot be reached now: \(reason); see that PostgreSQL runs there and that this machine "
            + "reaches it, then try again")
      case .cannotOpen, .notPermitted:
        self.init(
          .refused,
          "\(shown) cannot be used: \(reason); check `database` in the configuration, and what the server "
            + "allows (pg_hba.conf, GRANT)")
      case .standby:
        self.init(
          .refused,
          "\(shown) cannot be written: \(reason); connect to the primary, with "
            + "target_session_attrs=read-write in `database`")
      default: self.init(fault)
      }
    }
  }

  /// There is no database at the path: it was never created, or it was moved or removed, perhaps while
  /// receiptd serves it. The lock file beside it outlives the database file.
  private init(missingAt path: String) {
    let shown = DisplayText.clean(path)
    if let holder = DatabaseAccess.holder(path) {
      self.init(
        .unavailable,
        holder.purpose == .serving
          ? "\(shown) was moved or removed while receiptd (\(holder.place)) serves it; contexts and events "
            + "are refused with 503. Put the file back (mv, not cp): receiptd continues at once. If it is "
            + "gone, stop receiptd and restore a backup: receiptctl db restore FILE"
          : "\(shown): there is no database yet; receiptctl db restore (\(holder.place)) is writing it. Try "
            + "again when it has ended")
      return
    }
    let names = DatabaseAccess.companions(of: path)
    let files = names.map(DisplayText.clean).joined(separator: ", ")
    self.init(
      .notFound,
      names.isEmpty
        ? "\(shown): \(StoreError.missing)"
        : "\(shown) was moved or removed: other files of the database are there (\(files)). Put it back, or "
          + "restore a backup: receiptctl db restore FILE")
  }

  /// A read or a write that the database rejected.
  init(_ error: StoreFault) {
    let what = "the database cannot be used: \(error)"
    switch error.kind {
    case .busy: self.init(.tryAgain, "\(what); another program writes to it, try again")
    case .unreachable, .unavailable, .conflict: self.init(.tryAgain, "\(what); try again")
    case .full: self.init(.unavailable, "\(what); make room on its disk and try again")
    case .corrupt:
      self.init(.badData, "\(what); it is damaged. To see the damage and what to do: receiptctl db check")
    case .standby, .notPermitted:
      self.init(.refused, "\(what). \(error.kind.advice)")
    case .readOnly, .cannotOpen:
      self.init(.refused, "\(what); run receiptctl as the user that receiptd runs as")
    default: self.init(.failed, what)
    }
  }
}
