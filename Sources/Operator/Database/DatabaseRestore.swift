// `db restore`: puts a backup in the place of the database. At every moment there is a whole database under
// its name, the old one or the backup. One thread.

internal import Domain
internal import JSON
internal import Platform
internal import Relay
internal import SQLite
internal import Store
internal import Terminal

struct DatabaseRestore {
  private let session: Session
  private let path: String
  private let filePath: String
  private let backup: BackupFile

  static func run(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let reason = try session.reason()
    let isTrial = session.command.flag("dry-run")
    let lock = isTrial ? nil : try Self.takeLock(configuration.databasePath)
    let restore = try DatabaseRestore(session, configuration.databasePath)
    try restore.describe()
    if isTrial {
      if session.isJSON { session.output.json(try restore.json(aside: nil)) }
      session.output.note("Nothing was changed.")
      return .done
    }
    try session.ask("Put it in the place of \(DisplayText.clean(configuration.databasePath))?")
    let aside = try restore.exchange()
    withExtendedLifetime(lock) {}
    if restore.backup.isCurrent {
      let entry = session.auditEntry(
        subject: configuration.databasePath, reason: reason, details: ["backup": .string(restore.filePath)])
      try session.writer(configuration).apply(WriteAudit(entry), now: session.moment)
      FileWriting.takeOwner(of: FileWriting.folder(of: restore.path), for: restore.path + "-wal")
      FileWriting.takeOwner(of: FileWriting.folder(of: restore.path), for: restore.path + "-shm")
    }
    try restore.report(aside)
    return .done
  }

  private init(_ session: Session, _ path: String) throws {
    self.session = session
    self.path = path
    filePath = session.command.positionals[0]
    guard !FileWriting.isSameFile(filePath, path) else {
      throw OperatorFault(
        .refused, "\(DisplayText.clean(filePath)) is the database itself; name a backup of it")
    }
    do throws(StoreError) {
      backup = try BackupFile(path: filePath)
    } catch .foreign {
      throw OperatorFault(
        .badData, "\(DisplayText.clean(filePath)) is no database of Receipt Relay; nothing was changed")
    } catch .missing {
      throw OperatorFault(
        .notFound, "there is no backup \(DisplayText.clean(filePath)), or this user may not read it")
    } catch {
      throw OperatorFault(error, path: filePath)
    }
    session.noteWork("Checking \(DisplayText.clean(filePath)) …")
    let faults = try backup.faults()
    guard faults.isEmpty else {
      throw OperatorFault(
        .badData,
        "\(DisplayText.clean(filePath)) is damaged (\(DisplayText.clean(faults[0]))); take an older backup; "
          + "nothing was changed")
    }
  }

  private func describe() throws {
    let last = try backup.lastEventAt()
    let event = last.map { "its last event is of \($0.text) (\(session.relative($0)))" } ?? "it has no events"
    let schema =
      backup.isCurrent ? "" : ", schema version \(backup.version), which receiptd migrates at its start"
    session.output.note("\(DisplayText.clean(filePath)) is sound; \(event)\(schema).")
  }

  /// Nobody may serve the database meanwhile, nor begin to.
  private static func takeLock(_ path: String) throws -> FileLock {
    let lockPath = Daemon.lockPath(of: path)
    do throws(FileLock.Failure) {
      let lock = try FileLock(path: lockPath)
      FileWriting.takeOwner(of: FileWriting.folder(of: path), for: lockPath)
      return lock
    } catch {
      switch error {
      case .held(let process):
        throw OperatorFault(
          .refused,
          "receiptd (process \(process)) serves the database; stop it first, for instance: systemctl stop "
            + "receiptd; nothing was changed")
      case .system(let error):
        throw OperatorFault(.refused, "cannot lock the database (\(error)); nothing was changed")
      }
    }
  }

