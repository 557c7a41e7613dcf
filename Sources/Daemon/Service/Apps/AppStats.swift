// The state of one app, in numbers whose cost does not depend on the database's size. One thread.

public import Config
public import Domain
public import Formats
public import Reports
public import Store

/// The state of one app.
public struct AppStats: Sendable {
  public let slug: AppSlug
  public let counts: [ReceiptState: Int64]
  public let oldestPending: Timestamp?
  /// The arrival of the newest event.
  public let lastEvent: Timestamp?
  public let deliveredLastHour: Int64
  public let deliveredLastDay: Int64
  /// How long deliveries took, to each destination, sorted by its name.
  public let latencies: [DestinationLatencies]
  /// How the contexts of the last 24 hours joined.
  public let joins: JoinTally
  /// The unfinished lookups and captures at each processor, sorted by its name.
  public let work: [(processor: ProcessorName, work: UnfinishedWork)]
  /// In the order in which an operator should know of them.
  public let breakers: [(destination: DestinationName, breaker: Breaker)]
  /// Whether it has failures that nobody has acknowledged, or that have grown since.
  public let needsAttention: Bool
  /// An operator's pause of the app.
  public let pause: AppPause?
  /// Whether a receiptd runs and can deliver.
  public let isServed: Bool
  /// Whether receiptd's last report has the app: a reload that was refused, or never run, leaves it out.
  public let isApplied: Bool
  /// What is blocked because the app is not configured; nil when it is configured, or has no open receipts.
  public let unconfigured: UnconfiguredApp?
  public let isConfigured: Bool
  public let now: Timestamp

  /// Every app that is configured or has receipts, sorted by slug.
  /// - Parameter applied: the apps that receiptd has reported; nil if they are not known.
  public static func all(
    _ reader: StoreReader, _ configuration: Configuration, only: AppSlug?,
    windows: [LatencyWindow] = [.hour], isServed: Bool, applied: [AppSlug]? = nil, now: Timestamp
  ) throws(StoreFault) -> [AppStats] {
    let configured = Set(configuration.apps.map(\.slug))
    var counts: [AppSlug: [ReceiptState: Int64]] = [:]
    for (app, state, count) in try reader.counts() { counts[app, default: [:]][state] = count }
    let slugs = configured.union(counts.keys).filter { only == nil || $0 == only }
    // Before the snapshot, which would end with an event that cannot be read.
    var lastEvents: [AppSlug: Timestamp] = [:]
    for slug in slugs { lastEvents[slug] = reader.lastReadableEvent(app: slug) }
    return try reader.snapshot { () throws(StoreFault) in
      let (breakers, pauses) = (try reader.breakers(), try reader.pauses())
      let loud = try reader.loudFailures(app: only)
      let lastHour = try reader.delivered(since: now - .hours(1))
      let lastDay = try reader.delivered(since: now - .days(1))
      let delivered = Dictionary(grouping: try reader.latencyPlaces(), by: \.app)
      let places = Dictionary(grouping: try configuration.places(reader), by: \.app)
      // Of a file with faults, nobody knows which apps receiptd has.
      let isKnown = { (slug: AppSlug) in configured.contains(slug) || configuration.isPartial }
      return try slugs.sorted().map { slug throws(StoreFault) in
        AppStats(
          slug: slug, counts: counts[slug] ?? [:], oldestPending: try reader.oldestPending(app: slug),
          lastEvent: lastEvents[slug],
          deliveredLastHour: lastHour[slug] ?? 0, deliveredLastDay: lastDay[slug] ?? 0,
          latencies: try (delivered[slug] ?? []).map { place throws(StoreFault) in
            try DestinationLatencies(reader, place, windows, now: now)
          },
          joins: try reader.joinTally(app: slug, last: 24, now: now),
          work: try (places[slug] ?? []).map { place throws(StoreFault) in
            (place.processor, try reader.unfinished(place, now: now))
          },
          breakers: isKnown(slug) ? breakers.sorted(of: slug, now: now) : [],
          needsAttention: loud[slug] != nil,
          pause: pauses[slug], isServed: isServed, isApplied: applied?.contains(slug) ?? true,
          unconfigured: isKnown(slug) ? nil : UnconfiguredApp(slug: slug, counts[slug] ?? [:]),
          isConfigured: isKnown(slug), now: now)
      }
    }
  }

  /// That of the destination that an operator should know of first.
  public var breaker: Breaker { breakers.first?.breaker ?? Breaker() }

  /// The lines about unfinished lookups and captures.
  public var unfinished: [UnfinishedText] {
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

  private var breakerJSON: JSONValue {
    let rest = breaker.restUntil.flatMap { $0 > now ? $0 : nil }
    return [
      "destination": .optional(breakers.first?.destination.text),
      "state": .string(breaker.state.rawValue), "cause": .optional(breaker.cause?.text),
      "detail": .optional(breaker.detail),
      "failures": .integer(Int64(breaker.failures)), "since": .time(breaker.since),
      "next_probe_at": .time(breaker.state == .closed ? nil : breaker.probeAt),
      "rest_until": .time(rest),
    ]
  }

  /// The fields for other programs.
  public static let list = Resource("apps", one: "app", fields, table: [])

  private static let fields: [ListField<AppStats>] =
    [.app { $0.slug }]
    + ReceiptState.allCases.map { state in .number(state.rawValue) { $0.counts[state] ?? 0 } }
    + [
      .flag("served") { $0.isServed && $0.isApplied && $0.isConfigured },
      .flag("configured") { $0.isConfigured },
      .number("delivered_last_hour") { $0.deliveredLastHour },
      .number("delivered_last_24h") { $0.deliveredLastDay },
      .json("destinations") { .object($0.latencies.map(\.json)) },
      .json("joins_last_24h") { .object($0.joins.members) },
      .time("last_event_at") { $0.lastEvent }, .time("oldest_pending_at") { $0.oldestPending },
      .number("oldest_pending_seconds") { app in
        app.oldestPending.map { max(.zero, app.now.duration(since: $0)).components.seconds }
      },
      .json("processors") { app in
        .object(app.work.map { .init(name: $0.processor.text, value: app.json($0.work)) })
      },
      .json("pause") { $0.pauseJSON }, .json("breaker") { $0.breakerJSON },
    ]
}

extension JoinTally {
  /// Its numbers.
  public var members: [JSONValue.Member] {
    [.init(name: "receipts", value: .integer(total))]
      + JoinOutcome.allCases.map { .init(name: $0.rawValue, value: .integer(self[$0])) }
      + [
        .init(name: "contexts", value: .integer(contexts)),
        .init(name: "unclaimed", value: .integer(unclaimed)),
      ]
  }
}

extension Configuration {
  /// The apps with their processors: those of the configuration, and those that have receipts.
  public func places(_ reader: StoreReader) throws(StoreFault) -> [AppProcessor] {
    Set(try reader.countsByProcessor().keys).union(configuredPlaces).sorted {
      ($0.app, $0.processor) < ($1.app, $1.processor)
    }
  }
}
