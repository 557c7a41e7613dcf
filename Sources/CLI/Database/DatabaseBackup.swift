// `db backup`: the copy gets its final name only after it is complete, checked and synced. One thread.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import SQLiteStore
internal import Store
internal import Terminal

struct DatabaseBackup {
  static func run(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    if session.command.flag("record") { return try recordOther(configuration, session) }
    if case .postgres(let url) = configuration.database { return ServerCopy.backup(url, session) }
    let source = try session.reader(configuration)
    let file = session.command.positionals[0]
    let isStream = file == standardOutput
    let backup = DatabaseBackup(of: source, to: isStream ? try outgoing(configuration, session) : file)
    let rows = try backup.write(session)
    if isStream { try backup.send(session) }
    do {
      try record(isStream ? "standard output" : backup.path, configuration, session)
    } catch {
      // The copy is good nevertheless.
      session.output.note(
        "The backup could not be recorded, so alerts do not know of it: \(DisplayText.clean("\(error)"))")
    }
    let counts = rows.map { "\(CountText.grouped($0.rows)) \($0.table)" }.joined(separator: ", ")
    if isStream {
      session.output.note("standard output: copied and verified (\(counts))")
    } else if session.isJSON {
      let counts = rows.map { JSONValue.Member(name: $0.table, value: .integer($0.rows)) }
      session.output.json(["file": .string(backup.path), "rows": .object(counts)])
    } else {
      session.output.line("\(DisplayText.clean(backup.path)): copied and verified (\(counts))")
    }
    return .done
  }

  /// The FILE that stands for standard output.
  static let standardOutput = "-"
  /// How old an outgoing copy may be without belonging to a backup that was killed.
  private static let outgoingAgeMax: Duration = .hours(6)

  /// The copy that goes to standard output is made and verified beside the database: in a container nothing
  /// else may be writable.
  private static func outgoing(_ configuration: Configuration, _ session: Session) throws -> String {
    guard !session.output.result.isTerminal else {
      throw OperatorFault(
        .refused, "a database is no text for a terminal; write it into a file: receiptctl db backup - > FILE")
    }
    let path = (configuration.database.filePath ?? "") + ".outgoing"
    for left in [path, path + ".part"] {
      let age = FileAge(path: left).map { session.now.unixMilliseconds - $0.changedAt } ?? 0
      if age > outgoingAgeMax.milliseconds { remove(part: left) }
    }
    return path
  }

  /// Writes the verified copy to standard output, and removes it.
  private func send(_ session: Session) throws {
    let result = session.output.result
    try FileReading.forEachChunk(of: path, onOpen: { FileWriting.remove(path) }) { result.write($0) }
    guard !result.isClosed else {
      throw OperatorFault(.failed, "the copy was not written whole: whatever reads it has ended")
    }
  }

  /// Records that another program has copied the database.
  private static func recordOther(_ configuration: Configuration, _ session: Session) throws -> ExitCode {
    let name = session.command.positionals[0]
    try record(name, configuration, session)
    if session.isJSON {
      session.output.json(["file": .string(name), "recorded": true])
    } else {
      session.output.line("\(DisplayText.clean(name)): recorded")
    }
    return .done
  }

  /// Notes in the database when the last backup was made, for the alert `backup_old`.
  private static func record(_ name: String, _ configuration: Configuration, _ session: Session) throws {
    let now = session.moment
    let content: JSONValue = ["file": .string(name)]
    try session.writer(configuration, usesApps: false).apply(
      SaveServiceReport(ServiceReport(name: .backup, at: now, content: content.text)), now: now)
  }

  private let source: StoreReader
  private let path: String
  /// The temporary path of the copy, so that an incomplete copy is never mistaken for a backup.
  private let partPath: String

  /// Includes the files that SQLite keeps beside a database (https://www.sqlite.org/tempfiles.html).
  private static func remove(part partPath: String) {
    for suffix in ["", "-journal", "-wal", "-shm"] { FileWriting.remove(partPath + suffix) }
  }

  private init(of source: StoreReader, to path: String) {
    self.source = source
    self.path = path
    partPath = path + ".part"
  }

  /// Copies the database, verifies the copy and gives it its name.
  /// - Returns: the number of rows of each table in it.
  private func write(_ session: Session) throws -> [(table: String, rows: Int64)] {
    let shown = DisplayText.clean(path)
    guard FileWriting.accessFault(path)?.isMissingFile ?? false else {
      throw OperatorFault(.refused, "\(shown) exists; choose another name, nothing is overwritten")
    }
    do throws(SystemError) {
      // Created here as an empty file, which SQLite accepts (https://www.sqlite.org/lang_vacuum.html), to set
      // its mode.
      try FileWriting.create(partPath, mode: 0o600)
    } catch {
      let part = DisplayText.clean(partPath)
      if error.isExistingFile {
        throw OperatorFault(
          .tryAgain,
          "\(part) is of a backup that is running or was interrupted; if none is running, "
            + "remove it and try again")
      }
      throw OperatorFault(
        error.isMissingFile ? .notFound : .refused,
        "cannot write \(part) (\(error.reason)); choose a folder that you may write to")
    }
    return try LongWork.run(
      session, left: "the partial copy was removed",
      undo: { [partPath] in
        Self.remove(part: partPath)
        return true
      }, fill)
  }

