// `db backup`: a verified copy of the database, in a file or on standard output. One thread.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
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
    let replaces = session.command.flag("force")
    if replaces, let database = configuration.database.filePath, FileWriting.isSameFile(file, database) {
      throw OperatorFault(.refused, "\(DisplayText.clean(file)) is the database itself")
    }
    let backup = DatabaseBackup(
      of: source, to: isStream ? try outgoing(configuration, session) : file, replaces: replaces)
    let rows = try backup.write(session)
    if isStream { try backup.send(session) }
    do {
      try record(isStream ? "standard output" : backup.copy.path, configuration, session)
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
      session.output.json(["file": .string(backup.copy.path), "rows": .object(counts)])
    } else {
      session.output.line("\(DisplayText.clean(backup.copy.path)): copied and verified (\(counts))")
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
      if age > outgoingAgeMax.milliseconds { VerifiedCopy.remove(left) }
    }
    return path
  }

  /// Writes the verified copy to standard output, and removes it.
  private func send(_ session: Session) throws {
    let result = session.output.result
    try FileReading.forEachChunk(of: copy.path, onOpen: { FileWriting.remove(copy.path) }) {
      result.write($0)
    }
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
  private let copy: VerifiedCopy
  private let replaces: Bool

  private init(of source: StoreReader, to path: String, replaces: Bool) {
    self.source = source
    copy = VerifiedCopy(to: path)
    self.replaces = replaces
  }

  /// Copies the database, verifies the copy and gives it its name.
  /// - Returns: the number of rows of each table in it.
  private func write(_ session: Session) throws -> [(table: String, rows: Int64)] {
    do {
      try copy.begin(replaces: replaces)
      return try LongWork.run(
        session, left: "the partial copy was removed",
        undo: { [copy] in
          copy.removePart()
          return true
        },
        { [copy, source] work in
          let rows = try copy.fill(from: source, work)
          try copy.finish(work)
          return rows
        })
    } catch let fault as BackupFault {
      throw OperatorFault(fault)
    }
  }
}

extension OperatorFault {
  fileprivate init(_ fault: BackupFault) {
    let code: ExitCode =
      switch fault.kind {
      case .exists, .notPermitted: .refused
      case .unfinished, .differs: .tryAgain
      case .noFolder: .notFound
      case .damaged: .badData
      case .full, .failed: .failed
      }
    self.init(code, DisplayText.clean(fault.message))
  }
}

// MARK: - BackupDescription

// What `db restore` says about a backup before it asks.

extension BackupFile {
  /// Says whether a sound backup is what the operator expects.
  func describe(at path: String, to session: Session) throws {
    let name = DisplayText.clean(path)
    let last = try lastEventAt()
    let event =
      last.map { "its last event is of \($0.clock(today: session.now)) (\(session.relative($0)))" }
      ?? "it has no events"
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
