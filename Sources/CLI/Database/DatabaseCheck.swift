// `db check`: reports what is damaged, what that means, and what to do. One thread.

internal import Config
internal import Formats
internal import Platform
internal import SQLiteStore
internal import Store
internal import Terminal

enum DatabaseCheck {
  /// How many of SQLite's findings are shown; more add no information.
  private static let faultsMax = 10

  static func run(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    switch configuration.database {
    case .file(let path): return try check(session.hold(file: path), session)
    case .postgres(let url): return try ServerCheck.run(url, configuration, session)
    }
  }

  private static func check(_ path: String, _ session: Session) throws -> ExitCode {
    let findings = try LongWork.run(session, left: "nothing was changed") { work in
      try work.step("checking", to: 1) {
        do throws(StoreError) {
          return try DatabaseInspection.run(
            path: path, onStart: { work.isInterrupted(by: $0) }, progress: { work.report($0) })
        } catch {
          throw OperatorFault(error, path: path)
        }
      }
    }
    let isSound = findings.faults.isEmpty
    let next = isSound ? [] : next(findings, path)
    if session.isJSON {
      session.output.json([
        "database": .string(path), "sound": .bool(isSound),
        "faults": .array(findings.faults.map(JSONValue.string)), "parts": .array(findings.parts.map(json)),
        "next": .array(next.map(JSONValue.string)),
      ])
      return isSound ? .done : .badData
    }
    guard !isSound else {
      session.output.line("\(DisplayText.clean(path)): sound")
      return .done
    }
    session.output.line("\(DisplayText.clean(path)): \(findings.isUnreadable ? "unreadable" : "damaged")")
    if !findings.parts.isEmpty { session.output.table(table(findings.parts)) }
    for line in next { session.output.line(line) }
    for fault in findings.faults.prefix(faultsMax) { session.output.error(DisplayText.clean(fault)) }
    if findings.faults.count > faultsMax {
      session.output.error("… and \(findings.faults.count - faultsMax) more of them (--json)")
    }
    return .badData
  }

  private static func table(_ parts: [DamagedPart]) -> Table {
    var table = Table(
      [.init("PART"), .init("STATE"), .init("WHAT IT IS", canShrink: true)], emptyMessage: "")
    for part in parts {
      table.add([Table.Cell(part.name), Table.Cell(state(part)), Table.Cell(meaning(part))])
    }
    return table
  }

  private static func json(_ part: DamagedPart) -> JSONValue {
    var readable: Int64?
    if case .hasLostRows(let rows) = part.state { readable = rows }
    return [
      "name": .string(part.name), "can_be_rebuilt": .bool(part.state == .canBeRebuilt),
      "readable_rows": .optional(readable),
    ]
  }

  private static func state(_ part: DamagedPart) -> String {
    switch part.state {
    case .canBeRebuilt: "can be rebuilt"
    case .hasLostRows(let readable): "rows are lost, \(readable) can be read"
    }
  }

  /// The visible effect of the damage.
  private static func meaning(_ part: DamagedPart) -> String {
    guard part.state != .canBeRebuilt else { return "an index; its table has all of its data" }
    return switch part.name {
    case "purchases": "receipts: those that are lost are neither delivered nor shown"
    case "contexts": "contexts: receipts are sent without ply_context, status pages show no state"
    case "events": "the raw webhooks that receipts were made from; \(ProcessorNames.keeping)"
    case "attempts": "the history of deliveries; pending receipts are not in it"
    case "receipt_counts", "delivery_counts", "join_counts": "figures of status and metrics"
    case "jobs", "job_receipts", "job_counts": "bulk replays, cancels and completes"
    case "audit": "who changed what"
    case "sqlite_schema": "the list of all tables"
    default: "receiptd's own notes"
    }
  }

  /// What to do: sentences, and indented commands. Tests run the commands.
  private static func next(_ findings: DatabaseFindings, _ path: String) -> [String] {
    let (stop, start) = ("  systemctl stop receiptd", "  systemctl start receiptd")
    if findings.lacksDictionaries {
      return [
        "Some bodies need a dictionary that this program does not have. If a newer version stored them, "
          + "install it again. Otherwise restore the newest backup; this file is kept beside it:", stop,
        "  receiptctl db restore BACKUP", start,
        "Then fetch the events since the backup, as db restore says.",
      ]
    }
    if findings.hasLoss {
      let restore = [
        "Lost rows are only in a backup. Restore the newest one; the damaged file is kept beside it:", stop,
        "  receiptctl db restore BACKUP", start,
        "Then fetch the events since the backup, as db restore says.",
      ]
      if findings.isUnreadable { return restore }
      return restore + ["Without a backup, copy the rows that can be read into a new file (package sqlite3):"]
        + [stop] + copy(path) + [start]
    }
    if findings.hasBrokenPages {
      let what = findings.parts.isEmpty ? "no table and no index is damaged" : "only indexes are damaged"
      return ["Nothing is lost: \(what). Copy all rows into a new file (package sqlite3):", stop]
        + copy(path) + [start]
    }
    if findings.parts.isEmpty {
      return [
        "No page is damaged, but rows disagree with each other, so a figure may be wrong. That is expected "
          + "in a file that was made of a damaged one; otherwise report it with this output."
      ]
    }
    return [
      "Nothing is lost: only indexes are damaged. Build them again (package sqlite3):", stop,
      "  sqlite3 \(ShellWord.quoted(path)) REINDEX", "  receiptctl db check", start,
    ]
  }

  /// Not `.recover`: Debian's sqlite3 lacks the virtual table that it needs (sqlite_dbpage). `.dump` reads
  /// each table from both ends until it reaches damage, and then ends with ROLLBACK.
  private static func copy(_ path: String) -> [String] {
    let (old, new) = (ShellWord.quoted(path), ShellWord.quoted(path + ".recovered"))
    return [
      "  sqlite3 \(old) .dump | sed '$s/.*/COMMIT;/' | sqlite3 \(new)",
      "  sqlite3 \(new) '\(DatabaseInspection.marks)'", "  receiptctl db restore \(new)",
    ]
  }
}
