// Receipts and contexts of an app: deliveries that are stopped, late or failed, events that do not come,
// contexts that do not join. Pure; called from any thread.

public import Config
public import Domain
internal import Formats
internal import Platform
public import Reports
public import Store

extension HealthReport {
  var deliveryFindings: [Finding] {
    contacts.compactMap { Finding.failingAlone($0.contact, at: $0.place, now: at) }
  }
}

extension Finding {
  /// The most commands in one notice, which must stay readable on a phone.
  private static let commandsMax = 3

  /// Deliveries that are stopped because the destination is down, or refuses the configuration.
  /// - Parameters:
  ///   - breakers: of an app, in the order in which an operator should know of them.
  ///   - advice: how to correct the configuration of a destination; nil if it is not configured.
  /// - Returns: nil if deliveries to no destination are stopped.
  public static func breakers(
    _ breakers: [(destination: DestinationName, breaker: Breaker)], app: AppSlug, now: Timestamp,
    advice: (DestinationName) -> DestinationAdvice?
  ) -> Finding? {
    let stopped = breakers.filter { $0.breaker.state != .closed }
    guard let first = stopped.first else { return nil }
    let since = stopped.compactMap(\.breaker.since).min() ?? now
    let summaries = stopped.map { destination, breaker in
      let cause = breaker.causeText
      return breaker.state == .paused
        ? "\(destination) refuses the configuration of \(app)\(cause); deliveries to it are stopped"
        : "\(destination), a destination of \(app), is down\(cause); deliveries to it wait"
    }
    let corrections = stopped.filter { $0.breaker.state == .paused }.map { destination, breaker in
      advice(destination).map { "apps.\(app).\($0.correction(for: breaker.cause))" }
        ?? "\(destination) of apps.\(app)"
    }
    let isRefused = first.breaker.state == .paused
    return Finding(
      isRefused ? .failure : .warning, .work,
      isRefused ? "A destination refuses the configuration" : "A destination is down", .stopped,
      act: isRefused ? nil : .retryNow, summaries.joined(separator: "; "),
      next: isRefused
        ? "Correct \(corrections.joined(separator: "; correct ")). Nothing is given up."
        : "Nothing, if it recovers: deliveries resume automatically. To watch: receiptctl status",
      app: app, since: since, alert: .breakerOpen, value: seconds(from: since, to: now))
  }

  /// An operator's pause.
  /// - Returns: nil if the deliveries are not paused.
  public static func pause(_ pause: AppPause?, app: AppSlug, now: Timestamp) -> Finding? {
    guard let text = PauseText(pause, app: app.text, now: now), let since = pause?.since else { return nil }
    return Finding(
      .warning, .work, "Deliveries are paused by an operator", .intended, act: .resume,
      "deliveries of \(app) \(text.sentence.dropLast())", next: text.advice, app: app, since: since,
      alert: .appPaused, value: seconds(from: since, to: now), commands: [text.command])
  }

  /// A receipt that is ready and not delivered.
  public static func oldest(readyAt: Timestamp, limit: Duration, app: AppSlug, now: Timestamp) -> Finding {
    let age = seconds(from: readyAt, to: now)
    return Finding(
      .warning, .work, "A receipt is late", .impaired, act: .open("receipts", ["state": "pending"]),
      "a receipt of \(app) has been ready for \(words(seconds: age)) and is not delivered",
      next:
        "See whether the destination is down or slow: receiptctl status --latency --app \(app). If it is "
        + "slow, raise apps.\(app).delivery.concurrency, then run: receiptctl reload",
      app: app, since: readyAt.advanced(by: limit), alert: .oldestPending(over: limit), value: age)
  }

  /// Receipts of a removed app, which make no progress, however young they are.
  public static func stranded(_ app: UnconfiguredApp, _ alert: AlertCondition, now: Timestamp) -> Finding {
    Finding(
      .failure, .work, "An app is not configured", .stopped, "the app \(app.slug) \(app.sentence)",
      next: app.advice, app: app.slug, since: now, alert: alert, value: Double(app.waiting + app.pending))
  }

