// `db restore`: replaces the database with a backup. At every moment a complete database is under its name,
// the old one or the backup. One thread.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import SQLiteStore
internal import Store
internal import Terminal

struct DatabaseRestore {
  let session: Session
  let configuration: Configuration
  let path: String
  let filePath: String
  let backup: BackupFile

  static func run(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let reason = try session.why()
    let named: String
    switch configuration.database {
    case .file(let path): named = path
    case .postgres(let url): return ServerCopy.restore(url, configuration, session)
    }
    // Replaces the target of a symbolic link, not the link.
    let path = (try? FilePath.resolved(named)) ?? named
    guard !session.command.flag("dry-run") else {
      let restore = try LongWork.run(session, left: unchanged) { work in
        try DatabaseRestore(session, configuration, path, work, checked: 1)
      }
      try restore.backup.describe(at: restore.filePath, to: session)
      if session.isJSON { session.output.json(try restore.json(aside: nil, restore.backup.activeJobs())) }
      session.output.note("Nothing was changed.")
      return .done
    }
    let lock = try Self.lock(path)
    let undo = RestoreUndo(lock)
    do {
      let (restore, aside, jobs) = try LongWork.run(
        session, left: unchanged, undo: { undo.run() == .undone }
      ) { work in
        let restore = try DatabaseRestore(session, configuration, lock.path, work, checked: 0.3)
        try restore.backup.describe(at: restore.filePath, to: session)
        try session.ask("Put it in the place of \(DisplayText.clean(restore.path))?")
        let (aside, jobs) = try restore.exchange(lock, undo, work, reason: reason)
        return (restore, aside, jobs)
      }
      // No program may open the database before all of its files are in place.
      withExtendedLifetime(lock) {}
      try restore.report(aside, jobs)
    } catch {
      undo.run()
      throw error
    }
    return .done
  }

  private static let unchanged = "nothing was changed"

  /// - Parameter checked: the share of all work that is done when the backup is checked.
  private init(
    _ session: Session, _ configuration: Configuration, _ path: String, _ work: LongWork, checked: Double
  ) throws {
    self.session = session
    self.configuration = configuration
    self.path = path
    filePath = session.command.positionals[0]
    guard !FileWriting.isSameFile(filePath, path) else {
      throw OperatorFault(
        .refused, "\(DisplayText.clean(filePath)) is the database itself; name a backup of it")
    }
    let backup: BackupFile
    do throws(StoreError) {
      backup = try BackupFile(path: filePath)
    } catch .foreign {
      throw OperatorFault(
        .badData, "\(DisplayText.clean(filePath)) is not a database of Receipt Relay; nothing was changed")
    } catch .missing {
      throw OperatorFault(
        .notFound, "there is no backup \(DisplayText.clean(filePath)), or you may not read it")
    } catch {
      throw OperatorFault(error, path: filePath)
    }
    self.backup = backup
    let faults = try work.step("checking the backup", to: checked, interrupt: backup.interrupt) {
      try backup.faults { work.report($0) }
    }
    guard faults.isEmpty else {
      throw OperatorFault(
        .badData,
        "\(DisplayText.clean(filePath)) is damaged (\(DisplayText.clean(faults[0]))); use an older backup; "
          + "nothing was changed")
    }
  }

  /// Prevents any receiptd from serving the database during the restore, or during a copy.
  static func lock(_ path: String) throws -> DatabaseLock {
    do throws(DatabaseRefusal) {
      return try DatabaseLock.replace(path)
    } catch {
      switch error {
      case .held(let holder?) where holder.purpose == .replacing:
        throw OperatorFault(
          .tryAgain,
          "another receiptctl db restore or db copy (\(holder.place)) uses the database; nothing was changed")
      case .held(let holder):
        let who = holder?.place ?? "under another name of the file, a hard link"
        throw OperatorFault(
          .refused,
          "receiptd (\(who)) serves the database; stop it first, for instance: systemctl stop receiptd; "
            + "nothing was changed")
      case .refused(let message): throw OperatorFault(.refused, message)
      case .system(let error):
        throw OperatorFault(.refused, "cannot lock the database (\(error)); nothing was changed")
      }
    }
  }

