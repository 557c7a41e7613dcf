// A notice as an event of PagerDuty's Events API v2 (developer.pagerduty.com, "Send an Alert Event"). Pure;
// called from any thread.

internal import Domain
internal import Formats
internal import Reports

/// Makes events of PagerDuty.
enum PagerDutyEvent {
  static let url = "https://events.pagerduty.com/v2/enqueue"
  /// The most characters of the summary.
  static let summaryMax = 1024
  /// The most characters of the key that connects an event with those before.
  static let keyMax = 255

  /// Triggers an incident, or resolves it. A notice of the same alert updates the incident that is open.
  static func event(_ notice: AlertNotice, routingKey: String, host: String) -> JSONValue {
    let event: JSONValue = [
      "routing_key": .string(routingKey),
      "event_action": notice.state == .resolved ? "resolve" : "trigger",
      "dedup_key": .string(key(of: notice)),
    ]
    guard notice.state != .resolved else { return event }
    return event.adding(
      "payload",
      [
        "summary": .string(LimitedText.cut(notice.summary, to: summaryMax)),
        "source": .string(host), "severity": .string(notice.severity.rawValue),
        "timestamp": .time(notice.at), "component": .string(notice.app?.text ?? "receiptd"),
        "class": .string(notice.name), "custom_details": notice.json(host: host),
      ]
    ).adding("client", "Receipt Relay")
  }

  /// The same on every relay of a database, because another one may report the end, and without the limit,
  /// which a reload may change. Each test has its own, so that it never joins an older incident.
  private static func key(of notice: AlertNotice) -> String {
    let last = notice.state == .test ? notice.at.rfc3339 : notice.app?.text
    return LimitedText.cut(
      (["receiptd", notice.name] + (last.map { [$0] } ?? [])).joined(separator: "/"), to: keyMax)
  }
}
