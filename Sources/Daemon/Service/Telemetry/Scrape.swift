// One scrape: the counters, the current state of the database, and the process statistics of the operating
// system.

public import Domain
internal import Formats
public import HTTPServer
internal import Platform
public import Store

/// The current load of the public listener.
public struct ListenerGauges: Sendable {
  public var load = ServerLoad(connections: 0, connectionsMax: 0)
  /// Requests that wait for a checkout.
  public var longPolls = 0

  public init(load: ServerLoad = ServerLoad(connections: 0, connectionsMax: 0), longPolls: Int = 0) {
    self.load = load
    self.longPolls = longPolls
  }
}

/// The inputs of a scrape.
public struct Scrape {
  public let metrics: Metrics
  /// The configured apps with their processors.
  public let places: [AppProcessor]
  public let queueDepth: Int
  public let isReady: Bool
  public let droppedLogLines: UInt64
  public let listener: ListenerGauges
  public let space: StoreSpace
  public let now: Timestamp

  public init(
    metrics: Metrics, places: [AppProcessor], queueDepth: Int, isReady: Bool, droppedLogLines: UInt64,
    listener: ListenerGauges, space: StoreSpace, now: Timestamp
  ) {
    self.metrics = metrics
    self.places = places
    self.queueDepth = queueDepth
    self.isReady = isReady
    self.droppedLogLines = droppedLogLines
    self.listener = listener
    self.space = space
    self.now = now
  }

  /// The text of the scrape.
  /// - Throws: `StoreFault` if the database cannot be read; a scrape without it would mislead.
  public func text(reader: StoreReader) throws(StoreFault) -> String {
    var text = MetricsText()
    metrics.write(to: &text, places: places)
    text.family(
      "receiptd_log_lines_dropped_total", "Log lines dropped because the log's reader did not keep up.",
      type: "counter")
    text.sample("receiptd_log_lines_dropped_total", [], String(droppedLogLines))
    let counts = try reader.countsByProcessor()
    let all = Set(places).union(counts.keys).sorted { ($0.app, $0.processor) < ($1.app, $1.processor) }
    let known = Set(all.map(\.app)).sorted()
    var countsByApp: [AppSlug: [ReceiptState: Int64]] = [:]
    for (place, states) in counts { countsByApp[place.app, default: [:]].merge(states, uniquingKeysWith: +) }
    text.gauge(
      "receiptd_receipts", "Receipts, by state.",
      known.flatMap { app in
        ReceiptState.allCases.map { state in
          ([("app", app.text), ("state", state.rawValue)], Double(countsByApp[app]?[state] ?? 0))
        }
      })
    text.gauge(
      "receiptd_processor_receipts", "Receipts, by processor and state.",
      all.flatMap { place in
        ReceiptState.allCases.map { state in
          (Self.labels(place) + [("state", state.rawValue)], Double(counts[place]?[state] ?? 0))
        }
      })
    try writeUnfinished(of: all, reader, to: &text)
    var oldest: [(labels: [(String, String)], value: Double)] = []
    for app in known {
      let since = try reader.oldestPending(app: app)
      let seconds = since.map { max(.zero, now.duration(since: $0)).inSeconds } ?? 0
      oldest.append(([("app", app.text)], seconds))
    }
    text.gauge(
      "receiptd_oldest_pending_seconds", "Age of the oldest receipt that is ready and not delivered.", oldest)
    let breakers = try reader.breakers()
    // Of an app that was removed nothing can stop, and nothing closes the breaker.
    let configured = Set(places.map(\.app)).sorted()
    text.gauge(
      "receiptd_breaker_open",
      "1 while an app's deliveries are stopped: its destination is down or refuses it.",
      configured.map { app in
        let isStopped = breakers.worst(of: app, now: now).map { $0.breaker.state != .closed } ?? false
        return ([("app", app.text)], isStopped ? 1 : 0)
      })
    try writePauses(of: configured, reader, to: &text)
    try writeJoins(of: known, reader, to: &text)
    try writeIdentity(of: known, reader, to: &text)
    text.gauge("receiptd_write_queue", "Commands that wait for the writer.", [([], Double(queueDepth))])
    text.gauge(
      "receiptd_http_connections", "Connections to the public listener.",
      [([], Double(listener.load.connections))])
    text.gauge(
      "receiptd_http_connections_max", "Connections that the public listener may have.",
      [([], Double(listener.load.connectionsMax))])
    text.gauge(
      "receiptd_long_polls", "Requests that wait for the end of a checkout.",
      [([], Double(listener.longPolls))])
    text.gauge("receiptd_ready", "1 while receiptd can store requests.", [([], isReady ? 1 : 0)])
    writeStorage(to: &text)
    text.gauge(
      "receiptd_last_backup_timestamp_seconds",
      "When the last recorded backup was made, in Unix time. No sample without one.",
      try reader.serviceReport(.backup).map { [([], Double($0.at.unixMilliseconds) / 1000)] } ?? [])
    text.gauge("receiptd_build_info", "The running version.", [([("version", Version.number)], 1)])
    Self.writeProcess(ProcessStatistics.current(), to: &text)
    return text.text
  }

  private static func labels(_ place: AppProcessor) -> [(String, String)] {
    [("app", place.app.text), ("processor", place.processor.text)]
  }