  /// Receipts that fail while others to the same destination pass.
  /// - Returns: nil without such receipts.
  static func failingAlone(
    _ contact: DestinationContact, at place: AppDestination, now: Timestamp
  ) -> Finding? {
    guard contact.failingAlone > 0 else { return nil }
    let isOne = contact.failingAlone == 1
    let (verb, are) = isOne ? ("fails", "is") : ("fail", "are")
    // A destination may ask to wait for hours.
    let due = contact.aloneAt.flatMap { $0 > now ? $0.relative(to: now) : nil }
    let first = due.map { isOne ? ", next \($0)" : ", the first \($0)" } ?? ""
    return Finding(
      .warning, .work, "Some receipts fail while others pass", .impaired,
      act: .open("receipts", ["state": "pending"]),
      "\(CountText.of(contact.failingAlone, "receipt")) of \(place.app) to \(place.destination) \(verb) "
        + "while others pass, and \(are) retried separately\(first)",
      next: "See: receiptctl receipts list --state pending --app \(place.app). To send "
        + "\(isOne ? "it" : "them") now: receiptctl apps retry-now \(place.app)", app: place.app,
      value: Double(contact.failingAlone))
  }

  /// Failed receipts, with the commands that replay exactly those.
  /// - Parameters:
  ///   - recent: the open failures of the window.
  ///   - standing: all receipts that are failed now.
  /// - Returns: nil if none is open.
  public static func failures(
    _ recent: [FailureCount], standing: [FailureCount], app: AppSlug, now: Timestamp
  ) -> Finding? {
    guard !recent.isEmpty else { return nil }
    let count = recent.reduce(0) { $0 + $1.count }
    let text = words(standing)
    let commands = replays(of: recent, app: app)
    let list = "receiptctl receipts list --state failed --app \(app)"
    let refused = recent.filter { Reason($0.reason).isRefusal }.max { $0.count < $1.count }
    let after = refused.flatMap { SuggestedReplay.afterCorrection(app: app, reason: $0.reason) }
    return Finding(
      .warning, .work, failuresTitle, .stopped, act: .replayFailures,
      "\(CountText.of(count, "receipt")) of \(app) failed" + (text.isEmpty ? "" : " (failed now: \(text))"),
      next: commands.isEmpty
        ? "See why: \(list)"
        : "Fix the cause, then: \(commands.joined(separator: "; then "))" + (after.map { ". \($0)" } ?? ""),
      app: app, since: now, alert: .receiptFailed, value: Double(count),
      reasons: standing.reduce(into: [:]) { $0[$1.reason, default: 0] += $1.count },
      commands: commands.isEmpty ? [list] : commands)
  }

  /// Failed receipts that nobody has acknowledged, however long ago they failed.
  public static func newFailures(_ count: Int64, app: AppSlug) -> Finding {
    Finding(
      .warning, .work, failuresTitle, .stopped, act: .replayFailures,
      "\(CountText.of(count, "failed receipt")) of \(app): fix the cause and replay the group, or "
        + "acknowledge it", app: app, value: Double(count))
  }

  private static let failuresTitle = "Receipts failed"

  /// `gave_up 10 (timeout 8, http_503 2), http_422 1`: the most frequent first.
  private static func words(_ counts: [FailureCount]) -> String {
    Dictionary(grouping: counts, by: \.reason).map { reason, counts in
      let total = counts.reduce(0) { $0 + $1.count }
      let causes = counts.filter { !$0.cause.isEmpty && $0.cause != reason }
        .sorted { ($1.count, $0.cause) < ($0.count, $1.cause) }
        .map { "\($0.cause) \(CountText.grouped($0.count))" }
      let why = causes.isEmpty ? "" : " (\(causes.joined(separator: ", ")))"
      return (total, reason, "\(reason) \(CountText.grouped(total))\(why)")
    }.sorted { ($1.0, $0.1) < ($0.0, $1.1) }.map(\.2).joined(separator: ", ")
  }

