// The state of one app, in numbers whose cost does not depend on the database's size. One thread.

internal import Config
internal import Domain
internal import Formats
internal import Reports
internal import Service
internal import Store
internal import Terminal

/// The state of one app.
struct AppStats {
  let slug: AppSlug
  let counts: [ReceiptState: Int64]
  let oldestPending: Timestamp?
  /// The arrival of the newest event.
  let lastEvent: Timestamp?
  let deliveredLastHour: Int64
  let deliveredLastDay: Int64
  /// How long deliveries took, to each destination, sorted by its name.
  let latencies: [DestinationLatencies]
  /// How the contexts of the last 24 hours joined.
  let joins: JoinTally
  /// The unfinished lookups and captures at each processor, sorted by its name.
  let work: [(processor: ProcessorName, work: UnfinishedWork)]
  /// In the order in which an operator should know of them.
  let breakers: [(destination: DestinationName, breaker: Breaker)]
  /// Whether it has failures that nobody has acknowledged, or that have grown since.
  let needsAttention: Bool
  /// An operator's pause of the app.
  let pause: AppPause?
  /// Whether a receiptd runs and can deliver.
  let isServed: Bool
  /// What is blocked because the app is not configured; nil when it is configured, or has no open receipts.
  let unconfigured: UnconfiguredApp?
  let isConfigured: Bool
  let now: Timestamp

  /// Every app that is configured or has receipts, sorted by slug.
  static func all(
    _ reader: StoreReader, _ configuration: Configuration, only: AppSlug?,
    windows: [LatencyWindow] = [.hour], _ session: Session
  ) throws -> [AppStats] {
    let isServed = try session.isServed(configuration, reader)
    var counts: [AppSlug: [ReceiptState: Int64]] = [:]
    for (app, state, count) in try reader.counts() { counts[app, default: [:]][state] = count }
    let (breakers, pauses) = (try reader.breakers(), try reader.pauses())
    let loud = try reader.loudFailures(app: only)
    let now = session.now
    let configured = Set(configuration.apps.map(\.slug))
    let lastHour = try reader.delivered(since: now - .hours(1))
    let lastDay = try reader.delivered(since: now - .days(1))
    let delivered = Dictionary(grouping: try reader.latencyPlaces(), by: \.app)
    let places = Dictionary(grouping: try configuration.places(reader), by: \.app)
    // Of a file with faults, nobody knows which apps receiptd has.
    let isKnown = { (slug: AppSlug) in configured.contains(slug) || configuration.isPartial }
    let slugs = configured.union(counts.keys).filter { only == nil || $0 == only }
    return try slugs.sorted().map { slug in
      return AppStats(
        slug: slug, counts: counts[slug] ?? [:], oldestPending: try reader.oldestPending(app: slug),
        lastEvent: reader.lastReadableEvent(app: slug),
        deliveredLastHour: lastHour[slug] ?? 0, deliveredLastDay: lastDay[slug] ?? 0,
        latencies: try (delivered[slug] ?? []).map { place in
          try DestinationLatencies(reader, place, windows, now: now)
        },
        joins: try reader.joinTally(app: slug, last: 24, now: now),
        work: try (places[slug] ?? []).map { ($0.processor, try reader.unfinished($0, now: now)) },
        breakers: configured.contains(slug) ? breakers.sorted(of: slug, now: now) : [],
        needsAttention: loud[slug] != nil,
        pause: pauses[slug], isServed: isServed,
        unconfigured: isKnown(slug) ? nil : UnconfiguredApp(slug: slug, counts[slug] ?? [:]),
        isConfigured: isKnown(slug), now: now)
    }
  }

  /// That of the destination that an operator should know of first.
  private var breaker: Breaker { breakers.first?.breaker ?? Breaker() }