  /// - Returns: the new path of the old database, nil when there was none; and the jobs that do not resume.
  private func exchange(
    _ lock: DatabaseLock, _ undo: RestoreUndo, _ work: LongWork, reason: String?
  ) throws -> (aside: String?, jobs: [HaltedJob]) {
    let new = RestoreUndo.copyPath(of: path)
    let aside = "\(path).before-restore-\(session.moment.unixMilliseconds / 1000)"
    let isThere = try isThere()
    do throws(SystemError) {
      RestoreUndo.removeCopy(of: path)
      try FileWriting.create(new, mode: 0o600)
    } catch {
      throw OperatorFault(
        .refused, "cannot write \(DisplayText.clean(new)) (\(error.reason)); nothing was changed")
    }
    do {
      try copy(to: new, work)
      let jobs = try prepare(new, work, reason: reason)
      FileWriting.copyOwner(of: isThere ? path : FileWriting.folder(of: path), for: new)
      // Other programs, such as the nightly backup's, may read it as before.
      if isThere { try FileWriting.copyMode(of: path, for: new) }
      try work.step("syncing", to: 1) { try FileWriting.sync(new) }
      try undo.withoutStop {
        // The log of the previous database is moved into it, and the backup has none.
        lock.noteEnd()
        try lock.keepingUsersOut { try replace(with: new, aside: aside, isThere: isThere) }
      }
      try syncFolder(aside: isThere ? aside : nil)
      return (isThere ? aside : nil, jobs)
    } catch {
      if case LockFailure.held = error { throw Self.isInUse }
      if let error = error as? SystemError {
        throw OperatorFault(
          .failed, "cannot put the backup in its place (\(error)); the previous database is still in use")
      }
      throw error
    }
  }

  private func copy(to new: String, _ work: LongWork) throws {
    let bytes = max(1, try backup.usedBytes())
    try work.step(
      "copying", to: 0.6, interrupt: backup.interrupt,
      measure: { Double(DiskSpace.fileBytes(at: new) ?? 0) / Double(bytes) }
    ) { try backup.copy(to: new) }
    let copy = try BackupFile(path: new)
    let faults = try work.step("checking the copy", to: 0.85, interrupt: copy.interrupt) {
      try copy.faults { work.report($0) }
    }
    guard faults.isEmpty else {
      throw OperatorFault(
        .badData, "the copy is damaged (\(DisplayText.clean(faults[0]))); nothing was changed")
    }
  }

  /// Only this sync makes the new name durable. The replacement itself is done, even if the sync fails.
  private func syncFolder(aside: String?) throws(OperatorFault) {
    do throws(SystemError) {
      try FileWriting.sync(FileWriting.folder(of: path))
    } catch {
      let before = aside.map { "; the previous file: \(DisplayText.clean($0))" } ?? ""
      throw OperatorFault(
        .failed,
        "\(DisplayText.clean(path)) is now \(DisplayText.clean(filePath))\(before). But its folder could not "
          + "be synced (\(error)), so a power loss may undo that. Look at the disk, then run: sync "
          + "\(DisplayText.clean(FileWriting.folder(of: path))). Start receiptd only when that succeeded")
    }
  }

  /// Changes the copy before it replaces the database, so that no program sees it unchanged: jobs do not
  /// resume, and the audit records the restore.
  private func prepare(_ new: String, _ work: LongWork, reason: String?) throws -> [HaltedJob] {
    let jobs = try Database.haltJobs(path: new, now: session.moment)
    if backup.isCurrent {
      let entry = session.auditEntry(
        subject: path, reason: reason,
        details: ["backup": .string(filePath), "halted_jobs": .array(jobs.map { .string($0.id) })])
      try work.step("sorting keys", to: 0.95) {
        do throws(StoreError) {
          let writer = try StoreWriter(path: new, role: .guest, rules: [:])
          do throws(StoreFault) {
            // The backup may have been made of a damaged file.
            try KeyRebuild.run(path: new, onStart: { work.isInterrupted(by: $0) })
            try writer.apply(WriteAudit(entry), now: session.moment)
          } catch {
            throw .fault(error)
          }
        } catch {
          throw OperatorFault(error, path: new)
        }
      }
      // Only the database file of the copy is moved, so no content may be left in its log.
      guard try Database.moveWholeLog(path: new) else { throw Self.isInUse }
    }
    return jobs
  }

