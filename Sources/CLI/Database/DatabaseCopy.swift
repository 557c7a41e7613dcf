// `db copy`: copies the database, compares both, and retires the first. One thread.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
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
    guard !session.command.flag("dry-run") else {
      throw session.usage("--dry-run needs --undo: a copy changes nothing before it is complete")
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
    // A stop takes effect between two slices. It may come at any moment: nothing has to be undone.
    let report = try LongWork.run(session, left: "run the same command again, it continues") { work in
      let source = try CopyHold(configuration.database, configuration.durability, isTarget: false)
      let target = try CopyHold(place, configuration.durability, isTarget: true)
      return try Self(session, source, target).perform(work)
    }
    report()
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

  /// - Returns: reports the result.
  private func perform(_ work: LongWork) throws -> () -> Void {
    do {
      try source.alone {}
      if copy.continuesEarlierRun { session.output.note("Continuing the copy that was interrupted.") }
      let start = session.dependencies.clock.monotonic
      let copied = try copyRows(work)
      let seconds = session.dependencies.clock.monotonic.seconds(since: start)
      let found = try compare(work)
      try report(differences: found.filter { !$0.isEqual })
      let total = found.reduce(0) { $0 + $1.source.rows }
      let entry = session.auditEntry(
        details: ["from": .string(source.name), "to": .string(target.name), "rows": .integer(total)])
      try source.alone { try copy.finish(entry, now: session.moment) }
      return { report(found, copied: copied, seconds: seconds) }
    } catch let error as CopyFault {
      throw Self.fault(error, source.name, target.name)
    } catch let error as StoreFault {
      throw Self.fault(.fault(error), source.name, target.name)
    }
  }

  /// - Returns: how many rows this run has copied.
  private func copyRows(_ work: LongWork) throws -> Int64 {
    let shares = try TableShares(copy)
    var (copied, last, known): (Int64, String, Int64) = (0, "", 0)
    try work.step("copying", to: 0.5) {
      try copy.copyRows { table, rows throws(StoreFault) in
        if table.name != last { (last, known) = (table.name, rows) }
        (copied, known) = (copied + rows - known, rows)
        try note(table, rows, "copying", shares, work)
      }
    }
    return copied
  }

  private func compare(_ work: LongWork) throws -> [CopyComparison] {
    let shares = try TableShares(copy)
    return try work.step("comparing", to: 1) {
      try CopyTable.all.map { table in
        try copy.compare(table) { rows throws(StoreFault) in
          try note(table, rows, "comparing", shares, work)
        }
      }
    }
  }

  /// Notes the progress, and ends the work between two slices.
  private func note(
    _ table: CopyTable, _ rows: Int64, _ label: String, _ shares: TableShares, _ work: LongWork
  ) throws(StoreFault) {
    work.report(shares.share(table, rows), "\(label) \(table.name)")
    guard !work.isStopping, !session.dependencies.isStopped(.zero) else { throw .stopped }
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

/// How much of all rows the rows of each table are, as far as that is known before they are read.
private struct TableShares {
  private var places: [String: (before: Int64, rows: Int64)] = [:]
  private var total: Int64 = 0

  init(_ copy: StoreCopy) throws(StoreFault) {
    for table in CopyTable.all {
      let rows = try copy.estimate(of: table)
      places[table.name] = (total, rows)
      total += rows
    }
  }

  /// The share that is done after this many rows of a table.
  func share(_ table: CopyTable, _ rows: Int64) -> Double {
    guard let place = places[table.name], total > 0 else { return 1 }
    return Double(place.before + min(rows, place.rows)) / Double(total)
  }
}

// MARK: - DatabaseUnretire

// `db unretire`: undoes the last step of `db copy`. One thread.

enum DatabaseUnretire {
  static func run(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let reason = try session.why()
    let hold = try CopyHold(configuration.database, configuration.durability, isTarget: false)
    let shown = DisplayText.clean(hold.name)
    guard let database = hold.engine?.writing, let mark = try database.retirement() else {
      throw OperatorFault(.notFound, "\(shown) is not retired; nothing was changed")
    }
    let copy = DisplayText.clean(mark.place)
    session.output.note(
      "\(shown) was copied to \(copy) at \(mark.at.clock(today: session.now)). If a receiptd has used the "
        + "copy since, receipts are delivered twice, and what only the copy has is missing here.")
    if session.command.flag("dry-run") {
      session.output.note("Nothing was changed.")
      return .done
    }
    try session.ask("Use \(shown) again?")
    let entry = session.auditEntry(reason: reason, details: ["copy": .string(mark.place)])
    guard try database.unretire(entry) != nil else {
      throw OperatorFault(.tryAgain, "another program has just changed that; look again")
    }
    if session.isJSON {
      session.output.json(["database": .string(hold.name), "copy": .string(mark.place)])
    } else {
      session.output.line("\(shown) can be used again. Do not start receiptd with \(copy).")
    }
    return .done
  }
}

// MARK: - Text

// Why a copy was refused or failed, in words for the operator. Pure; any thread.

extension DatabaseCopy {
  /// - Parameters:
  ///   - source: the database that is copied, without passwords.
  ///   - target: the copy, likewise.
  static func fault(_ fault: CopyFault, _ source: String, _ target: String) -> OperatorFault {
    let (from, to) = (DisplayText.clean(source), DisplayText.clean(target))
    func refused(_ text: String) -> OperatorFault { OperatorFault(.refused, DisplayText.clean(text)) }
    let again = "empty \(to) or choose another empty database, and copy again"
    switch fault {
    case .used(let isSource, let hosts):
      return refused(
        "receiptd uses \(isSource ? from : to) now, or did a minute ago, on "
          + "\(hosts.joined(separator: ", ")); stop each receiptd of it, and try again a minute later")
    case .retired(let place, let at):
      return refused("\(from): \(StoreError.retired(to: place, at: at))")
    case .unfinished(let place): return refused("\(from): \(StoreError.unfinishedCopy(of: place))")
    case .sameDatabase: return refused("--to names the database itself; name an empty one")
    case .notEmpty(let table):
      return refused("\(to) is not empty: \(table) has rows; choose an empty database")
    case .otherCopy(let place):
      return refused("\(to) is an unfinished copy of \(place), and not of \(from) as it is now; \(again)")
    case .sourceChanged:
      return refused("\(from) was used after the copy began, so the copy is not complete; \(again)")
    case .otherSchema(let table):
      return OperatorFault(
        .badData,
        "\(table) has other columns in \(to) than in \(from); use one version of Receipt Relay for both")
    case .fault(let fault):
      let isTemporary = [.unavailable, .conflict, .busy, .interrupted].contains(fault.kind)
      guard isTemporary else { return OperatorFault(fault) }
      return OperatorFault(
        .tryAgain,
        "the copy was interrupted (\(DisplayText.clean(fault.description))); run the same command again, it "
          + "continues")
    }
  }
}
