// `db copy`: copies the database, compares both, and retires the first. One thread.

internal import Configuration
internal import Durations
internal import JSON
internal import Platform
internal import Relay
internal import Store
internal import Terminal

struct DatabaseCopy {
  private let session: Session
  private let (source, target): (CopyHold, CopyHold)
  private let copy: StoreCopy

  static func run(_ session: Session) throws -> ExitCode {
    guard let named = session.command.options["to"] else {
      throw session.usage("--to is missing: the empty database to copy into")
    }
    let configuration = try session.configuration()
    let place = try ConfigurationLoader.database(
      named, option: "--to", folder: ".", environment: session.dependencies.environment)
    if let path = configuration.database.filePath, let other = place.filePath,
      FileWriting.isSameFile(path, other)
    {
      throw fault(.sameDatabase, path, other)
    }
    if case .postgres(let url) = place, url.hasPassword, named.hasPrefix("postgres") {
      session.output.note(
        "warning: --to has a password, which all users of this machine can see; write env:NAME or file:/path")
    }
    // A stop takes effect between two slices.
    session.dependencies.catchStop()
    let source = try CopyHold(configuration.database, configuration.durability, isTarget: false)
    let target = try CopyHold(place, configuration.durability, isTarget: true)
    try Self(session, source, target).perform()
    withExtendedLifetime((source, target)) {}
    return .done
  }

  private init(_ session: Session, _ source: CopyHold, _ target: CopyHold) throws {
    (self.session, self.source, self.target) = (session, source, target)
    guard let from = source.engine, let to = target.engine else {
      throw OperatorFault(.failed, "the databases are closed")
    }
    do throws(CopyFault) {
      copy = try StoreCopy(from: from, to: to, places: (source.name, target.name), now: session.moment)
    } catch {
      throw Self.fault(error, source.name, target.name)
    }
  }

  private func perform() throws {
    do {
      try source.alone {}
      if copy.continuesEarlierRun { session.output.note("Continuing the copy that was interrupted.") }
      let start = session.dependencies.clock.monotonic
      let copied = try copyRows()
      let seconds = session.dependencies.clock.monotonic.seconds(since: start)
      let found = try compare()
      try report(differences: found.filter { !$0.isEqual })
      let total = found.reduce(0) { $0 + $1.source.rows }
      let entry = session.auditEntry(
        details: ["from": .string(source.name), "to": .string(target.name), "rows": .integer(total)])
      try source.alone { try copy.finish(entry, now: session.moment) }
      report(found, copied: copied, seconds: seconds)
    } catch let error as CopyFault {
      throw Self.fault(error, source.name, target.name)
    } catch let error as StoreFault {
      throw Self.fault(.fault(error), source.name, target.name)
    }
  }

  /// - Returns: how many rows this run has copied.
  private func copyRows() throws -> Int64 {
    let bars = TableBars(session)
    defer { bars.finish() }
    var (copied, last, known): (Int64, String, Int64) = (0, "", 0)
    try copy.copyRows { table, rows throws(StoreFault) in
      if table.name != last { (last, known) = (table.name, rows) }
      (copied, known) = (copied + rows - known, rows)
      try bars.update("copying", table, rows, of: copy)
    }
    return copied
  }

  private func compare() throws -> [CopyComparison] {
    let bars = TableBars(session)
    defer { bars.finish() }
    return try CopyTable.all.map { table in
      try copy.compare(table) { rows throws(StoreFault) in try bars.update("comparing", table, rows, of: copy)
      }
    }
  }

  private func report(differences: [CopyComparison]) throws {
    guard !differences.isEmpty else { return }
    for table in differences {
      let first = table.difference.map { "; the first that differs: \($0)" } ?? ""
      session.output.error(
        DisplayText.clean(
          "\(table.table) differs: \(CountText.of(table.source.rows, "row")) (checksum "
            + "\(table.source.checksumText)), in the copy \(CountText.of(table.target.rows, "row")) "
            + "(\(table.target.checksumText))\(first)"))
    }
    throw OperatorFault(
      .badData,
      "the copy is not used, and \(DisplayText.clean(source.name)) is as before. Delete "
        + "\(DisplayText.clean(target.name)), make an empty database and copy again; if this repeats, check "
        + "both databases with: receiptctl db check")
  }

  private func report(_ found: [CopyComparison], copied: Int64, seconds: Double) {
    let total = found.reduce(0) { $0 + $1.source.rows }
    let rate = seconds > 0 ? Int64(Double(copied) / seconds) : nil
    let output = session.output
    guard !session.isJSON else {
      let tables = found.map { table in
        JSONValue.Member(
          name: table.table,
          value: ["rows": .integer(table.source.rows), "checksum": .string(table.source.checksumText)])
      }
      return output.json([
        "from": .string(source.name), "to": .string(target.name), "tables": .object(tables),
        "rows": .integer(total), "copied": .integer(copied), "rows_per_second": .optional(rate),
        "replaced": .integer(found.reduce(0) { $0 + $1.replacedRows }),
      ])
    }
    var table = Table(
      [.init("TABLE"), .init("ROWS", alignment: .trailing), .init("CHECKSUM")], emptyMessage: "")
    for part in found where part.source.rows > 0 {
      table.add([
        Table.Cell(part.table), Table.Cell(count: part.source.rows), Table.Cell(part.source.checksumText),
      ])
    }
    output.table(table)
    for part in found where part.replacedRows > 0 {
      output.note(
        "warning: \(CountText.of(part.replacedRows, "row")) of \(part.table) had U+0000 in a text, which "
          + "PostgreSQL cannot store; the copy has U+FFFD there")
    }
    let (from, to) = (DisplayText.clean(source.name), DisplayText.clean(target.name))
    output.line("\(to): \(CountText.of(total, "row")) copied and verified\(rate.map(Self.speed) ?? "").")
    output.line("\(from) is retired: receiptd does not start with it any more.")
    output.line("Name the copy as `database` in the configuration, then start receiptd.")
  }

  private static func speed(_ rate: Int64) -> String { " (\(CountText.grouped(rate)) rows/s)" }
}

extension CopyComparison.Side {
  fileprivate var checksumText: String {
    let digits = String(checksum, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// A progress bar for each table, and the end between two slices.
private final class TableBars {
  private let session: Session
  private var bar: ProgressBar?
  private var table = ""

  init(_ session: Session) { self.session = session }

  func update(
    _ label: String, _ table: CopyTable, _ rows: Int64, of copy: StoreCopy
  ) throws(StoreFault) {
    if self.table != table.name {
      finish()
      self.table = table.name
      bar = ProgressBar(
        "\(label) \(table.name)", total: Int(max(rows, try copy.estimate(of: table))),
        doneBefore: Int(rows), on: session.output.notes, clock: session.dependencies.clock)
    }
    bar?.update(done: Int(rows))
    if session.dependencies.isStopped(.zero) {
      throw StoreFault(.interrupted, operation: "copy", reason: "stopped by a signal")
    }
  }

  func finish() {
    bar?.finish()
    bar = nil
  }
}
