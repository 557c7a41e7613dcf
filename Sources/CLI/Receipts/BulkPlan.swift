// The plan of a bulk command, computed before anything is changed, so that the operator can check it.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Store
internal import Terminal

/// The plan of a bulk command.
struct BulkPlan {
  let kind: JobKind
  let choice: ReceiptChoice
  /// The receipts that will change, the largest group first.
  private(set) var groups: [ReceiptGroup] = []
  /// The same one by one, if ids were given; oldest first.
  private(set) var receipts: [ReceiptOutline] = []
  /// Ids that stay unchanged, and why.
  private var refused: [(id: String, why: String)] = []
  /// Groups that stay unchanged, and why.
  private var refusedGroups: [(group: ReceiptGroup, why: String)] = []
  /// `delivery.rate` of each app.
  private let deliveryRates: [AppSlug: Double]

  /// A count that takes longer is announced.
  private static let quietTime: Duration = .milliseconds(200)

  init(_ kind: JobKind, _ session: Session, _ configuration: Configuration, _ reader: StoreReader) throws {
    self.kind = kind
    choice = try ReceiptChoice(session, configuration)
    deliveryRates = Dictionary(
      uniqueKeysWithValues: configuration.apps.map { ($0.slug, $0.delivery.ratePerSecond) })
    let asked = JobRequest(
      kind: kind, source: choice.source, force: session.command.flag("force"), actor: "")
    let isNamed = if case .ids = choice { true } else { false }
    func refusal(_ app: AppSlug, _ state: ReceiptState, _ reason: Reason?, id: String) -> String? {
      // An unpaid receipt is sent only if the operator names it.
      let isNamedUnpaid = kind == .replay && isNamed && reason == .payment
      guard isNamedUnpaid || asked.concerns(state, reason) else {
        return kind.refusal(state, reason, id: id)
      }
      guard kind != .cancel, configuration.app(app) == nil else { return nil }
      return "is of the app '\(DisplayText.clean(app.text))', which is not configured; add it to "
        + DisplayText.clean(session.configurationPath)
    }
    switch choice {
    case .ids(let ids):
      let found = try ReceiptOutline.all(ids, reader)
      let known = Set(found.map(\.id))
      let unknown = ids.filter { !known.contains($0) }
      guard unknown.isEmpty else { throw ReceiptsCommands.unknown(unknown.map(\.text)) }
      for receipt in found.sorted(by: { $0.id < $1.id }) {
        if let why = refusal(receipt.app, receipt.state, receipt.reason, id: receipt.id.text) {
          refused.append((receipt.id.text, why))
        } else {
          receipts.append(receipt)
          ReceiptGroup.add(ReceiptGroup(receipt), to: &groups)
        }
      }
    case .filter(let filter, let limit):
      for group in try Self.survey(filter, limit, session, reader) {
        if let why = refusal(group.app, group.state, group.reason, id: "ID") {
          let isLackingPrice = kind == .replay && group.reason == .price && group.state != .delivered
          refusedGroups.append((group, isLackingPrice ? Self.lacksPrice(filter) : why))
        } else {
          groups.append(group)
        }
      }
    }
    groups.sort { ($1.count, $0.reason?.text ?? "") < ($0.count, $1.reason?.text ?? "") }
  }

  private static func survey(
    _ filter: ReceiptFilter, _ limit: Int?, _ session: Session, _ reader: StoreReader
  ) throws -> [ReceiptGroup] {
    let clock = session.dependencies.clock
    let start = clock.monotonic
    let total = min(try reader.countAtMost(filter), limit ?? Int.max)
    var bar: ProgressBar?
    let groups = try reader.survey(filter, limit: limit) { counted in
      guard bar != nil || clock.monotonic.duration(since: start) > quietTime else { return }
      bar = bar ?? ProgressBar("counting…", total: total, on: session.output.notes, clock: clock)
      bar?.update(done: counted)
    }
    bar?.finish()
    return groups
  }

  /// How many receipts will change.
  var count: Int { groups.reduce(0) { $0 + $1.count } }

