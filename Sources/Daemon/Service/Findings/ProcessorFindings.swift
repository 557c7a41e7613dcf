// Payment processors: one is down or refuses the credentials, a capture has no outcome, callbacks do not
// arrive. Pure; called from any thread.

internal import Config
public import Domain
internal import Formats
internal import Platform
public import Reports

extension HealthReport {
  func processorFindings(
    webhooks: (AppProcessor) -> WebhookAdvice?, advice: (AppProcessor) -> ProcessorAdvice?
  ) -> [Finding] {
    Self.sorted(processorTroubles).flatMap { place, counts in
      let troubles = ProcessorTroubles(counts)
      let callbacks = Finding.callbacks(
        troubles.unreported, at: place, Self.time, label: webhooks(place)?.label)
      return Finding.calls(
        troubles, at: place, limit: AlertCondition.processorFailuresDefault, Self.time, advice: advice(place))
        + [callbacks].compactMap(\.self)
    }
  }
}

extension Finding {
  /// After a capture was given up, operators are reminded of it for this long.
  private static let abandonedFor: Duration = .days(7)

  /// The calls of an app to a processor that failed, refused ones first.
  /// - Parameters:
  ///   - limit: how many failed calls are no trouble; one refusal is.
  ///   - time: the time in which these are counted, such as `in the last hour`.
  ///   - advice: what to do when it refuses the credentials; nil if it is not configured.
  static func calls(
    _ troubles: ProcessorTroubles, at place: AppProcessor, limit: Int, _ time: String,
    since: Timestamp? = nil, advice: ProcessorAdvice?
  ) -> [Finding] {
    let (app, processor) = (place.app, place.processor)
    var found: [Finding] = []
    if troubles.refused > 0 {
      found.append(
        Finding(
          .failure, .processor, "A processor refuses the credentials", .stopped,
          "\(processor) refused \(CountText.of(troubles.refused, "call")) of \(app) \(time)",
          next: advice?.correction(of: app) ?? unconfigured(place).capitalizedFirst, app: app, since: since,
          value: Double(troubles.refused), reasons: ["refused": troubles.refused], processors: [processor]))
    }
    if troubles.failed > 0 {
      let isBad = troubles.failed > limit
      found.append(
        Finding(
          isBad ? .warning : .ok, .processor, "Calls to a processor fail", .impaired,
          "\(CountText.of(troubles.failed, "call")) of \(app) to \(processor) failed \(time) "
            + "(\(troubles.reasons))" + (isBad ? "" : "; lookups and captures are repeated automatically"),
          next: isBad
            ? "Nothing, if the processor recovers: lookups and captures are repeated automatically, and apps "
              + "get an error meanwhile. To watch: \(UnfinishedText.command)"
            : nil,
          app: app, since: since, value: Double(troubles.failed), reasons: troubles.failures,
          commands: [UnfinishedText.command], processors: [processor]))
    }
    return found
  }

  /// The same for all processors of an app, as an alert reports them.
  /// - Returns: nil if there is no trouble.
  public static func calls(
    _ troubles: [ProcessorName: ProcessorTroubles], limit: Int, app: AppSlug, window: Duration,
    now: Timestamp, advice: [ProcessorName: ProcessorAdvice]
  ) -> Finding? {
    let found = troubles.sorted { $0.key < $1.key }.compactMap { processor, troubles in
      calls(
        troubles, at: AppProcessor(app, processor), limit: limit, within(window), since: now,
        advice: advice[processor]
      ).first { $0.level != .ok }
    }
    return joined(found, alert: .processorFailures(over: limit))
  }