  /// Whether deliveries run, and if not, why.
  func deliveries(_ session: Session) -> Table.Cell {
    guard isConfigured else { return Table.Cell("not configured", unconfigured == nil ? .dim : .red) }
    if let text = PauseText(pause, app: slug.text, now: now) {
      return Table.Cell(DisplayText.clean(text.short), .yellow)
    }
    guard isServed else { return Table.Cell("receiptd is not running", .red) }
    let cause = breaker.cause.map { " (\($0.text))" } ?? ""
    let probe = breaker.probeAt.map { ", probe \(session.relative($0))" } ?? ""
    switch breaker.state {
    case .paused, .open: return Table.Cell("stopped\(cause)\(probe)", .red)
    case .closed:
      guard let rest = breaker.restUntil, rest > now else { return Table.Cell("running", .green) }
      return Table.Cell("on hold, resume \(session.relative(rest))", .yellow)
    }
  }

  /// What stops deliveries to each destination, and what to do about it, as two lines each.
  func stoppages(_ configuration: Configuration) -> [(what: String, advice: String)] {
    if let unconfigured {
      let app = DisplayText.clean(slug.text)
      return [("The app \(app) \(unconfigured.sentence).", "  \(unconfigured.advice)")]
    }
    guard isConfigured else { return [] }
    return Stoppage.all(of: slug, pause, breakers, configuration, now: now).map {
      ($0.what, "  \($0.advice)")
    }
  }

  /// The first of `stoppages`; nil if nothing stops deliveries.
  func stoppage(_ configuration: Configuration) -> (what: String, advice: String)? {
    stoppages(configuration).first
  }

  /// The lines about unfinished lookups and captures.
  var unfinished: [UnfinishedText] {
    work.compactMap { UnfinishedText($0.work, of: AppProcessor(slug, $0.processor), now: now) }
  }

  private func json(_ work: UnfinishedWork) -> JSONValue {
    [
      "lookups": .integer(work.lookups), "lookups_unanswered": .integer(work.unansweredLookups),
      "lookups_abandoned": .integer(work.abandonedLookups),
      "captures_open": .integer(work.openCaptures), "captures_unknown": .integer(work.unknownCaptures),
      "captures_abandoned": .integer(work.abandonedCaptures), "oldest_capture_at": .time(work.oldestCapture),
    ]
  }

  /// Null unless the deliveries are paused now.
  private var pauseJSON: JSONValue {
    guard let pause, pause.isActive(now: now) else { return .null }
    return [
      "since": .time(pause.since), "until": .time(pause.until), "actor": .string(pause.actor),
      "why": .optional(pause.reason),
    ]
  }

  var json: JSONValue { .object(members) }

  var members: [JSONValue.Member] {
    let states = ReceiptState.allCases.map { state in
      JSONValue.Member(name: state.rawValue, value: .integer(counts[state] ?? 0))
    }
    let pendingSeconds = oldestPending.map { max(.zero, now.duration(since: $0)).components.seconds }
    let rest = breaker.restUntil.flatMap { $0 > now ? $0 : nil }
    return [.init(name: "app", value: .string(slug.text))] + states
      + [
        .init(name: "served", value: .bool(isServed && isConfigured)),
        .init(name: "configured", value: .bool(isConfigured)),
        .init(name: "delivered_last_hour", value: .integer(deliveredLastHour)),
        .init(name: "delivered_last_24h", value: .integer(deliveredLastDay)),
        .init(name: "destinations", value: .object(latencies.map { $0.json })),
        .init(name: "joins_last_24h", value: .object(JoinStats.members(joins))),
        .init(name: "last_event_at", value: .time(lastEvent)),
        .init(name: "oldest_pending_at", value: .time(oldestPending)),
        .init(name: "oldest_pending_seconds", value: .optional(pendingSeconds)),
        .init(
          name: "processors",
          value: .object(work.map { .init(name: $0.processor.text, value: json($0.work)) })),
        .init(name: "pause", value: pauseJSON),
        .init(
          name: "breaker",
          value: [
            "destination": .optional(breakers.first?.destination.text),
            "state": .string(breaker.state.rawValue), "cause": .optional(breaker.cause?.text),
            "detail": .optional(breaker.detail),
            "failures": .integer(Int64(breaker.failures)), "since": .time(breaker.since),
            "next_probe_at": .time(breaker.state == .closed ? nil : breaker.probeAt),
            "rest_until": .time(rest),
          ]),
      ]
  }
}