  /// Lookups and captures that are not finished. Counts end at `UnfinishedWork.countMax`.
  private func writeUnfinished(
    of places: [AppProcessor], _ reader: StoreReader, to text: inout MetricsText
  ) throws(StoreFault) {
    var found: [(place: AppProcessor, work: UnfinishedWork)] = []
    for place in places { found.append((place, try reader.unfinished(place, now: now))) }
    func gauge(_ name: String, _ help: String, _ value: (UnfinishedWork) -> Double) {
      text.gauge(name, help, found.map { (Self.labels($0.place), value($0.work)) })
    }
    gauge("receiptd_pending_lookups", "Lookups that are planned.") { Double($0.lookups) }
    gauge("receiptd_unanswered_lookups", "Lookups that are due, or whose last fetch had no answer.") {
      Double($0.unansweredLookups)
    }
    gauge("receiptd_abandoned_lookups", "Payments that are not fetched any more, for lack of answers.") {
      Double($0.abandonedLookups)
    }
    gauge("receiptd_open_captures", "Captures without an outcome.") { Double($0.openCaptures) }
    gauge("receiptd_oldest_capture_seconds", "Age of the oldest capture without an outcome.") { work in
      work.oldestCapture.map { max(.zero, now.duration(since: $0)).inSeconds } ?? 0
    }
    gauge(
      "receiptd_abandoned_captures",
      "Captures that were given up, of payments that are not known to be captured."
    ) { Double($0.abandonedCaptures) }
  }

  /// Which apps operators hold, and until when.
  private func writePauses(
    of apps: [AppSlug], _ reader: StoreReader, to text: inout MetricsText
  ) throws(StoreFault) {
    let pauses = try reader.pauses().filter { $0.value.isActive(now: now) }
    text.gauge(
      "receiptd_app_paused", "1 while an operator holds an app's deliveries.",
      apps.map { ([("app", $0.text)], pauses[$0] == nil ? 0 : 1) })
    text.gauge(
      "receiptd_app_pause_ends_timestamp_seconds",
      "When the pause of an app ends, in Unix time. No sample if it is not paused, or has no end.",
      apps.compactMap { app in
        pauses[app]?.until.map { ([("app", app.text)], Double($0.unixMilliseconds) / 1000) }
      })
  }

  /// Unknown values are left out.
  private func writeStorage(to text: inout MetricsText) {
    text.gauge(
      "receiptd_disk_free_bytes", "Free space of the database's disk.",
      space.freeBytes.map { [([], Double($0))] } ?? [])
    text.gauge(
      "receiptd_database_bytes", "Length of the database's files.",
      space.parts.map { ([("file", $0.name)], Double($0.bytes)) })
  }

  /// The metric names that Prometheus recommends for client libraries
  /// (https://prometheus.io/docs/instrumenting/writing_clientlibs/).
  private static func writeProcess(_ process: ProcessStatistics, to text: inout MetricsText) {
    text.family("process_cpu_seconds_total", "Processor time used, user and system.", type: "counter")
    text.sample("process_cpu_seconds_total", [], MetricsText.number(process.cpuSeconds))
    let gauges: [(String, String, Double)] = [
      ("process_resident_memory_bytes", "Resident memory.", Double(process.residentBytes)),
      ("process_virtual_memory_bytes", "Virtual memory.", Double(process.virtualBytes)),
      ("process_open_fds", "Open file descriptors.", Double(process.openFiles)),
      ("process_max_fds", "File descriptors that may be open.", Double(process.openFilesMax)),
      ("process_start_time_seconds", "When the process started, in Unix time.", process.startTimeSeconds),
    ]
    for (name, help, value) in gauges { text.gauge(name, help, [([], value)]) }
  }
}

// MARK: - Joins

// How contexts join, in a scrape. Every number is a stored count.

extension Scrape {
  /// Counts end at `IdentityCounts.countMax`.
  private func writeIdentity(
    of apps: [AppSlug], _ reader: StoreReader, to text: inout MetricsText
  ) throws(StoreFault) {
    let found = try reader.identity(apps: apps, now: now)
    text.gauge(
      "receiptd_unmatched_purchases", "Paid purchases of the last 7 days that name no user.",
      found.map { ([("app", $0.app.text)], Double($0.counts.unmatched)) })
    text.gauge(
      "receiptd_user_conflicts", "Receipts of the last 7 days whose sources name different users.",
      found.map { ([("app", $0.app.text)], Double($0.counts.conflicts)) })
  }

  /// The hours that are counted.
  private static let joinHours: Int64 = 24

  func writeJoins(
    of apps: [AppSlug], _ reader: StoreReader, to text: inout MetricsText
  ) throws(StoreFault) {
    var tallies: [(app: AppSlug, tally: JoinTally)] = []
    for app in apps {
      tallies.append((app, try reader.joinTally(app: app, last: Self.joinHours, now: now)))
    }
    text.gauge(
      "receiptd_joined_receipts", "Receipts made in the last 24 hours, by how they got their context.",
      tallies.flatMap { app, tally in
        JoinOutcome.allCases.map { outcome in
          ([("app", app.text), ("outcome", outcome.rawValue)], Double(tally[outcome]))
        }
      })
    text.gauge(
      "receiptd_posted_contexts", "Contexts posted in the last 24 hours.",
      tallies.map { ([("app", $0.app.text)], Double($0.tally.contexts)) })
    text.gauge(
      "receiptd_unclaimed_contexts", "Contexts posted in the last 24 hours that no purchase claimed.",
      tallies.map { ([("app", $0.app.text)], Double($0.tally.unclaimed)) })
  }
}
