// The log shows what became of a request, a receipt or an event.

import Domain
import Formats
import Store
import Testing

@Suite(.withDaemonLog) struct DaemonLogTests {
  /// One line.
  private struct Line {
    let value: JSONValue
    subscript(name: String) -> String? { value[name]?.stringValue }
    var message: String { self["message"] ?? "" }
  }

  private func lines(of relay: Relay) throws -> [Line] {
    try relay.log.split(separator: "\n").map { Line(value: try JSONValue(parsing: Array($0.utf8))) }
  }

  /// The cases of a day: delivered at once, after a retry, refused, waiting, cancelled, not understood,
  /// forged.
  private func live(_ relay: Relay, _ destination: Destination) throws {
    let good = Checkout("log-good")
    try relay.buy(good)
    try relay.reaches(.delivered, good.subscription)
    destination.answer(.status(500), .taken)
    try relay.ingest(Checkout("log-late").completed)
    try relay.reaches(.delivered, Checkout("log-late").subscription)
    destination.answer(.status(422, body: "answer-body"))
    try relay.ingest(Checkout("log-refused").completed)
    try relay.reaches(.failed, Checkout("log-refused").subscription)
    let unpaid = Checkout("log-unpaid")
    try relay.ingest(unpaid.sessionEvent("completed", ["payment_status": "unpaid"]))
    try relay.ingest(unpaid.sessionEvent("async_payment_failed"))
    try relay.ingest(
      good.completed, ["id": "evt_odd", "object": "event", "type": "checkout.session.completed"])
    _ = try relay.outside.send(bytes: Array("{}".utf8), signature: "t=1,v1=00")
    _ = try relay.outside.api.request("GET", "/nowhere")
    #expect(try relay.stop() == 0)
  }

  private static let top: JSONValue = ["log": ["format": "json", "level": "debug"]]

  @Test func `Every line has the fields of docs/logs.md, and every receipt's history is complete`() throws {
    try withRelay(top: Self.top) { relay, destination in
      try live(relay, destination)
      let lines = try lines(of: relay)
      let answered = lines.filter { $0.message == "answered" }
      for line in answered {
        for name in ["method", "route", "status", "duration_ms", "bytes", "request_id"] {
          #expect(line[name] != nil, "\(name) in \(line.value.text)")
        }
        #expect(line["peer"]?.hasPrefix("~") == true)
      }
      for line in lines where line["receipt"] != nil { #expect(line["app"] == "shop", "\(line.value.text)") }
      for line in lines where line.message == "attempted a delivery" {
        for name in ["app", "receipt", "verdict", "duration_ms"] { #expect(line[name] != nil) }
        #expect(line["status"] != nil || line["error"] != nil)
      }
      #expect(lines.filter { $0.message == "attempted a delivery" }.count == destination.ledger.count)
      let requests = Set(answered.compactMap { $0["request_id"] })
      for record in try relay.receipts() {
        let receipt = try #require(record.receipt)
        let story = lines.filter { $0["receipt"] == receipt.id.text && $0["level"] != "debug" }
        let end = try #require(story.last)
        switch receipt.state {
        case .delivered:
          #expect(end.message == "delivered")
          #expect(end["import_id"] == receipt.importID)
          #expect(story.contains { $0.message == "a receipt is ready" })
        case .failed:
          #expect(end["level"] == "warning")
          #expect(end["reason"] == "http_422")
          #expect(end["status"] == "422")
        case .cancelled:
          #expect(end["reason"] == "payment_failed")
          #expect(end["from"] == "waiting")
        case .waiting, .pending: Issue.record("\(receipt)")
        }
        // Its origin: an event, in a request that was answered.
        let first = try #require(story.first)
        #expect(first["event"] != nil)
        #expect(first["request_id"].map(requests.contains) == true)
        let took = lines.first { $0.message == "stored an event" && $0["event"] == first["event"] }
        #expect(took?["request_id"] == first["request_id"])
        #expect(took?["outcome"] == "receipt")
        // The same user has the same mark in every line.
        #expect(Set(story.compactMap { $0["user"] }).count == 1)
      }
      #expect(lines.filter { $0.message == "delivered" }.count == 2)
      let warnings = lines.filter { $0["level"] == "warning" }.map(\.message)
      #expect(warnings.contains { $0.hasPrefix("refused a webhook") })
      #expect(warnings.contains { $0.hasPrefix("an event was not understood") })
      #expect(lines.contains { $0.message == "stored an event" && $0["outcome"] == "duplicate" })
    }
  }

  @Test("At debug, too, nothing personal and no secret is written, unless it is asked for (R7)")
  func personal() throws {
    for isAsked in [false, true] {
      let top = Self.top.merging(["log": ["personal": .bool(isAsked)]])
      try withRelay(top: top) { relay, destination in
        try live(relay, destination)
        let log = relay.log
        #expect(log.contains(#""user":"log-good""#) == isAsked)
        #expect(log.contains(#""peer":"127.0.0."#) == isAsked)
        // Never logged: secrets, bodies, and ids that identify a customer at Stripe.
        let good = Checkout("log-good")
        for needle in [
          Secrets.apiKey, Secrets.webhook, Secrets.clientKey, good.context, "answer-body", Checkout.price,
        ] { #expect(!log.contains(needle), "\(needle)") }
        for line in try lines(of: relay) {
          guard case .object(let members) = line.value else { continue }
          for member in members where member.name != "event" {
            let text = member.value.stringValue ?? ""
            for needle in [good.subscription, good.session, good.customer] { #expect(!text.contains(needle)) }
          }
        }
      }
    }
  }

  @Test func `A normal day logs only at info`() throws {
    try withRelay(top: ["log": ["format": "json", "level": "info"]]) { relay, _ in
      try relay.ingest(Checkout("quiet").completed)
      try relay.reaches(.delivered, Checkout("quiet").subscription)
      #expect(try relay.stop() == 0)
      let levels = Set(try lines(of: relay).compactMap { $0["level"] })
      #expect(levels == ["info"])
    }
  }
}
