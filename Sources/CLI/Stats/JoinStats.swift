// `receiptctl status --joins`: how the contexts of each app join, day by day. Every number is a stored count.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Service
internal import Store
internal import Terminal

enum JoinStats {
  /// The days that are shown, in UTC.
  private static let days: Int64 = 7

  static func show(
    _ reader: StoreReader, _ configuration: Configuration, _ only: AppSlug?, _ session: Session
  ) throws {
    guard !session.command.flag("latency") else {
      throw session.usage("--joins and --latency exclude each other")
    }
    let stored = try reader.counts().map(\.app)
    let apps = Set(configuration.apps.map(\.slug)).union(stored).filter { only == nil || $0 == only }.sorted()
    var table = Table(
      [.init("APP"), .init("DAY"), .init("RECEIPTS", alignment: .trailing)]
        + JoinOutcome.allCases.map { .init($0.rawValue.uppercased(), alignment: .trailing) }
        + [
          .init("JOINED", alignment: .trailing), .init("CONTEXTS", alignment: .trailing),
          .init("UNCLAIMED", alignment: .trailing),
        ], emptyMessage: "No receipt was made and no context was posted in the last \(days) days.")
    var broken: [String] = []
    for app in apps {
      for day in try reader.joins(app: app, last: days, periodsOf: 24, now: session.now).reversed()
      where day.tally != JoinTally() {
        if session.isJSON { session.output.json(json(app, day)) } else { table.add(cells(app, day)) }
      }
      guard let recent = try reader.unjoined(app: app, now: session.now) else { continue }
      broken.append("Contexts of \(app) no longer join: \(JoinText.broken(recent)).")
      broken += JoinText.commands(app: app.text).dropFirst().map { "  To see such receipts: \($0)" }
    }
    guard !session.isJSON else { return }
    session.output.table(table)
    for line in broken { session.output.line(DisplayText.clean(line)) }
  }

  private static func cells(_ app: AppSlug, _ day: JoinPeriod) -> [Table.Cell] {
    let tally = day.tally
    return [Table.Cell(app.text), Table.Cell(String(day.start.rfc3339.prefix(10)))]
      + [Table.Cell(count: tally.total)]
      + JoinOutcome.allCases.map { Table.Cell(count: tally[$0]) }
      + [share(tally), Table.Cell(count: tally.contexts), Table.Cell(count: tally.unclaimed)]
  }

  /// The share of the receipts that have a context.
  static func share(_ tally: JoinTally) -> Table.Cell {
    Table.Cell(tally.joinedPercent.map { "\($0) %" } ?? "-")
  }

  private static func json(_ app: AppSlug, _ day: JoinPeriod) -> JSONValue {
    .object(
      [
        .init(name: "app", value: .string(app.text)),
        .init(name: "day", value: .string(String(day.start.rfc3339.prefix(10)))),
      ] + day.tally.members)
  }
}
