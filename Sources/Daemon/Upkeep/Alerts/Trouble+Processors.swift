// The troubles with payment processors: one is down or refuses the credentials, a capture has no outcome,
// callbacks do not arrive. Pure; called from any thread.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Store

extension Trouble {
  /// After a capture was given up, operators are reminded of it for this long.
  static let abandonedFor: Duration = .days(7)

  /// - Parameters:
  ///   - troubles: of each processor of the app, within the window.
  ///   - limit: how many failed calls to one processor are no trouble; one refusal is.
  ///   - advice: what to do for each configured processor of the app.
  /// - Returns: nil if there is no trouble.
  static func processors(
    _ troubles: [ProcessorName: ProcessorTroubles], limit: Int, app: AppSlug, window: Duration,
    now: Timestamp,
    advice: [ProcessorName: ProcessorAdvice]
  ) -> Trouble? {
    let found = troubles.filter { $0.value.refused > 0 || $0.value.failed > limit }
      .sorted { $0.key < $1.key }
    guard !found.isEmpty else { return nil }
    let within = "within \(words(seconds: window.inSeconds))"
    var reasons: [String: Int64] = [:]
    let sentences = found.map { processor, troubles in
      for (reason, count) in troubles.failures { reasons[reason, default: 0] += count }
      if troubles.refused > 0 { reasons["refused", default: 0] += troubles.refused }
      return troubles.refused > 0
        ? "\(processor) refused \(CountText.of(troubles.refused, "call")) of \(app) \(within)"
        : "\(CountText.of(troubles.failed, "call")) of \(app) to \(processor) failed \(within) "
          + "(\(troubles.reasons))"
    }
    let refusals = found.filter { $0.value.refused > 0 }.compactMap { advice[$0.key]?.correction(of: app) }
    return Trouble(
      key: Key(condition: .processorFailures(over: limit), app: app), since: now,
      value: Double(found.reduce(0) { $0 + $1.value.refused + $1.value.failed }),
      summary: sentences.joined(separator: "; "),
      advice: refusals.isEmpty
        ? "Nothing, if the processor recovers: lookups and captures are repeated automatically, and apps get "
          + "an error meanwhile. To watch: \(UnfinishedText.command)"
        : refusals.joined(separator: ". "),
      reasons: reasons, commands: refusals.isEmpty ? [UnfinishedText.command] : [],
      processors: found.map(\.key))
  }

  /// - Parameter work: the captures of the app at each of its processors.
  /// - Returns: nil if no capture is open for longer than `limit`, and none was given up in the last days.
  static func captures(
    _ work: [ProcessorName: UnfinishedCaptures], limit: Duration, app: AppSlug, now: Timestamp
  ) -> Trouble? {
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
    return Trouble(
      key: Key(condition: .captureUnknown(over: limit), app: app),
      since: oldest?.advanced(by: limit) ?? newest ?? now, value: age,
      summary: sentences.joined(separator: "; "),
      advice: "Do not charge these customers again. See them with: \(UnfinishedText.command). "
        + (abandoned > 0
          ? "Compare those that were given up with the processor's portal, then run: receiptctl payments "
            + "fetch ID"
          : "Each ends when the processor answers"),
      commands: [UnfinishedText.command], processors: processors)
  }

  /// - Parameter counts: the payments of each processor that were found without a callback.
  /// - Returns: nil if there are none.
  static func callbacks(
    _ counts: [ProcessorName: Int64], app: AppSlug, window: Duration, now: Timestamp,
    advice: [ProcessorName: WebhookAdvice]
  ) -> Trouble? {
    let found = counts.filter { $0.value > 0 }
    guard !found.isEmpty else { return nil }
    let processors = found.keys.sorted()
    let count = found.values.reduce(0, +)
    let names = processors.map { advice[$0]?.label ?? $0.text }.joined(separator: " and ")
    return Trouble(
      key: Key(condition: .callbacksMissing, app: app), since: now, value: Double(count),
      summary: "\(CountText.of(count, "payment")) of \(app) \(count == 1 ? "was" : "were") found paid within "
        + "\(words(seconds: window.inSeconds)), and no callback of \(names) had reported "
        + (count == 1 ? "it" : "them"),
      advice: "No payment is lost: each is fetched, but late. See whether callbacks are refused, with: "
        + "receiptctl stats. If none is, see that the relay's public address leads to receiptd, and that a "
        + "firewall or proxy admits the addresses of \(names)",
      commands: ["receiptctl stats"], processors: processors)
  }
}

/// The captures of an app at one processor, for alerts.
struct UnfinishedCaptures: Sendable, Equatable {
  /// When the oldest open one was ordered.
  var oldest: Timestamp?
  var abandoned: Int64 = 0
  var lastAbandoned: Timestamp?
}
