// `db purge`: applies retention now, one slice at a time, as the housekeeper does. One thread.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Store
internal import Terminal
internal import Upkeep

enum DatabasePurge {
  static func run(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let reason = try session.why()
    let writer = try session.writer(configuration, usesApps: false)
    let isTrial = session.command.flag("dry-run")
    if !isTrial {
      let plan = RetentionTable.allCases.map { table in
        "\(table.words) from before \(cutoff(table, configuration, session).text)"
      }
      session.output.note("To be deleted:  \(plan.joined(separator: ", ")).")
      try session.ask("Delete them?")
    }
    var deleted: [(table: RetentionTable, rows: Int)] = []
    for table in RetentionTable.allCases {
      let rows = try purge(table, configuration, session, writer, deletes: !isTrial)
      deleted.append((table, rows))
    }
    if !isTrial {
      let counts = deleted.map { JSONValue.Member(name: $0.table.words, value: .integer(Int64($0.rows))) }
      try writer.apply(
        WriteAudit(session.auditEntry(reason: reason, details: .object(counts))), now: session.moment)
    }
    report(deleted, session, isTrial: isTrial)
    return .done
  }

  private static func cutoff(
    _ table: RetentionTable, _ configuration: Configuration, _ session: Session
  ) -> Timestamp {
    session.now - configuration.retention.duration(of: table)
  }

  private static func purge(
    _ table: RetentionTable, _ configuration: Configuration, _ session: Session, _ writer: StoreWriter,
    deletes: Bool
  ) throws -> Int {
    let cutoff = cutoff(table, configuration, session)
    var bar = ProgressBar(
      table.words, total: Int(try session.reader(configuration).lastRow(of: table)), on: session.output.notes,
      clock: session.dependencies.clock)
    defer { bar.finish() }
    var deleted = 0
    var next: Int64? = 0
    while let row = next {
      let slice = Retain(table: table, cutoff: cutoff, afterRow: row, deletes: deletes)
      let outcome = try writer.apply(slice, now: session.moment)
      deleted += outcome.deleted
      next = outcome.nextRow
      bar.update(done: next.map { Int($0) } ?? .max)
    }
    return deleted
  }

  private static func report(
    _ deleted: [(table: RetentionTable, rows: Int)], _ session: Session, isTrial: Bool
  ) {
    if session.isJSON {
      let counts = deleted.map { JSONValue.Member(name: $0.table.words, value: .integer(Int64($0.rows))) }
      session.output.json([(isTrial ? "would_delete" : "deleted"): .object(counts)])
      return
    }
    let counts = deleted.map { "\(CountText.grouped($0.rows)) \($0.table.words)" }.joined(separator: ", ")
    session.output.line(isTrial ? "Would delete \(counts); nothing was changed." : "Deleted \(counts).")
  }
}

extension RetentionTable {
  /// The documented name for its rows.
  fileprivate var words: String { rawValue == "purchases" ? "receipts" : rawValue }
}
