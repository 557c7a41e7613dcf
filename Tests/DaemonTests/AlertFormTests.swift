// The forms that receivers of notices expect, their limits, and the keys of the configuration for them.

import Domain
import Formats
import HTTPClient
import Platform
import Service
import TestSupport
import Testing

@testable import Config
@testable import Upkeep

@Suite("Forms of alerts") struct AlertFormTests {
  private typealias Samples = ConfigurationSamples

  private static let key = "0123456789abcdefABCDEF0123456789"
  private static let at = Timestamp(unixMilliseconds: 1_795_168_803_120)

  /// A notice with these words.
  private static func notice(
    _ summary: String, advice: String = "Restart it", app: AppSlug? = "ios",
    condition: AlertCondition = .oldestPending(over: .minutes(15))
  ) -> AlertNotice {
    let finding = Finding(.warning, .work, "It is so", .soon, summary, next: advice, value: 3)
    return AlertNotice(
      Finding.Key(condition: condition, app: app), finding, since: at, id: "msg_1", now: at)
  }

  private static func end(_ notice: AlertNotice) -> AlertNotice {
    AlertNotice(
      endOf: .oldestPending(over: .minutes(15)), app: notice.app, since: at, id: "msg_2", now: at)
  }

  private static func strings(_ value: JSONValue) -> [String] {
    switch value {
    case .string(let text): [text]
    case .array(let elements): elements.flatMap(strings)
    case .object(let members): members.flatMap { strings($0.value) }
    default: []
    }
  }

