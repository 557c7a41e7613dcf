// Notices of the real program in each form, to real receivers.

import Formats
import HTTPServer
import Platform
import Sandbox
import TestSupport
import Testing

@Suite(.withDaemonLog) struct AlertTargetTests {
  private static let secret = "whsec_" + Base64.encode([UInt8](repeating: 7, count: 32))
  private static let routingKey = "0123456789abcdef0123456789abcdef"

  private static func entry(_ form: String, _ keys: [(String, JSONValue)]) -> JSONValue {
    let members: [(String, JSONValue)] =
      [("as", .string(form)), ("on", ["breaker_open"]), ("every", "1h")] + keys
    return .object(members.map { .init(name: $0.0, value: $0.1) })
  }

  /// The first notice to a path whose form has this member with this value.
  private static func notice(
    _ receiver: Destination, _ path: String, _ what: String, _ isWanted: @escaping (JSONValue) -> Bool
  ) throws -> Destination.Entry {
    try waitFor("a notice to \(path): \(what)") {
      receiver.ledger.first { $0.head.path.hasSuffix(path) && isWanted($0.json) }
    }
  }

  @Test("The start and the end of an alert reach Slack, PagerDuty, a signed webhook and a mailbox")
  func forms() throws {
    let (receiver, sendmail) = (try Destination(), try StandInSendmail())
    defer { receiver.stop() }
    func url(_ path: String) -> JSONValue { .string("\(receiver.url)/\(path)") }
    let top: JSONValue = [
      "alerts": [
        Self.entry("slack", [("to", url("slack"))]),
        Self.entry("pagerduty", [("to", url("pager")), ("routing_key", .string(Self.routingKey))]),
        Self.entry("webhook", [("to", url("hook")), ("secrets", [.string(Self.secret)])]),
        Self.entry(
          "email",
          [
            ("mail_to", ["ops@example.com"]), ("mail_from", "receiptd@example.com"),
            ("sendmail", .string(sendmail.path)),
          ]),
      ]
    ]
    try withRelay(app: ["delivery": ["breaker": ["failures": 2]]], top: top) { relay, destination in
      destination.answerAll(.status(500))
      try relay.ingest(Checkout("alerted").completed)
      _ = try Self.notice(receiver, "/slack", "firing") {
        $0["blocks"]?[0]?["text"]?["text"] == "FIRING: breaker_open of shop"
      }
      let trigger = try Self.notice(receiver, "/pager", "trigger") { $0["event_action"] == "trigger" }
      #expect(trigger.json["payload"]?["severity"] == "error")
      try verify(try Self.notice(receiver, "/hook", "firing") { $0["type"] == "alert.firing" })
      try waitUntil("a mail of the start") { sendmail.message?.contains("[FIRING] breaker_open") == true }
      destination.answerAll(.taken)
      _ = try Self.notice(receiver, "/slack", "resolved") {
        $0["blocks"]?[0]?["text"]?["text"] == "RESOLVED: breaker_open of shop"
      }
      let resolve = try Self.notice(receiver, "/pager", "resolve") { $0["event_action"] == "resolve" }
      #expect(resolve["dedup_key"] == trigger["dedup_key"])
      try verify(try Self.notice(receiver, "/hook", "resolved") { $0["type"] == "alert.resolved" })
      try waitUntil("a mail of the end") { sendmail.message?.contains("[RESOLVED] breaker_open") == true }
      #expect(sendmail.arguments == ["-i", "-f", "receiptd@example.com", "--", "ops@example.com"])
      #expect(try relay.stop() == 0)
      for text in [Self.secret, Self.routingKey, receiver.url] {
        #expect(!relay.log.contains(text), "a secret is in the log (R7)")
      }
    }
  }

  /// With the verification of the sandbox, which shares no code with the relay's signing.
  private func verify(_ entry: Destination.Entry) throws {
    let headers = WebhookVerifier.Headers(
      id: entry.head.header("webhook-id"), timestamp: entry.head.header("webhook-timestamp"),
      signature: entry.head.header("webhook-signature"))
    let verifier = try WebhookVerifier(secrets: [Self.secret])
    let now = SystemClock().wallMilliseconds
    #expect(verifier.verify(headers, body: entry.body, now: now) == .verified(secret: 0))
    #expect(verifier.verify(headers, body: entry.body + [0x20], now: now) == .mismatch)
    #expect(entry.json["data"]?["alert"] == "breaker_open")
  }
}
