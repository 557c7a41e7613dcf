// R6: unsigned, forged, altered or stale requests change nothing; genuine ones are stored, also if nobody
// can read them.

import Domain
import Formats
import Store
import Testing

@Suite(.withDaemonLog) struct DaemonSignatureTests {
  /// Some of what `SignatureTests` refuses.
  private static func bad(_ body: [UInt8]) throws -> [(why: String, header: String?)] {
    let now = Stripe.unixSeconds
    return [
      ("no header", nil), ("nonsense", "nonsense"),
      ("another secret", try Stripe.signature(of: body, secret: "whsec_another")),
      ("an hour old", try Stripe.signature(of: body, secret: Secrets.webhook, at: now - 3600)),
      ("an hour ahead", try Stripe.signature(of: body, secret: Secrets.webhook, at: now + 3600)),
    ]
  }

  @Test func `A refused signature is a 400 and does not change the database (R6)`() throws {
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

  @Test func `A genuine event that cannot be read is stored once, counted, and answered 200`() throws {
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
