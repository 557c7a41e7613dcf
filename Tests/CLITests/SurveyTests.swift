import Domain
import Formats
import Store
import Terminal
import Testing

@Suite(.everyPlace) struct SurveyTests {
  @Test(.fileOnly) func statsShowEachApp() throws {
    let harness = try OperatorHarness(apps: ["ios", "web"])
    try harness.deliver(harness.purchase("sub_old"))
    harness.clock.advance(.hours(2))
    try harness.deliver(harness.purchase("sub_new"))
    try harness.fail(harness.purchase("sub_failed"))
    let id = try harness.purchase("sub_web", app: "web")
    let now = harness.clock.now
    try harness.attempt(
      id, status: 403, .retry(at: now, spent: false),
      breaker: Breaker(
        state: .paused, probeAt: now.advanced(by: .seconds(90)), since: now, cause: .status(403)))
    harness.clock.advance(.seconds(60))
    Snapshot.check(harness.run("stats").out, "stats")
    // The first object is about the relay itself.
    let objects = Array(try harness.run("stats", "--json").objects.dropFirst())
    #expect(objects.map { $0["app"] } == ["ios", "web"])
    #expect(objects[0]["delivered"] == 2)
    #expect(objects[0]["failed"] == 1)
    #expect(objects[0]["waiting"] == 0)
    #expect(objects[0]["delivered_last_hour"] == 1)
    #expect(objects[0]["delivered_last_24h"] == 2)
    #expect(objects[0]["oldest_pending_at"] == .null)
    #expect(objects[0]["breaker"]?["state"] == "closed")
    #expect(objects[1]["oldest_pending_seconds"] == 60)
    #expect(objects[1]["breaker"]?["state"] == "paused")
    #expect(objects[1]["breaker"]?["cause"] == "http_403")
    #expect(try harness.run("stats", "--app", "web", "--json").objects.count == 2)
  }

  @Test func eventsAreListedInPages() throws {
    let harness = try OperatorHarness(apps: ["ios", "web"])
    for app: AppSlug in ["ios", "web"] {
      let event = IngestEvent(
        app: app, processor: "stripe", eventID: "evt_both", type: "invoice.paid", body: Array("{".utf8),
        content: .nothing(.unparsed))
      _ = try harness.writer.apply(event, now: harness.clock.now)
      try harness.purchase("sub_\(app)", app: app)
    }
    Snapshot.check(harness.run("events", "list").out, "events-list")
    var seen: [String] = []
    var after: [String] = []
    for _ in 0..<4 {
      let ran = harness.run(arguments: ["events", "list", "--limit", "1", "--json"] + after)
      for event in try ran.objects {
        seen.append("\(event["app"]?.stringValue ?? "")/\(event["id"]?.stringValue ?? "")")
      }
      after = ["--after", seen.last ?? ""]
    }
    #expect(seen == ["web/evt_2", "web/evt_both", "ios/evt_1", "ios/evt_both"])
    #expect(harness.run("events", "list", "--after", "evt_none").code == .notFound)
    #expect(try harness.run("events", "list", "--outcome", "unparsed", "--json").objects.count == 2)
  }

  @Test func anEventIsShownWithItsContent() throws {
    let harness = try OperatorHarness()
    let receipt = try harness.purchase("sub_1")
    let shown = harness.run("events", "show", "evt_1")
    #expect(shown.out.contains("outcome    receipt"))
    #expect(shown.out.contains("receipt    \(receipt)"))
    #expect(shown.out.contains("  \"id\": \"evt_1\""))
    let object = try #require(try harness.run("events", "show", "evt_1", "--json").objects.first)
    #expect(object["body"] == #"{"id":"evt_1"}"#)
    #expect(harness.run("events", "show", "evt_9").code == .notFound)
  }

