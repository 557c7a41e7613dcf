// Why an app's deliveries are stopped, as text. Pure; called from any thread.

public import Domain
internal import Formats
internal import Platform

/// Why an app's deliveries are stopped, and what to do. Not sanitized: the app's name is unchanged.
public struct BreakerText: Sendable, Equatable {
  /// The predicate after "Deliveries of this app to this destination".
  public let sentence: String
  public let advice: String

  /// - Parameter advice: how to correct the destination's configuration; nil if it is not configured.
  /// - Returns: nil if deliveries are not stopped.
  public init?(_ breaker: Breaker?, app: String, now: Timestamp, advice destination: DestinationAdvice?) {
    guard let breaker else { return nil }
    let cause = breaker.causeText
    let probe = breaker.nextAttemptAt(now: now).map { ", next probe \($0.relative(to: now))" } ?? ""
    let since = breaker.since?.past(to: now) ?? "-"
    switch breaker.state {
    case .paused:
      sentence = "stopped \(since), the destination refuses the configuration\(cause)\(probe)."
      advice =
        "The configuration is wrong: correct "
        + (destination.map { "apps.\(app).\($0.correction(for: breaker.cause))" }
          ?? "the destination of apps.\(app)")
        + ". Nothing is lost or given up meanwhile."
    case .open:
      let what =
        breaker.cause?.isOfProxy == true ? "the proxy lets nothing through" : "the destination is down"
      sentence = "stopped \(since), \(what)\(cause)\(probe)."
      advice = Self.advice(breaker.cause) ?? "They resume automatically once it is back."
    case .closed:
      guard let rest = breaker.restUntil, rest > now else { return nil }
      sentence = "are on hold because the destination asked for it; they resume \(rest.relative(to: now))."
      advice = "They resume automatically; to try now: receiptctl apps retry-now \(app)"
    }
  }
}

extension Breaker {
  /// ` (http_503)`, after the word that says that it is not closed; empty if the cause is not known.
  public var causeText: String {
    cause.map { " (\($0.text)\(detail.map { ": \($0)" } ?? ""))" } ?? ""
  }
}

extension BreakerText {
  /// What to do if it is not the destination that is down.
  private static func advice(_ cause: Reason?) -> String? {
    guard let cause, cause.isOfProxy else { return nil }
    return "receiptd's proxy is the cause, not the destination. Repair the proxy, or correct https_proxy or "
      + "no_proxy in receiptd's environment and restart receiptd."
  }
}

extension Timestamp {
  /// The relative time, such as `3 min ago`.
  public func relative(to now: Timestamp) -> String {
    RelativeTime.text(of: unixMilliseconds, now: now.unixMilliseconds)
  }

  /// The relative time of a past event: `just now`, `3 min ago`.
  public func past(to now: Timestamp) -> String {
    let text = relative(to: now)
    return text == "now" ? "just now" : text
  }

  /// As a sentence has it, in UTC: `08:30 UTC`, with the date before it unless it is today's.
  public func clock(today: Timestamp) -> String {
    let (day, time) = (rfc3339.prefix(10), rfc3339.dropFirst(11).prefix(5))
    return today.rfc3339.prefix(10) == day ? "\(time) UTC" : "\(day) \(time) UTC"
  }

  /// RFC 3339, in UTC, with milliseconds.
  public var rfc3339: String { RFC3339.string(unixMilliseconds: unixMilliseconds) }
}

// MARK: - PauseText

// An operator's pause of an app, as text. Pure; called from any thread.

/// Who holds an app's deliveries, until when and why. Not sanitized: names and reasons are unchanged.
public struct PauseText: Sendable, Equatable {
  /// The predicate after "Deliveries of this app".
  public let sentence: String
  /// Sentences with the command that ends it, the last without its full stop.
  public let advice: String
  /// The command that ends it.
  public let command: String
  /// A few words for a table: `paused by anna, 57 min left`.
  public let short: String

  /// - Parameter app: as a command needs it.
  /// - Returns: nil if the deliveries are not paused.
  public init?(_ pause: AppPause?, app: String, now: Timestamp) {
    guard let pause, let since = pause.since, pause.isActive(now: now) else { return nil }
    let why = pause.reason.map { ": \($0)" } ?? ""
    let left = pause.until.map { ", \(RelativeTime.left(seconds: $0.duration(since: now).inSeconds)) left" }
    let end =
      pause.until.map { "They resume \($0.relative(to: now)), at \($0.clock(today: now))" }
      ?? "They stay so until an operator resumes them"
    sentence = "were paused by \(pause.actor) \(since.past(to: now))\(why)."
    command = "receiptctl apps resume \(app)"
    advice =
      "\(end); to resume them now: \(command) (pending receipts go out at once: first cancel those of a user "
      + "who is to be erased)"
    short = "paused by \(pause.actor)\(left ?? "")"
  }
}
