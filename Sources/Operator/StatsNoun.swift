// `receiptctl stats`: how things stand, app by app. Every number comes from an index or a kept count.

internal import Domain
internal import JSON
internal import Presentation
internal import Relay
internal import Store
internal import Terminal

enum StatsNoun {
  static let verbs = [
    Verb(
      spec: CommandSpec(
        ["stats"], summary: "Show how each app stands: states, delivery, breaker",
        options: [OptionSpec("app", placeholder: "APP", help: "Only this app")],
        examples: [
          ExampleSpec("receiptctl stats", "Is anything stuck?"),
          ExampleSpec("receiptctl stats --json | jq 'select(.failed > 0)'", "Apps with failed receipts"),
        ]), run: run)
  ]

  private static func run(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let reader = try session.reader(configuration)
    let stats = try AppStats.all(
      reader, configured: configuration.apps.map(\.slug), only: session.app(configuration), session)
    if session.isJSON {
      for app in stats { session.output.json(app.json) }
      return .done
    }
    session.output.table(table(stats, session))
    for app in stats {
      guard let text = BreakerText(app.breaker, app: DisplayText.clean(app.slug), now: session.now) else {
        continue
      }
      session.output.line("Deliveries of \(DisplayText.clean(app.slug)) \(text.sentence)")
      session.output.line("  \(text.advice)")
    }
    return .done
  }

  private static func table(_ stats: [AppStats], _ session: Session) -> Table {
    var table = Table(
      [.init("APP")] + ReceiptState.allCases.map { .init($0.rawValue.uppercased(), alignment: .trailing) } + [
        .init("LAST HOUR", alignment: .trailing), .init("LAST 24 H", alignment: .trailing),
        .init("OLDEST PENDING"),
        .init("DELIVERIES"),
      ], emptyMessage: "No app is configured, and none has receipts.")
    for app in stats {
      let states = ReceiptState.allCases.map { state in
        let count = app.counts[state] ?? 0
        return Table.Cell(String(count), state == .failed && count > 0 ? .red : .plain)
      }
      table.add(
        [Table.Cell(app.slug)] + states + [
          Table.Cell(String(app.deliveredLastHour)), Table.Cell(String(app.deliveredLastDay)),
          Table.Cell(session.relative(app.oldestPending)), app.deliveries(session),
        ])
    }
    return table
  }
}

/// How one app stands.
private struct AppStats {
  private static let hourMilliseconds: Int64 = 3_600_000

  let slug: String
  let counts: [ReceiptState: Int64]
  let oldestPending: Timestamp?
  let deliveredLastHour: Int64
  let deliveredLastDay: Int64
  let breaker: Breaker
  let now: Timestamp

  /// Every app that is configured or has receipts, by slug.
  static func all(
    _ reader: StoreReader, configured: [String], only: String?, _ session: Session
  ) throws -> [AppStats] {
    var counts: [String: [ReceiptState: Int64]] = [:]
    for (app, state, count) in try reader.counts() { counts[app, default: [:]][state] = count }
    let breakers = try reader.breakers()
    let now = session.now
    let slugs = Set(configured).union(counts.keys).filter { only == nil || $0 == only }
    return try slugs.sorted().map { slug in
      AppStats(
        slug: slug, counts: counts[slug] ?? [:], oldestPending: try reader.oldestPending(app: slug),
        deliveredLastHour: try reader.delivered(
          app: slug, since: now.advanced(byMilliseconds: -hourMilliseconds)),
        deliveredLastDay: try reader.delivered(
          app: slug, since: now.advanced(byMilliseconds: -24 * hourMilliseconds)),
        breaker: breakers[slug] ?? Breaker(), now: now)
    }
  }

  /// Whether deliveries go.
  func deliveries(_ session: Session) -> Table.Cell {
    let cause = breaker.cause.map { " (\($0.text))" } ?? ""
    let probe = breaker.probeAt.map { ", probe \(session.relative($0))" } ?? ""
    switch breaker.state {
    case .paused, .open: return Table.Cell("\(breaker.state.rawValue)\(cause)\(probe)", .red)
    case .closed:
      guard let rest = breaker.restUntil, rest > now else { return Table.Cell("going", .green) }
      return Table.Cell("resting, go on \(session.relative(rest))", .yellow)
    }
  }

  var json: JSONValue {
    let states = ReceiptState.allCases.map { state in
      JSONValue.Member(name: state.rawValue, value: .integer(counts[state] ?? 0))
    }
    let pendingSeconds = oldestPending.map { max(0, now.milliseconds(since: $0)) / 1000 }
    let rest = breaker.restUntil.flatMap { $0 > now ? $0 : nil }
    return .object(
      [.init(name: "app", value: .string(slug))] + states + [
        .init(name: "delivered_last_hour", value: .integer(deliveredLastHour)),
        .init(name: "delivered_last_24h", value: .integer(deliveredLastDay)),
        .init(name: "oldest_pending_at", value: .time(oldestPending)),
        .init(name: "oldest_pending_seconds", value: .optional(pendingSeconds)),
        .init(
          name: "breaker",
          value: [
            "state": .string(breaker.state.rawValue), "cause": .optional(breaker.cause?.text),
            "failures": .integer(Int64(breaker.failures)), "since": .time(breaker.since),
            "next_probe_at": .time(breaker.state == .closed ? nil : breaker.probeAt),
            "rest_until": .time(rest),
          ]),
      ])
  }
}