  static let isInUse = OperatorFault(
    .tryAgain,
    "another program has the database open, such as receiptctl status --watch; end it and try again; "
      + "nothing was changed"
  )

  /// Whether there is a database to set aside. A file that cannot be examined is a fault, not a missing file.
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

  /// Checkpoints the rest of the old database's log into it.
  private func moveLog() throws {
    var isMoved = false
    do throws(StoreFault) {
      isMoved = try Database.moveWholeLog(path: path)
    } catch {
      // A damaged database cannot be checkpointed; its log is set aside unchanged.
      isMoved = error.kind != .busy
    }
    guard isMoved else { throw Self.isInUse }
  }

  /// Links the old database to a second name, moves its log aside, and renames the backup over it. The old
  /// database keeps its name until the last step; its log is moved last, and moved back if the rename fails.
  private func replace(with new: String, aside: String, isThere: Bool) throws {
    if isThere {
      try moveLog()
      try FileWriting.link(path, to: aside)
    }
    // Also without a database: SQLite would mistake a leftover log for the backup's.
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
      var isBack = isThere
      for suffix in moved {
        do throws(SystemError) {
          try FileWriting.rename(aside + suffix, to: path + suffix)
        } catch {
          // The log stays beside the second name.
          isBack = false
        }
      }
      // A database with two names would look as if a process served it under the other name.
      if isBack { FileWriting.remove(aside) }
      throw error
    }
  }
}

// MARK: - Report

// What `db restore` reports when the backup is in its place. One thread.

extension DatabaseRestore {
  func json(aside: String?, _ jobs: [HaltedJob]) throws -> JSONValue {
    [
      "database": .string(path), "backup": .string(filePath), "set_aside": .optional(aside),
      "last_event_at": .time(try backup.lastEventAt()),
      "pending": .optional(backup.isCurrent ? try backup.countPending() : nil),
      "schema": .integer(Int64(backup.version)),
      "jobs_paused": .array(jobs.filter(\.canGoOn).map { .string($0.id) }),
      "jobs_cancelled": .array(jobs.filter { !$0.canGoOn }.map { .string($0.id) }),
    ]
  }

  func report(_ aside: String?, _ jobs: [HaltedJob]) throws {
    let last = try backup.lastEventAt()
    let pending = backup.isCurrent ? try backup.countPending() : nil
    if session.isJSON {
      session.output.json(try json(aside: aside, jobs))
      return
    }
    let output = session.output
    output.line("\(DisplayText.clean(path)) is now \(DisplayText.clean(filePath)).")
    if let aside { output.line("The previous database: \(DisplayText.clean(aside))") }
    if let pending, pending > 0 {
      output.line(
        "\(Counted.receipts(Int(pending))) \(pending == 1 ? "is" : "are") due in it; those delivered "
          + "since are sent again.")
    }
    for job in jobs {
      output.line(
        job.canGoOn
          ? "Job \(job.id) was running and is paused: its work after the backup is not in it, and "
            + "would be done "
            + "again. Look at it first, then: receiptctl jobs resume \(job.id)"
          : "Job \(job.id) had not begun and is cancelled; start it again if you still need it.")
    }
    output.line("Start receiptd now.")
    for line in RestoreAdvice.lines(configuration, since: last) { output.line(DisplayText.clean(line)) }
  }
}

// MARK: - RestoreAdvice

// What an operator does after a restore about the payments that the backup does not know. Pure.

enum RestoreAdvice {
  /// - Parameter last: when the last event of the backup arrived; nil if it has none.
  static func lines(_ configuration: Configuration, since last: Timestamp?) -> [String] {
    let apps = configuration.apps
    let listing = apps.filter { $0.eventLister != nil }
    let options = listing.count == apps.count ? [""] : listing.map { " --app \($0.slug)" }
    let backfills = last.map { last in
      options.map {
        "Then fetch the events since then: receiptctl events backfill --since \(last.text)\($0)"
      }
    }
    let comparisons = apps.flatMap { app in
      app.processorsWithoutLists.map { kind in
        "Payments of \(app.slug) with \(kind.label) that were started after the backup are unknown to "
          + "receiptd, and cannot be fetched. Compare the processor's portal with: receiptctl receipts list "
          + "--app \(app.slug) --processor \(kind.name)"
      }
    }
    return (backfills ?? []) + comparisons
  }
}