  /// `about 14 min at 5/s`; slower if the apps deliver less.
  /// - Parameter count: of these receipts.
  func estimate(_ count: Int, perSecond rate: Double) -> String {
    let effective = effective(rate)
    return Counted.estimate(count, perSecond: effective) + (effective < rate ? " (delivery.rate)" : "")
  }

  /// How many receipts are changed per second: an app delivers no more than its `delivery.rate`.
  private func effective(_ rate: Double) -> Double {
    guard kind != .cancel, count > 0 else { return rate }
    var seconds = Double(count) / rate
    for (app, groups) in Dictionary(grouping: groups, by: \.app) {
      guard let limit = deliveryRates[app] else { continue }
      seconds = max(seconds, Double(groups.reduce(0) { $0 + $1.count }) / limit)
    }
    return min(rate, Double(count) / seconds)
  }

  /// Advises the one command that supplies the price of all receipts that lack it.
  private static func lacksPrice(_ filter: ReceiptFilter) -> String {
    let app = filter.app.map { " --app \(ShellWord.quoted($0.text))" } ?? ""
    let states = ReceiptState.allCases.filter(filter.states.contains).map { " --state \($0.rawValue)" }
      .joined()
    return "lacks its price; supply it with: receiptctl receipts complete\(app)\(states) "
      + "--reason price --price PRICE"
  }

  func addRefusals(to refusals: Refusals) {
    for (id, why) in refused { refusals.add(id, why) }
    for (group, why) in refusedGroups { refusals.add(group: group, why) }
  }

  private var refusedCount: Int { refused.count + refusedGroups.reduce(0) { $0 + $1.group.count } }

  /// The groups of all apps combined; by cause only if that adds something to the reason.
  private var rows: [ReceiptGroup] {
    var rows: [ReceiptGroup] = []
    for var group in groups {
      group.app = ""
      if group.cause == group.reason { group.cause = nil }
      ReceiptGroup.add(group, to: &rows)
    }
    return rows.sorted { ($1.count, $0.reason?.text ?? "") < ($0.count, $1.reason?.text ?? "") }
  }

  func table(_ session: Session) -> Table {
    let rows = rows
    let hasCause = rows.contains { $0.cause != nil }
    var columns: [Table.Column] = [.init("STATE"), .init("REASON")]
    if hasCause { columns.append(.init("CAUSE")) }
    columns += [.init("COUNT", alignment: .trailing), .init("OLDEST"), .init("NEWEST")]
    var table = Table(columns, emptyMessage: "No receipts to \(kind.rawValue).")
    for group in rows {
      var cells = [
        Table.Cell(group.state.rawValue, group.state.tone.style), Table.Cell(group.reason?.text ?? "-"),
      ]
      if hasCause { cells.append(Table.Cell(group.cause?.text ?? "-")) }
      cells += [
        Table.Cell(count: group.count), Table.Cell(session.relative(group.oldest)),
        Table.Cell(session.relative(group.newest)),
      ]
      table.add(cells)
    }
    return table
  }

  func json(rate: Double?) -> JSONValue {
    let past = kind.past.lowercased()
    var members: [JSONValue.Member] = [
      .init(name: past, value: 0), .init(name: "ids", value: []),
      .init(name: "would_\(kind.rawValue)", value: .integer(Int64(count))),
      .init(name: "refused", value: .integer(Int64(refusedCount))),
    ]
    if let rate {
      let seconds = Int64(clamping: Counted.seconds(count, perSecond: effective(rate)))
      members.append(.init(name: "estimate_seconds", value: .integer(seconds)))
    }
    let groups = rows.map { group -> JSONValue in
      [
        "state": .string(group.state.rawValue), "reason": .optional(group.reason?.text),
        "last_cause": .optional(group.cause?.text), "count": .integer(Int64(group.count)),
        "oldest_at": .time(group.oldest), "newest_at": .time(group.newest),
      ]
    }
    return .object(members + [.init(name: "groups", value: .array(groups))])
  }
}