  /// Fills, verifies and renames the temporary file; a failure leaves no file.
  private func fill(_ work: LongWork) throws -> [(table: String, rows: Int64)] {
    let shown = DisplayText.clean(path)
    var isNamed = false
    do {
      let before = try count(work, to: 0.05)
      try copy(work)
      let rows = try verify(work, expecting: before)
      try work.step("syncing", to: 1) {
        try FileWriting.sync(partPath)
        try FileWriting.rename(partPath, to: path)
        isNamed = true
        // Only this sync makes the new name durable.
        try FileWriting.sync(FileWriting.folder(of: path))
      }
      return rows
    } catch {
      Self.remove(part: partPath)
      if isNamed { FileWriting.remove(path) }
      if let error = error as? SystemError {
        throw OperatorFault(.failed, "cannot finish \(shown) (\(error)); the partial copy was removed")
      }
      throw error
    }
  }

  private func count(_ work: LongWork, to end: Double) throws -> [(table: String, rows: Int64)] {
    try work.step("counting", to: end, interrupt: source.interrupt) { try source.rowCounts() }
  }

  private func copy(_ work: LongWork) throws {
    let (partPath, bytes) = (partPath, try source.usedBytes())
    try work.step(
      "copying", to: 0.5, interrupt: source.interrupt,
      measure: { Double(DiskSpace.fileBytes(at: partPath) ?? 0) / Double(max(1, bytes)) }
    ) { try copy() }
  }

  private func copy() throws {
    do throws(StoreFault) {
      try source.copy(to: partPath)
    } catch {
      guard error.kind == .full else { throw error }
      throw OperatorFault(
        .failed,
        "there is no room for \(DisplayText.clean(path)); the partial copy was removed, choose a larger disk"
      )
    }
  }

  /// Opens the copy as any program would, runs its integrity check, and compares the row counts.
  private func verify(
    _ work: LongWork, expecting before: [(table: String, rows: Int64)]
  ) throws -> [(table: String, rows: Int64)] {
    let copy: StoreReader
    do throws(StoreError) {
      copy = try StoreReader(path: partPath, role: .reader)
    } catch {
      throw OperatorFault(.failed, "the copy cannot be opened (\(error)); the partial copy was removed")
    }
    let faults = try work.step("checking the copy", to: 0.95, interrupt: copy.interrupt) {
      try copy.integrityFaults(progress: { work.report($0) })
    }
    guard faults.isEmpty else {
      throw OperatorFault(
        .badData,
        "the copy is damaged (\(DisplayText.clean(faults[0]))), so the database may be, too. Check it with: "
          + "receiptctl db check"
      )
    }
    let rows = try work.step("counting", to: 0.97, interrupt: copy.interrupt) { try copy.rowCounts() }
    let after = try count(work, to: 0.98)
    // Other processes write meanwhile, so the true count is only known to be between the counts before and
    // after.
    for (index, table) in rows.enumerated() {
      let bounds = [before[index].rows, after[index].rows]
      guard let least = bounds.min(), let most = bounds.max(), (least...most).contains(table.rows) else {
        throw OperatorFault(
          .tryAgain,
          "the copy has \(CountText.grouped(table.rows)) \(table.table), the database has "
            + "\(CountText.grouped(after[index].rows)); try again")
      }
    }
    return rows
  }
}

// MARK: - BackupDescription

// What `db restore` says about a backup before it asks.

extension BackupFile {
  /// Says whether a sound backup is what the operator expects.
  func describe(at path: String, to session: Session) throws {
    let name = DisplayText.clean(path)
    let last = try lastEventAt()
    let event = last.map { "its last event is of \($0.text) (\(session.relative($0)))" } ?? "it has no events"
    let schema = isCurrent ? "" : ", schema version \(version), which receiptd migrates at its start"
    session.output.note("\(name) is sound; \(event)\(schema).")
    if try lacksDictionaries() {
      session.output.note(
        "But some events, receipts or contexts in it need a dictionary that this program does not have, and "
          + "cannot be read. Prefer another backup, or the version that made it.")
    }
    let jobs = try activeJobs()
    if !jobs.isEmpty {
      session.output.note(
        "\(CountText.of(jobs.count, "job")) \(jobs.count == 1 ? "was" : "were") running when it was made; "
          + "none resumes automatically after the restore.")
    }
  }
}