  /// - Returns: where the old database is now; nil when there was none.
  private func exchange() throws -> String? {
    let new = path + ".restore"
    let aside = "\(path).before-restore-\(session.moment.unixMilliseconds / 1000)"
    let isThere = try isThere()
    do throws(SystemError) {
      FileWriting.remove(new)
      try FileWriting.create(new, mode: 0o600)
    } catch {
      throw OperatorFault(
        .refused, "cannot write \(DisplayText.clean(new)) (\(error.reason)); nothing was changed")
    }
    do {
      try backup.copy(to: new)
      let faults = try BackupFile(path: new).faults()
      guard faults.isEmpty else {
        throw OperatorFault(
          .badData, "the copy is damaged (\(DisplayText.clean(faults[0]))); nothing was changed")
      }
      FileWriting.takeOwner(of: FileWriting.folder(of: path), for: new)
      try FileWriting.sync(new)
      try replace(with: new, aside: aside, isThere: isThere)
      try FileWriting.sync(FileWriting.folder(of: path))
      return isThere ? aside : nil
    } catch {
      FileWriting.remove(new)
      if let error = error as? SystemError {
        throw OperatorFault(
          .failed, "cannot put the backup in its place (\(error)); the database is the one that it was")
      }
      throw error
    }
  }

  /// Whether there is a database to be set aside. What cannot be looked at is not taken for nothing.
  private func isThere() throws -> Bool {
    guard let fault = FileWriting.accessFault(path) else { return true }
    guard fault.isMissingFile else {
      throw OperatorFault(
        .refused,
        "cannot use \(DisplayText.clean(path)) (\(fault.reason)); run receiptctl as the user that receiptd "
          + "runs as; nothing was changed")
    }
    return false
  }

  /// Moves what is left of the old database's log into it.
  private func settle() throws {
    var isSettled = false
    do throws(SQLiteError) {
      isSettled = try Database.settle(path: path)
    } catch {
      // A damaged one does not let itself be settled; its log goes aside as it is.
      isSettled = error.kind != .busy
    }
    guard isSettled else {
      throw OperatorFault(
        .tryAgain, "another program has the database open; end it and try again; nothing was changed")
    }
  }

  /// Gives the old database a second name, takes its log away, and the backup takes its place. Until the very
  /// last step the old one is there under its name; its log is moved last, and back when the backup cannot
  /// come.
  private func replace(with new: String, aside: String, isThere: Bool) throws {
    if isThere {
      try settle()
      try FileWriting.link(path, to: aside)
    }
    // Also without a database: a log that was left behind would be taken for the backup's.
    var moved: [String] = []
    do throws(SystemError) {
      for suffix in ["-wal", "-shm"] {
        do throws(SystemError) {
          try FileWriting.rename(path + suffix, to: aside + suffix)
          moved.append(suffix)
        } catch {
          guard error.isMissingFile else { throw error }
        }
      }
      try FileWriting.rename(new, to: path)
    } catch {
      for suffix in moved {
        // If even that fails, they stand beside the second name.
        try? FileWriting.rename(aside + suffix, to: path + suffix)
      }
      throw error
    }
  }

  private func json(aside: String?) throws -> JSONValue {
    [
      "database": .string(path), "backup": .string(filePath), "set_aside": .optional(aside),
      "last_event_at": .time(try backup.lastEventAt()),
      "pending": .optional(backup.isCurrent ? try backup.countPending() : nil),
      "schema": .integer(Int64(backup.version)),
    ]
  }

  private func report(_ aside: String?) throws {
    let last = try backup.lastEventAt()
    let pending = backup.isCurrent ? try backup.countPending() : nil
    if session.isJSON {
      session.output.json(try json(aside: aside))
      return
    }
    let output = session.output
    output.line("\(DisplayText.clean(path)) is now \(DisplayText.clean(filePath)).")
    if let aside { output.line("What was there before: \(DisplayText.clean(aside))") }
    if let pending, pending > 0 {
      output.line(
        "\(Counted.receipts(Int(pending))) \(pending == 1 ? "is" : "are") due in it; those delivered "
          + "since are sent again.")
    }
    output.line("Start receiptd now.")
    if let last {
      output.line("Then fetch what came since: receiptctl events backfill --since \(last.text)")
    }
  }
}