  /// The payments of an app that were found paid although no callback of the processor had reported them.
  /// - Parameters:
  ///   - time: the time in which these are counted, such as `in the last hour`.
  ///   - label: the processor's display name; nil if it is not configured.
  /// - Returns: nil if there are none.
  static func callbacks(
    _ count: Int64, at place: AppProcessor, _ time: String, since: Timestamp? = nil, label: String?
  ) -> Finding? {
    guard count > 0 else { return nil }
    let name = label ?? place.processor.text
    return Finding(
      .warning, .webhooks, "Callbacks of a processor are missing", .impaired,
      "\(CountText.of(count, "payment")) of \(place.app) \(count == 1 ? "was" : "were") found paid \(time), "
        + "and no callback of \(name) had reported \(count == 1 ? "it" : "them")",
      next: "No payment is lost: each is fetched, but late. See whether callbacks are refused, with: "
        + "receiptctl status. If none is, see that the relay's public address leads to receiptd, and that a "
        + "firewall or proxy admits the addresses of \(name)",
      app: place.app, since: since, alert: .callbacksMissing, value: Double(count),
      commands: ["receiptctl status"], processors: [place.processor])
  }

  /// The same for all processors of an app, as an alert reports them.
  /// - Returns: nil if there are none.
  public static func callbacks(
    _ counts: [ProcessorName: Int64], app: AppSlug, window: Duration, now: Timestamp,
    advice: [ProcessorName: WebhookAdvice]
  ) -> Finding? {
    let found = counts.sorted { $0.key < $1.key }.compactMap { processor, count in
      callbacks(
        count, at: AppProcessor(app, processor), within(window), since: now, label: advice[processor]?.label)
    }
    return joined(found, alert: .callbacksMissing)
  }

  /// Captures without an outcome.
  /// - Parameter work: the captures of the app at each of its processors.
  /// - Returns: nil if no capture is open for longer than `limit`, and none was given up in the last days.
  public static func captures(
    _ work: [ProcessorName: UnfinishedCaptures], limit: Duration, app: AppSlug, now: Timestamp
  ) -> Finding? {
    let late = work.filter { $0.value.oldest.map { now.duration(since: $0) > limit } ?? false }
    let lost = work.filter {
      $0.value.abandoned > 0
        && ($0.value.lastAbandoned.map { now.duration(since: $0) < abandonedFor } ?? false)
    }
    guard !late.isEmpty || !lost.isEmpty else { return nil }
    let oldest = late.values.compactMap(\.oldest).min()
    let age = oldest.map { seconds(from: $0, to: now) } ?? 0
    let processors = Set(late.keys).union(lost.keys).sorted()
    let names = processors.map(\.text).joined(separator: " and ")
    let abandoned = lost.values.reduce(0) { $0 + $1.abandoned }
    var sentences: [String] = []
    if oldest != nil {
      sentences.append("a capture of \(app) at \(names) has had no outcome for \(words(seconds: age))")
    }
    if abandoned > 0 {
      sentences.append(
        "\(CountText.of(abandoned, "capture")) of \(app) at \(names) "
          + "\(abandoned == 1 ? "was" : "were") given up")
    }
    let newest = lost.values.compactMap(\.lastAbandoned).max()
    return Finding(
      .failure, .work, "A capture has no outcome", .stopped, sentences.joined(separator: "; "),
      next: "Do not charge these customers again. See them with: \(UnfinishedText.command). "
        + (abandoned > 0
          ? "Compare those that were given up with the processor's portal, then run: receiptctl payments "
            + "fetch ID"
          : "Each ends when the processor answers"),
      app: app, since: oldest?.advanced(by: limit) ?? newest ?? now, alert: .captureUnknown(over: limit),
      value: age, commands: [UnfinishedText.command], processors: processors)
  }
}

/// The captures of an app at one processor, for alerts.
public struct UnfinishedCaptures: Sendable, Equatable {
  /// When the oldest open one was ordered.
  public var oldest: Timestamp?
  public var abandoned: Int64
  public var lastAbandoned: Timestamp?

  public init(oldest: Timestamp? = nil, abandoned: Int64 = 0, lastAbandoned: Timestamp? = nil) {
    (self.oldest, self.abandoned, self.lastAbandoned) = (oldest, abandoned, lastAbandoned)
  }
}