  @Test("A message of Slack has a header, a section and a context, and a text for notifications")
  func slack() throws {
    let message = SlackNotice.message(Self.notice("a & b <!channel> are late"), host: "relay-1")
    #expect(
      message == [
        "text": """
        [FIRING] receiptd on relay-1: a &amp; b &lt;!channel&gt; are late. What to do: Restart it.
        """,
        "blocks": [
          ["type": "header", "text": ["type": "plain_text", "text": "FIRING: oldest_pending of ios"]],
          [
            "type": "section",
            "text": [
              "type": "mrkdwn",
              "text": "a &amp; b &lt;!channel&gt; are late\nWhat to do: Restart it.", "verbatim": true,
            ],
          ],
          [
            "type": "context",
            "elements": [
              [
                "type": "mrkdwn",
                "text": "oldest_pending&gt;15m on relay-1, since 10:00 UTC", "verbatim": true,
              ]
            ],
          ],
        ],
      ])
    let sentence = Self.notice("x", advice: "Nothing is given up.")
    #expect(sentence.text(host: "h").hasSuffix("x. What to do: Nothing is given up."))
    #expect(sentence.whatToDo == "What to do: Nothing is given up.")
    let over = SlackNotice.message(Self.end(Self.notice("x")), host: "relay-1")
    #expect(over["blocks"]?[0]?["text"]?["text"] == "RESOLVED: oldest_pending of ios")
    #expect(!Self.strings(over).contains { $0.contains("What to do") })
  }

  @Test func `No text of a message of Slack is longer than Slack accepts, and no entity is cut`() throws {
    for length in [2_900, 2_999, 3_000, 3_001, 20_000] {
      for filling in ["x", "&", "👩‍👩‍👧"] {
        let words = String(repeating: filling, count: length)
        let app = AppSlug(String(repeating: "a", count: 63))
        let message = SlackNotice.message(
          Self.notice(words, app: app), host: String(repeating: "h", count: 253))
        let header = try #require(message["blocks"]?[0]?["text"]?["text"]?.stringValue)
        #expect(header.utf16.count <= 150)
        for text in Self.strings(message) {
          #expect(text.utf16.count <= 3_000)
          let rest = ["&amp;", "&gt;"].reduce(text) { $0.replacing($1, with: "") }
          #expect(!rest.contains("&"), "an entity is cut")
        }
      }
    }
    // What fits is whole.
    #expect(LimitedText.cut("123", to: 3) == "123")
    #expect(LimitedText.cut("1234", to: 3) == "12…")
    #expect(LimitedText.cut("a&b", to: 6) { $0 == "&" ? "&amp;" : nil } == "a…")
    #expect(LimitedText.cut("a&b", to: 7) { $0 == "&" ? "&amp;" : nil } == "a&amp;b")
  }

  @Test("An event of PagerDuty triggers an incident, and resolves it by the same key on any host")
  func pagerDuty() throws {
    let notice = Self.notice("a receipt is late")
    let event = PagerDutyEvent.event(notice, routingKey: Self.key, host: "relay-1")
    #expect(event["routing_key"] == .string(Self.key))
    #expect(event["event_action"] == "trigger")
    // Without the limit, which a reload may change.
    #expect(event["dedup_key"] == "receiptd/oldest_pending/ios")
    let payload = try #require(event["payload"])
    #expect(payload["summary"] == "a receipt is late")
    #expect(payload["source"] == "relay-1")
    #expect(payload["severity"] == "error")
    #expect(payload["timestamp"] == "2026-11-20T10:00:03.120Z")
    #expect(payload["component"] == "ios")
    #expect(payload["class"] == "oldest_pending")
    #expect(payload["custom_details"]?["what_to_do"] == "Restart it")
    let over = PagerDutyEvent.event(Self.end(notice), routingKey: Self.key, host: "relay-2")
    #expect(
      over == [
        "routing_key": .string(Self.key), "event_action": "resolve",
        "dedup_key": "receiptd/oldest_pending/ios",
      ])
    let tests = [1_000, 2_000].map {
      PagerDutyEvent.event(AlertNotice(testAt: $0), routingKey: Self.key, host: "h")
    }
    #expect(tests.map { $0["event_action"] } == ["trigger", "trigger"])
    #expect(tests.map { $0["payload"]?["severity"] } == ["info", "info"])
    #expect(tests[0]["dedup_key"] != tests[1]["dedup_key"])
  }

  @Test("Every condition has one of PagerDuty's severities, and its key and summary are within the limits")
  func pagerDutyLimits() throws {
    let app = AppSlug(String(repeating: "a", count: 63))
    for condition in AlertCondition.forms {
      let words = String(repeating: "é", count: 5_000)
      let event = PagerDutyEvent.event(
        Self.notice(words, app: condition.isOfRelay ? nil : app, condition: condition), routingKey: Self.key,
        host: "h")
      let payload = try #require(event["payload"])
      let severity = try #require(payload["severity"]?.stringValue)
      #expect(["critical", "error", "warning", "info"].contains(severity))
      #expect(payload["summary"]?.stringValue?.utf16.count == 1024)
      let key = try #require(event["dedup_key"]?.stringValue)
      #expect(key.utf16.count <= 255)
      #expect(!key.contains("…"), "two alerts could have the same key")
      // The API accepts 512 KB.
      #expect(event.serialized().count < 64 << 10)
    }
  }

  @Test("Google Chat refuses unknown members, so its form is a text alone, in which nobody is mentioned")
  func text() throws {
    let message = TextNotice.message(
      Self.notice("down (http_503: <users/all> @channel)"), host: "relay-1")
    let words =
      "[FIRING] receiptd on relay-1: down (http_503: <\u{200B}users/all> @\u{200B}channel). What to do: "
      + "Restart it."
    #expect(message == ["text": .string(words)])
    let long = TextNotice.message(Self.notice(String(repeating: "x", count: 9_000)), host: "h")
    #expect(long["text"]?.stringValue?.utf16.count == 4_000)
    let read = try Samples.read(
      Samples.text(root: "alerts: [{ to: 'https://h/', as: 'text', on: ['clock'] }],"))
    let target = try AlertTarget(try #require(read.configuration.alerts.first), label: "alerts[0]")
    guard
      case .request(let request) = target.message(
        Self.end(Self.notice("x")), sentAt: 0, host: "h", userAgent: "t")
    else { throw TransferFailure.internalFault }
    guard case .object(let members) = try JSONValue(parsing: request.body) else {
      throw TransferFailure.internalFault
    }
    #expect(members.map(\.name) == ["text"])
  }

  @Test func `A webhook has the notice as its data`() throws {
    let notice = Self.notice("a receipt is late")
    let message = WebhookNotice.message(notice, host: "relay-1")
    #expect(message["type"] == "alert.firing")
    #expect(message["timestamp"] == "2026-11-20T10:00:03.120Z")
    #expect(message["data"] == notice.json(host: "relay-1"))
    #expect(WebhookNotice.message(Self.end(notice), host: "h")["type"] == "alert.resolved")
    #expect(WebhookNotice.message(AlertNotice(testAt: 0), host: "h")["type"] == "alert.test")
  }

  @Test(arguments: [
    ("as: 'slack'", "to", "is missing"), ("as: 'webhook', to: 'https://h/'", "secrets", "is missing"),
    ("as: 'pagerduty'", "routing_key", "is missing"),
    ("as: 'pagerduty', routing_key: 'secret'", "routing_key", "must be an integration key of PagerDuty"),
    ("to: 'https://h/', routing_key: 'secret'", "routing_key", "is only for as: \"pagerduty\""),
    ("to: 'https://h/', secrets: ['secret']", "secrets", "is only for as: \"webhook\""),
    ("as: 'webhook', to: 'https://h/', secrets: ['secret']", "secrets[0]", "must be whsec_"),
    ("to: 'https://h/', as: 'slak'", "as", "did you mean \"slack\""),
  ])
  func `Keys that a form needs, or does not use, are reported`(entry: String, key: String, message: String) {
    let faults = Samples.faults(Samples.text(root: "alerts: [{ \(entry), on: ['database'] }],"))
    #expect(
      faults.contains { $0.path == "alerts[0].\(key)" && $0.message.contains(message) }, "\(faults)")
    #expect(!faults.description.contains("secret'"), "\(faults)")
  }

  @Test func `Two accounts of PagerDuty are two receivers, and the default address is PagerDuty's`() throws {
    let text = ["0", "1"].map { digit in
      let key = String(repeating: digit, count: 32)
      return "{ as: 'pagerduty', routing_key: '\(key)', on: ['database'] }"
    }
    let configuration = try Samples.read(
      Samples.text(root: "alerts: [\(text.joined(separator: ", "))],"), secrets: .required
    ).configuration
    let targets = try configuration.alerts.map { try AlertTarget($0, label: "alerts") }
    #expect(Set(targets.map(\.digest)).count == 2)
    #expect(targets.allSatisfy { $0.url == "https://events.pagerduty.com/v2/enqueue" })
    #expect(!configuration.redacted.text.contains(String(repeating: "0", count: 32)), "a secret (R7)")
    #expect(configuration.secrets.map(\.path).contains("alerts[1].routing_key"))
  }
}