  /// One command for each reason that permits a replay, the most frequent first. `since` is the creation time
  /// of the oldest of the receipts, which --since compares.
  private static func replays(of recent: [FailureCount], app: AppSlug) -> [String] {
    Dictionary(grouping: recent, by: \.reason).compactMap { reason, counts -> (Int64, String, String)? in
      guard !Reason(reason).forbidsReplay, let since = counts.compactMap(\.madeSince).min() else {
        return nil
      }
      let command = SuggestedReplay.text(app: app, reason: reason, since: since)
      return (counts.reduce(0) { $0 + $1.count }, reason, command)
    }.sorted { ($1.0, $0.1) < ($0.0, $1.1) }.prefix(commandsMax).map(\.2)
  }

  /// Receipts that become due faster than they are delivered.
  /// - Parameter count: the receipts that are ready and not delivered now.
  public static func backlog(_ count: Int64, limit: Int, app: AppSlug, now: Timestamp) -> Finding {
    Finding(
      .warning, .work, "The backlog is growing", .impaired,
      act: .open("receipts", ["state": "pending"]),
      "\(CountText.of(count, "receipt")) of \(app) are ready and not delivered, and the number has grown for "
        + words(seconds: BacklogTrend.span.inSeconds),
      next: "See whether the destination is down or slow, with: receiptctl status. If it is slow, raise "
        + "apps.\(app).delivery.concurrency, then run: receiptctl reload. Nothing is lost",
      app: app, since: now - BacklogTrend.span, alert: .backlogGrowing(over: limit), value: Double(count),
      commands: ["receiptctl status"])
  }

  /// No events, at a time at which they are usual.
  /// - Parameter since: when the last event came.
  public static func silence(
    since: Timestamp, limit: Duration, app: AppConfiguration, now: Timestamp
  ) -> Finding {
    let age = seconds(from: since, to: now)
    let processors = app.places.map(\.processor)
    let labels = processors.compactMap { app.webhookAdvice[$0]?.label }
    let names = labels.isEmpty ? "the processor" : labels.joined(separator: " or ")
    // Without a list of events, each payment is fetched when its callback is late.
    let backfill =
      app.listsEvents ? "receiptctl events backfill --app \(app.slug) --since \(since.rfc3339)" : nil
    return Finding(
      .failure, .webhooks, "No events arrive", .losing, act: .open("events"),
      "\(app.slug) has had no event for \(words(seconds: age)), at a time at which events are usual",
      next: "See whether webhooks are refused, with: receiptctl status. If none is, see in the dashboard of "
        + "\(names) whether the endpoint is enabled and how its last calls ended, and that the relay's "
        + "public address leads to receiptd" + (backfill.map { ". Then fetch what was missed: \($0)" } ?? ""),
      app: app.slug, since: since.advanced(by: limit), alert: .noEvents(over: limit), value: age,
      commands: ["receiptctl status"] + (backfill.map { [$0] } ?? []), processors: processors)
  }

  /// Contexts that no longer join.
  /// - Parameter tally: the last hours; nil if the contexts join.
  public static func unjoined(_ tally: JoinTally?, app: AppSlug, now: Timestamp) -> Finding? {
    guard let tally else { return nil }
    let commands = JoinText.commands(app: app.text)
    return Finding(
      .warning, .contexts, "Contexts no longer join", .impaired, act: .open("receipts", ["join": "none"]),
      "contexts of \(app) no longer join: \(JoinText.broken(tally))",
      next:
        "See since which day, with: \(commands[0]). Then compare the user of such a receipt with those of "
        + "the contexts, with: \(commands[1]), and receiptctl receipts show RECEIPT. Usually a release of "
        + "the app posts other user ids than its checkouts have",
      app: app, since: now - .hours(JoinHealth.recentHours), alert: .contextsUnjoined,
      value: Double(tally[.none]), commands: commands)
  }
}
