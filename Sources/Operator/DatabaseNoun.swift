// `receiptctl db`: whether the database is sound, and copies of it.

internal import JSON
internal import Platform
internal import Relay
internal import Store
internal import Terminal

enum DatabaseNoun {
  static let spec = NounSpec("db", summary: "The database file: soundness and copies")

  static let verbs = [
    Verb(
      spec: CommandSpec(
        ["db", "check"], summary: "Check the database's integrity",
        discussion: "Reads the whole file; receiptd may go on meanwhile. Ends with 65 when there is a fault.",
        examples: [ExampleSpec("receiptctl db check", "After a crash of the machine")]), run: check),
    Verb(
      spec: CommandSpec(
        ["db", "backup"], summary: "Copy the database, while receiptd goes on, and verify the copy",
        discussion: """
          The copy is the database as it was at one moment, readable by its owner only. It stands under \
          its name once it is whole, checked and synced, never before. An existing file is never \
          overwritten.
          """,
        arguments: [ArgumentSpec("FILE", help: "the copy, a name that is not taken")],
        examples: [
          ExampleSpec("receiptctl db backup /var/backups/receiptd-$(date -I).db", "Each night, from cron")
        ]), run: backup),
  ]

  private static func check(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let path = configuration.databasePath
    let faults = try session.reader(configuration).integrityFaults()
    if session.isJSON {
      session.output.json([
        "database": .string(path), "sound": .bool(faults.isEmpty),
        "faults": .array(faults.map(JSONValue.string)),
      ])
    } else if faults.isEmpty {
      session.output.line("\(DisplayText.clean(path)): sound")
    }
    guard !faults.isEmpty else { return .done }
    for fault in faults { session.output.error(DisplayText.clean(fault)) }
    session.output.error(
      "the database is damaged: stop receiptd, keep a copy of the file, and go back to a backup")
    return .badData
  }

  private static func backup(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let source = try session.reader(configuration)
    let backup = Backup(of: source, to: session.command.positionals[0])
    let rows = try backup.write()
    if session.isJSON {
      let counts = rows.map { JSONValue.Member(name: $0.table, value: .integer($0.rows)) }
      session.output.json(["file": .string(backup.path), "rows": .object(counts)])
    } else {
      let counts = rows.map { "\($0.rows) \($0.table)" }.joined(separator: ", ")
      session.output.line("\(DisplayText.clean(backup.path)): copied and verified (\(counts))")
    }
    return .done
  }
}

/// One copy of a database.
private struct Backup {
  let source: StoreReader
  let path: String
  /// Where the copy is until it is known to be good, so that no half of one is ever taken for a backup.
  let partPath: String

  init(of source: StoreReader, to path: String) {
    self.source = source
    self.path = path
    partPath = path + ".part"
  }

  /// Copies, verifies and names the copy.
  /// - Returns: how many rows of each table are in it.
  func write() throws -> [(table: String, rows: Int64)] {
    let shown = DisplayText.clean(path)
    guard FileWriting.accessFault(path)?.isMissingFile ?? false else {
      throw OperatorFault(.refused, "\(shown) exists; choose another name, nothing is overwritten")
    }
    do throws(SystemError) {
      // Made here and empty, which SQLite takes (https://www.sqlite.org/lang_vacuum.html), for the sake of
      // its mode.
      try FileWriting.create(partPath, mode: 0o600)
    } catch {
      let part = DisplayText.clean(partPath)
      if error.isExistingFile {
        throw OperatorFault(
          .tryAgain, "\(part) is of a backup that runs or was cut off; if none runs, remove it and try again")
      }
      throw OperatorFault(
        error.isMissingFile ? .notFound : .refused,
        "cannot write \(part) (\(error.reason)); choose a folder that you may write to")
    }
    do {
      let before = try source.rowCounts()
      try source.copy(to: partPath)
      let rows = try verify(expecting: before)
      try FileWriting.sync(partPath)
      try FileWriting.rename(partPath, to: path)
      // The name itself is on disk only now.
      try FileWriting.sync(FileWriting.folder(of: path))
      return rows
    } catch {
      FileWriting.remove(partPath)
      if let error = error as? SystemError {
        throw OperatorFault(.failed, "cannot finish \(shown) (\(error)); nothing is left of it")
      }
      throw error
    }
  }

  /// Opens the copy as any program would, lets it check itself, and looks whether everything came along.
  private func verify(expecting before: [(table: String, rows: Int64)]) throws -> [(
    table: String, rows: Int64
  )] {
    let copy: StoreReader
    do throws(StoreError) {
      copy = try StoreReader(path: partPath, role: .reader)
    } catch {
      throw OperatorFault(.failed, "the copy cannot be opened (\(error)); nothing is left of it")
    }
    let faults = try copy.integrityFaults()
    guard faults.isEmpty else {
      throw OperatorFault(
        .badData,
        "the copy is damaged (\(DisplayText.clean(faults[0]))); see what receiptctl db check says of the "
          + "database"
      )
    }
    let rows = try copy.rowCounts()
    let after = try source.rowCounts()
    // Others write meanwhile, so a count is known only to within what it was before and after.
    for (index, table) in rows.enumerated() {
      let bounds = [before[index].rows, after[index].rows]
      guard let least = bounds.min(), let most = bounds.max(), (least...most).contains(table.rows) else {
        throw OperatorFault(
          .tryAgain,
          "the copy has \(table.rows) \(table.table), the database has \(after[index].rows); try again")
      }
    }
    return rows
  }
}
