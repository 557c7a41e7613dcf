// A trouble that exists now: its subject, its severity, and what an operator does about it. Values. Nothing
// here names a user, an object or a secret (R7).

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Service

/// One condition that holds, for one app or for the whole relay.
struct Trouble: Sendable, Equatable {
  /// Identifies a trouble.
  struct Key: Hashable, Sendable {
    var condition: AlertCondition
    var app: AppSlug?
  }

  var key: Key
  /// Since when, as far as known.
  var since: Timestamp
  /// The severity in seconds, bytes or a count, depending on the condition.
  var value: Double
  /// One sentence without its full stop.
  var summary: String
  /// What to do: a sentence with a command in it.
  var advice: String
  /// The receipts that are failed now, by reason.
  var reasons: [String: Int64] = [:]
  /// The commands of the advice, ready to paste into a shell.
  var commands: [String] = []
  /// The payment processors that it is about; empty if it is not about one.
  var processors: [ProcessorName] = []
}

extension Trouble {
  /// - Parameters:
  ///   - breakers: of an app, in the order in which an operator should know of them.
  ///   - advice: how to correct the configuration of a destination; nil if it is not configured.
  /// - Returns: nil if deliveries to no destination are stopped.
  static func breakers(
    _ breakers: [(destination: DestinationName, breaker: Breaker)], app: AppSlug, now: Timestamp,
    advice: (DestinationName) -> DestinationAdvice?
  ) -> Trouble? {
    let stopped = breakers.filter { $0.breaker.state != .closed }
    guard let first = stopped.first else { return nil }
    let since = stopped.compactMap(\.breaker.since).min() ?? now
    let summaries = stopped.map { destination, breaker in
      let cause =
        breaker.cause.map { cause in
          " (\(cause.text)\(breaker.detail.map { ": \($0)" } ?? ""))"
        } ?? ""
      return breaker.state == .paused
        ? "\(destination) refuses the configuration of \(app)\(cause); deliveries to it are stopped"
        : "\(destination), a destination of \(app), is down\(cause); deliveries to it wait"
    }
    let corrections = stopped.filter { $0.breaker.state == .paused }.map { destination, _ in
      advice(destination).map { "apps.\(app).\($0.correction)" } ?? "\(destination) of apps.\(app)"
    }
    return Trouble(
      key: Key(condition: .breakerOpen, app: app), since: since, value: Self.seconds(from: since, to: now),
      summary: summaries.joined(separator: "; "),
      advice: first.breaker.state == .paused
        ? "Correct \(corrections.joined(separator: "; correct ")). Nothing is given up."
        : "Nothing, if it recovers: deliveries resume automatically. To watch: receiptctl stats")
  }

  /// - Returns: nil if the deliveries are not paused.
  static func pause(_ pause: AppPause?, app: AppSlug, now: Timestamp) -> Trouble? {
    guard let text = PauseText(pause, app: app.text, now: now), let since = pause?.since else { return nil }
    return Trouble(
      key: Key(condition: .appPaused, app: app), since: since, value: Self.seconds(from: since, to: now),
      summary: "deliveries of \(app) \(text.sentence.dropLast())", advice: text.advice,
      commands: [text.command])
  }

  static func oldest(readyAt: Timestamp, limit: Duration, app: AppSlug, now: Timestamp) -> Trouble {
    let seconds = Self.seconds(from: readyAt, to: now)
    return Trouble(
      key: Key(condition: .oldestPending(over: limit), app: app),
      since: readyAt.advanced(by: limit), value: seconds,
      summary: "a receipt of \(app) has been ready for \(words(seconds: seconds)) and is not delivered",
      advice: "receiptctl receipts list --state pending --app \(app), and receiptctl stats for the breaker")
  }

  /// Receipts of a removed app make no progress, however young they are.
  static func stranded(_ app: UnconfiguredApp, _ condition: AlertCondition, now: Timestamp) -> Trouble {
    Trouble(
      key: Key(condition: condition, app: app.slug), since: now, value: Double(app.waiting + app.pending),
      summary: "the app \(app.slug) \(app.sentence)", advice: app.advice)
  }