  @Test("events show says why an event made no receipt: the rule of a foreign sale, or what cannot be read")
  func reasonsOfEvents() throws {
    let harness = try OperatorHarness()
    func reason(_ body: JSONValue, _ outcome: EventOutcome) throws -> JSONValue? {
      let id = EventID("evt_\(outcome.rawValue)_\(body.text.utf8.count)")
      let event = IngestEvent(
        app: "ios", processor: "stripe", eventID: id, type: "test", body: body.serialized(),
        content: .nothing(outcome))
      _ = try harness.writer.apply(event, now: harness.clock.now)
      let shown = try #require(try harness.run("events", "show", id.text, "--json").objects.first)
      if let text = shown["reason"]?.stringValue {
        #expect(harness.run("events", "show", id.text).out.contains("  reason     \(text)"))
      }
      return shown["reason"]
    }
    func session(_ metadata: JSONValue) -> JSONValue {
      [
        "object": "event", "type": "checkout.session.completed",
        "data": ["object": ["id": "cs_1", "object": "checkout.session", "metadata": metadata]],
      ]
    }
    let purchasely = try reason(session(["ply_provider": "purchasely"]), .foreign)
    #expect(purchasely?.stringValue?.contains("ply_provider") == true)
    let other = try reason(session([:]), .foreign)
    #expect(other?.stringValue?.contains("another event") == true)
    let thin: JSONValue = [
      "object": "v2.core.event", "type": "v1.checkout.session.completed", "related_object": ["id": "cs_1"],
    ]
    let unread = try reason(thin, .unparsed)
    #expect(unread == "thin payload: choose the payload style Snapshot for the endpoint at Stripe")
    #expect(try reason(session([:]), .ignored) == nil)
  }

  @Test("A purchase without a receipt, and each of its events, name the command that makes one")
  func nextStepWithoutReceipt() throws {
    let harness = try OperatorHarness()
    func shown(_ id: String, _ seen: Observations) throws -> [String] {
      let report = PurchaseReport(
        key: PurchaseKey(processor: "stripe", type: "subscription", id: ObjectID("sub_\(id)")),
        observations: seen, happenedAt: harness.clock.now)
      let event = IngestEvent(
        app: "ios", processor: "stripe", eventID: EventID("evt_\(id)"), type: "test", body: Array("{}".utf8),
        content: .report(report, keep: true))
      try harness.store(event)
      return ["sub_\(id)", "evt_\(id)"].map { harness.run("show", $0).out }
    }
    for text in try shown("unmatched", .began) {
      #expect(text.contains("say so in apps.ios.stripe.sells"))
      #expect(text.contains("receiptctl reload; and then: receiptctl events reprocess evt_unmatched."))
    }
    for text in try shown("other", [.began, .notOurs]) {
      #expect(text.contains("add it to apps.ios.stripe.sells, then run: receiptctl reload"))
      #expect(text.contains("receiptctl events reprocess evt_other\n"))
    }
    for text in try shown("excepted", [.began, .excepted]) {
      #expect(text.contains("correct apps.ios.stripe.except"))
    }
    for text in try shown("undecided", [.began, .otherPrice]) {
      #expect(text.contains("receiptctl events backfill --app ios --since 2026-11-20T09:00:00.000Z"))
    }
    let unknown = harness.run("show", "sub_nothing-1")
    #expect(unknown.code == .notFound)
    #expect(unknown.notes.contains("receiptctl events list --since 1d"))
  }

  @Test func contextsAreListedAndShown() throws {
    let harness = try OperatorHarness()
    // {"stripe_price_id":"price_1"}
    let id = try harness.context("eyJzdHJpcGVfcHJpY2VfaWQiOiJwcmljZV8xIn0=", price: "price_1")
    harness.clock.advance(.seconds(1))
    let opaque = try harness.context("AAECAw==", user: "ann")
    harness.clock.advance(.seconds(60))
    Snapshot.check(harness.run("contexts", "list").out, "contexts-list")
    Snapshot.check(harness.run("contexts", "show", id).out, "contexts-show")
    #expect(harness.run("contexts", "show", opaque).out.hasSuffix("\nAAECAw==\n"))
    let page = harness.run("contexts", "list", "--limit", "1", "--json")
    #expect(page.notes.contains("contexts list --limit 1"))
    #expect(page.notes.hasSuffix("--after \(opaque)\n"))
    #expect(
      try harness.run("contexts", "list", "--after", opaque, "--json").objects.map { $0["id"] } == [
        .string(id)
      ])
    let object = try #require(try harness.run("contexts", "show", id, "--json").objects.first)
    #expect(object["state"] == "open")
    #expect(object["ply_context"]?.stringValue?.hasPrefix("eyJ") ?? false)
    #expect(harness.run("contexts", "show", "ctx_none").code == .notFound)
  }
}
