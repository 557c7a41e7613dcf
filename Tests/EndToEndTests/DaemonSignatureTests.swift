// R6: unsigned, forged, altered or stale requests change nothing. Also tests which genuine ones are accepted.

import Domain
import Formats
import HTTPServer
import Store
import Testing

@Suite(.withDaemonLog) struct DaemonSignatureTests {
  /// Every cause of a refusal.
  private static func bad(_ body: [UInt8]) throws -> [(why: String, header: String?)] {
    let now = Stripe.unixSeconds
    func sign(_ secret: String = Secrets.webhook, at seconds: Int64 = now, _ scheme: String = "v1") throws
      -> String
    {
      try Stripe.signature(of: body, secret: secret, at: seconds, scheme: scheme)
    }
    let good = try sign()
    let code = String(good.split(separator: "=").last ?? "")
    let many = Array(repeating: "v1=\(String(repeating: "0", count: 64))", count: 16).joined(separator: ",")
    return [
      ("no header", nil), ("nonsense", "nonsense"), ("no numbers", "t=abc,v1=zz"),
      ("another secret", try sign("whsec_another")),
      ("the secret without its prefix", try sign("end_to_end_0123456789abcdef")),
      ("an hour old", try sign(at: now - 3600)), ("an hour ahead", try sign(at: now + 3600)),
      ("only v0", try sign(Secrets.webhook, at: now, "v0")), ("no time", "v1=\(code)"),
      ("no signature", "t=\(now)"),
      ("another time", "t=\(now - 1),v1=\(code)"), ("two times", "t=\(now),\(good)"),
      ("a bare time", "t,\(good)"),
      ("a bare signature", "\(good),v1"), ("capital digits", "t=\(now),v1=\(code.uppercased())"),
      ("half a signature", "t=\(now),v1=\(code.prefix(32))"),
      ("too many signatures", "t=\(now),\(many),v1=\(code)"),
    ]
  }

  @Test("Every refused signature is a 400 and does not change the database (R6)")
  func refused() throws {
    try withRelay { relay, destination in
      let event = Checkout("mallory").completed
      let body = event.serialized()
      let cases = try Self.bad(body)
      for (why, header) in cases {
        let reply = try relay.outside.send(bytes: body, signature: header)
        #expect(reply.status == 400, "\(why)")
        #expect(reply["type"] == "urn:receiptd:problem:invalid-signature", "\(why)")
      }
      let signature = try Stripe.signature(of: body, secret: Secrets.webhook)
      #expect(try relay.outside.send(bytes: body + [0x20], signature: signature).status == 400)
      #expect(try relay.outside.send(bytes: body.dropLast(), signature: signature).status == 400)
      #expect(try relay.count("events") == 0)
      #expect(try relay.count("purchases") == 0)
      #expect(try relay.count("contexts") == 0)
      let text = try relay.admin.request("GET", "/metrics").text
      let counted = text.split(separator: "\n").filter { $0.hasPrefix("receiptd_signature_failures_total{") }
        .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
      #expect(counted.reduce(0, +) == cases.count + 2)
      // The same bytes with a valid signature are accepted: the refused ones have no effect on them.
      try relay.ingest(event)
      try relay.reaches(.delivered, Checkout("mallory").subscription)
      #expect(destination.ledger.count == 1)
    }
  }

  @Test("While a secret is rotated both are valid, also in one header beside others")
  func rotation() throws {
    try withRelay(app: ["stripe": ["webhook_secrets": ["whsec_new", .string(Secrets.webhook)]]]) { relay, _ in
      let old = Checkout("old").completed
      let new = Checkout("new").completed
      try relay.ingest(old)
      let body = new.serialized()
      let signature = try Stripe.signature(of: body, secret: "whsec_new")
      let parts = signature.split(separator: ",")
      let header = "\(parts[0]),v0=ff,v1=\(String(repeating: "0", count: 64)),\(parts[1]),x=y"
      #expect(try relay.outside.send(bytes: body, signature: header).status == 200)
      #expect(try relay.events().count == 2)
    }
  }

  @Test("Events of the other mode are stored and make no receipt", arguments: ["live", "test", "any"])
  func livemode(setting: String) throws {
    try withRelay(app: ["stripe": ["livemode": .string(setting)]]) { relay, destination in
      for isLive in [true, false] {
        let checkout = Checkout(isLive ? "live" : "test")
        try relay.ingest(checkout.completed.merging(["livemode": .bool(isLive)]))
        let counts = setting == "any" || setting == checkout.user
        let outcome = try relay.events().first?.outcome
        #expect(outcome == (counts ? "receipt" : "other_mode"))
        if counts { try relay.reaches(.delivered, checkout.subscription) }
      }
      #expect(try relay.receipts().count == (setting == "any" ? 2 : 1))
      #expect(destination.ledger.count == (setting == "any" ? 2 : 1))
    }
  }

  @Test(
    "Events of connected accounts count as configured",
    arguments: zip(
      [.string("none"), .string("any"), ["acct_1"]] as [JSONValue], [[], ["acct_1", "acct_2"], ["acct_1"]]))
  func connect(setting: JSONValue, counted: [String]) throws {
    try withRelay(app: ["stripe": ["connect": setting]]) { relay, _ in
      for account in ["acct_1", "acct_2"] {
        let event = Checkout(account).completed.merging(["account": .string(account)])
        try relay.ingest(event)
        let isCounted = counted.contains(account)
        #expect(try relay.events().first?.outcome == (isCounted ? "receipt" : "other_account"))
      }
      #expect(try relay.receipts().count == counted.count)
    }
  }

  @Test("A genuine event that cannot be read is stored once, counted, and answered 200")
  func unparsed() throws {
    try withRelay { relay, destination in
      let texts = [
        "not json", "", "[]", "{}", "null", #"{"id":"evt_1","type":"checkout.session.completed"}"#,
        #"{"id":"evt_2","type":"checkout.session.completed","data":{"object":{"id":7}}}"#,
        String(repeating: "[", count: 100_000), "\u{feff}{}",
      ]
      for text in texts + texts {
        let body = Array(text.utf8)
        let signature = try Stripe.signature(of: body, secret: Secrets.webhook)
        let reply = try relay.outside.send(bytes: body, signature: signature)
        #expect(reply.status == 200, "\(text.prefix(60))")
        #expect(reply.text == #"{"received":true}"#, "\(text.prefix(60))")
      }
      let bytes: [UInt8] = [0xff, 0x00, 0xfe]
      let signature = try Stripe.signature(of: bytes, secret: Secrets.webhook)
      #expect(try relay.outside.send(bytes: bytes, signature: signature).status == 200)
      #expect(try relay.events().map(\.outcome) == Array(repeating: "unparsed", count: texts.count + 1))
      let sample = #"receiptd_events_total{app="shop",processor="stripe",outcome="unparsed"}"#
      #expect(try relay.metric(sample) == Double(texts.count + 1))
      #expect(destination.ledger.isEmpty)
      let stored = try relay.read { try $0.events(id: "evt_1") }.map(\.body)
      #expect(stored == [Array(texts[5].utf8)])
    }
  }
}