  /// - Parameter free: nil if it is not known, as of a server's disk.
  static func disk(free: Int64?, limit: Int, isFull: Bool, now: Timestamp) -> Trouble {
    let left = free.map { "\(HealthReport.size($0)) left" }
    let details = left.map { " (\($0))" } ?? ""
    return Trouble(
      key: Key(condition: .diskLow(underBytes: limit), app: nil), since: now, value: Double(free ?? 0),
      summary: isFull
        ? "the database's disk is full\(details); contexts and events are refused"
        : "the database's disk has \(left ?? "little space left")",
      advice:
        "Free space on it, or shorten retention, then run: receiptctl reload. When it is full, contexts and "
        + "events are refused with 503; deliveries continue")
  }

  /// - Returns: nil if there is no reason.
  static func database(_ reasons: [ReadinessReason], now: Timestamp) -> Trouble? {
    guard !reasons.isEmpty else { return nil }
    return Trouble(
      key: Key(condition: .database, app: nil), since: now, value: Double(reasons.count),
      summary: reasons.map(\.text).joined(separator: "; "),
      advice: reasons.map(\.advice).joined(separator: " "))
  }

  /// - Parameter advice: what to do for each configured processor of the app.
  static func signatures(
    _ growth: [LabelValues: UInt64], limit: Int, app: AppSlug, window: Duration, now: Timestamp,
    advice: [ProcessorName: WebhookAdvice]
  ) -> Trouble {
    let refusals = Metrics.refusals(growth).reduce(into: [:]) { $0[$1.key.processor] = $1.value }
    let lost = LostInput.webhooks(of: app, refusals, accepted: nil, within(window)) { advice[$0] }
    let processors = refusals.keys.sorted()
    let labels = processors.compactMap { advice[$0]?.label }
    return Trouble(
      key: Key(condition: .signatureFailures(over: limit), app: app), since: now,
      value: Double(lost?.count ?? 0), summary: lost?.what ?? "",
      advice: "\(lost?.next.capitalizedFirst ?? ""). Requests that did not come from "
        + (labels.isEmpty ? "the processor" : labels.joined(separator: " or "))
        + " cause this, too",
      reasons: lost?.reasons ?? [:], processors: processors)
  }

  /// - Returns: nil up to the limit.
  static func clients(
    _ reasons: [String: Int64], limit: Int, app: AppSlug, window: Duration, now: Timestamp
  ) -> Trouble? {
    guard let lost = LostInput.contexts(of: app, reasons, accepted: nil, within(window)),
      lost.count > Int64(limit)
    else { return nil }
    return Trouble(
      key: Key(condition: .contextsRefused(over: limit), app: app), since: now, value: Double(lost.count),
      summary: lost.what,
      advice: "\(lost.next.capitalizedFirst). Requests that did not come from your apps cause this, too",
      reasons: lost.reasons)
  }

  /// - Returns: nil if every event could be read.
  static func unread(_ lost: LostInput?, now: Timestamp) -> Trouble? {
    lost.map { lost in
      Trouble(
        key: Key(condition: .eventsUnparsed, app: lost.app), since: lost.since ?? now,
        value: Double(lost.count), summary: lost.what, advice: lost.next.capitalizedFirst,
        reasons: lost.reasons)
    }
  }

  private static func within(_ window: Duration) -> String { "within \(words(seconds: window.inSeconds))" }

  static func seconds(from start: Timestamp, to end: Timestamp) -> Double {
    max(.zero, end.duration(since: start)).inSeconds
  }

  /// `45s`, `12m`, `5h`, `3d`: in the largest unit with a value of at least 2.
  static func words(seconds: Double) -> String {
    let seconds = Int64(exactly: max(0, seconds).rounded()) ?? .max
    for (unit, size) in [("d", Int64(86_400)), ("h", 3600), ("m", 60)] where seconds >= 2 * size {
      return "\(seconds / size)\(unit)"
    }
    return "\(seconds)s"
  }
}
