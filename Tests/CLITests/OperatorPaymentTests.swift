// What operators see of payments that have no receipt yet, and of processors.

import Domain
import Formats
import Store
import Terminal
import Testing

@Suite(.everyPlace) struct OperatorPaymentTests {
  private static let order: ObjectID = "/psp/paymentorders/5adc265f"
  private static let key = PurchaseKey(processor: "swedbank", type: "payment_order", id: order)

  private static func report(_ observations: Observations, by user: UserID? = nil) -> PurchaseReport {
    PurchaseReport(
      key: key, observations: observations, startedBy: user,
      payment: PaymentFacts(amount: "59.99", currency: "SEK"), happenedAt: Timestamp(unixMilliseconds: 0))
  }

  /// A payment of Swedbank Pay that was only started, beside a purchase of Stripe.
  private static func started() throws -> OperatorHarness {
    let harness = try OperatorHarness(swedbank: true)
    try harness.purchase("sub_1")
    try harness.store(StorePayment(app: "ios", report(.started, by: "jdo-2")))
    return harness
  }

  private static func capture(_ harness: OperatorHarness) throws -> OpenCapture {
    let outcome = try harness.store(OrderCapture(app: "ios", CaptureOrder(key: key, user: "jdo-2")))
    guard case .begun(let open, _) = outcome else { throw OperatorFault(.failed, "no capture") }
    return open
  }

  @Test func aStartedPaymentIsShownByItsID() throws {
    let harness = try Self.started()
    let ran = harness.run("receipts", "show", Self.order.text)
    #expect(ran.code == .done)
    Snapshot.check(ran.out, "receipts-show-started")
    let object = try #require(try harness.run("receipts", "show", Self.order.text, "--json").objects.first)
    #expect(object["id"] == .null)
    #expect(object["processor"] == "swedbank")
    #expect(object["object_id"] == .string(Self.order.text))
    #expect(object["payment"]?["outcome_known"] == false)
    #expect(object["lookup"]?["attempts"] == 0)
    #expect(object["captures"] == [])
  }

  @Test func anIDThatNothingHasIsNotFoundAndSaysSo() throws {
    let ran = try Self.started().run("receipts", "show", "/psp/paymentorders/other")
    #expect(ran.code == .notFound)
    #expect(ran.notes.contains("there is no receipt /psp/paymentorders/other"))
  }

  @Test func aPurchaseWithAReceiptIsShownByItsObject() throws {
    let ran = try Self.started().run("receipts", "show", "sub_1")
    #expect(ran.code == .done)
    #expect(ran.out.hasPrefix("rcp_"))
    #expect(ran.out.contains("  processor stripe\n"))
  }

  @Test func `An erasure counts the payments that it had to leave`() throws {
    let harness = try Self.started()
    _ = try Self.capture(harness)
    let ran = harness.run("users", "forget", "jdo-2", "--yes", "--json")
    #expect(ran.code == .partly)
    #expect(try ran.objects.first?["left_capturing"] == 1)
  }

  @Test func aCaptureWithoutAnOutcomeIsShownAndCounted() throws {
    let harness = try Self.started()
    let open = try Self.capture(harness)
    let next = harness.clock.now + .seconds(10)
    try harness.store(SaveCapture(open.reference, failures: 2, retryAt: next, trouble: "timeout"))
    harness.clock.advance(.seconds(300))
    Snapshot.check(harness.run("receipts", "show", Self.order.text).out, "receipts-show-capture")
    Snapshot.check(harness.run("payments", "list").out, "payments-list")
    let stats = harness.run("stats").out
    #expect(
      stats.contains(
        "ios at swedbank: 1 lookup planned; 1 capture open, 1 of them with an unknown outcome, the oldest "
          + "ordered 5 min ago.\n"))
    #expect(stats.contains("These payments have an unknown outcome: receiptctl payments list"))
    let app = try #require(try harness.run("stats", "--json").objects.last)
    #expect(app["processors"]?["swedbank"]?["captures_unknown"] == 1)
    #expect(app["processors"]?["swedbank"]?["lookups"] == 1)
    #expect(app["processors"]?["stripe"]?["lookups"] == 0)
    let listed = try #require(try harness.run("payments", "list", "--json").objects.first)
    #expect(listed["what"] == "capture_open")
    #expect(listed["id"] == .string(Self.order.text))
  }

  @Test func aCaptureThatWasGivenUpIsShownUntilItsOutcomeIsFetched() throws {
    let harness = try Self.started()
    let open = try Self.capture(harness)
    let outcome = CaptureOutcome(kind: .abandoned, status: 504, body: [])
    try harness.store(EndCapture(app: "ios", open.reference, outcome, report: nil))
    let shown = harness.run("receipts", "show", Self.order.text).out
    #expect(shown.contains("Nobody knows whether the customer was charged."))
    #expect(shown.contains("receiptctl payments fetch \(Self.order)"))
    #expect(harness.run("stats").out.contains("1 capture given up."))
    try harness.store(StorePayment(app: "ios", Self.report(.paid)))
    #expect(!harness.run("stats").out.contains("given up"))
    #expect(harness.run("payments", "list").out == "No payment has an unknown outcome.\n")
  }

  @Test func `A capture that the processor refused is not said to be unknown`() throws {
    let harness = try Self.started()
    let open = try Self.capture(harness)
    try harness.store(SaveCapture(open.reference, failures: 1, retryAt: harness.clock.now, isGivenUp: true))
    let outcome = CaptureOutcome(kind: .abandoned, status: 409, body: [])
    try harness.store(EndCapture(app: "ios", open.reference, outcome, report: nil))
    var report = Self.report(.paid)
    report.payment?.isCaptured = false
    try harness.store(StorePayment(app: "ios", report))
    let shown = harness.run("receipts", "show", Self.order.text).out
    #expect(shown.contains("receiptd gave it up, because the processor refused it"))
    #expect(shown.contains("refused to capture the money, and receiptd does not capture it any more."))
    #expect(!shown.contains("Nobody knows"))
  }

  @Test("A capture that was given up is shown while the payment is only authorised, with what to do")
  func givenUpAuthorised() throws {
    let harness = try Self.started()
    let open = try Self.capture(harness)
    let outcome = CaptureOutcome(kind: .abandoned, status: 504, body: [])
    try harness.store(EndCapture(app: "ios", open.reference, outcome, report: nil))
    func report(isCaptured: Bool) throws {
      var report = Self.report(.paid)
      report.payment?.isCaptured = isCaptured
      try harness.store(StorePayment(app: "ios", report))
    }
    try report(isCaptured: false)
    let shown = harness.run("receipts", "show", Self.order.text).out
    #expect(shown.contains("Nobody knows whether the money was captured"))
    #expect(shown.contains("receiptctl payments fetch \(Self.order)"))
    #expect(harness.run("stats").out.contains("1 capture given up."))
    #expect(harness.run("payments", "list").out.contains("capture given up"))
    #expect(shown.contains("receiptd gave it up, and its outcome is unknown"))
    try report(isCaptured: true)
    #expect(!harness.run("receipts", "show", Self.order.text).out.contains("Nobody knows"))
    #expect(harness.run("payments", "list").out == "No payment has an unknown outcome.\n")
  }

  @Test func `A payment that is not fetched any more is listed until an operator asks again`() throws {
    let harness = try Self.started()
    let payment = try #require(try harness.reader().details(object: Self.order).first).record.reference
    try harness.store(
      IngestLookup(
        AppProcessor("ios", "swedbank"), of: payment, asked: nil, fetches: 1, reports: [],
        nextAt: Lookup.never))
    let listed = harness.run("payments", "list").out
    #expect(listed.contains("not fetched any more"))
    let object = try #require(try harness.run("payments", "list", "--json").objects.first)
    #expect(object["what"] == "lookup_abandoned")
    #expect(object["next_call_at"] == .null)
    let shown = harness.run("receipts", "show", Self.order.text).out
    #expect(shown.contains("given up after a week: the processor gave no usable answer 1 time"))
    #expect(shown.contains("is not asked any more, because a week has passed. To ask"))
    #expect(!shown.contains("9999-"))
    let stats = harness.run("stats").out
    #expect(stats.contains("ios at swedbank: 1 payment not fetched any more.\n"))
    #expect(stats.contains("These payments have an unknown outcome: receiptctl payments list"))
    #expect(harness.run("payments", "fetch", Self.order.text).code == .done)
    #expect(harness.run("payments", "list").out == "No payment has an unknown outcome.\n")
  }

  @Test func `A list that is not complete says so, and how to get the rest`() throws {
    let harness = try Self.started()
    _ = try Self.capture(harness)
    var second = Self.report(.started, by: "jdo-3")
    second.key.id = "/psp/paymentorders/other"
    try harness.store(StorePayment(app: "ios", second))
    try harness.store(OrderCapture(app: "ios", CaptureOrder(key: second.key, user: "jdo-3")))
    for format in [[], ["--json"], ["--csv"]] {
      let first = harness.run(arguments: ["payments", "list", "--limit", "1"] + format)
      #expect(first.code == .partly)
      #expect(first.notes.contains("More: "))
      #expect(first.notes.contains("use --all"))
      #expect(!first.out.contains("/psp/paymentorders/other"))
      for option in [["--limit", "2"], ["--all"]] {
        let all = harness.run(arguments: ["payments", "list"] + option + format)
        #expect(all.code == .done)
        #expect(!all.notes.contains("More"))
        #expect(all.out.contains("/psp/paymentorders/other"))
      }
    }
    let last = try harness.run("payments", "list", "--limit", "1", "--json").objects.last
    #expect(last == ["compared": 1, "complete": false])
  }

  @Test func `A reversal does not appear as a replay in the history of its receipt`() throws {
    let harness = try Self.started()
    try harness.store(StorePayment(app: "ios", Self.report(.paid)))
    harness.clock.advance(.seconds(60))
    try harness.store(EndWaits())
    let id = try #require(try harness.reader().details(object: Self.order).first?.record.receipt?.id.text)
    try harness.deliver(id)
    harness.clock.advance(.seconds(60))
    try harness.store(StorePayment(app: "ios", Self.report(.reversed)))
    try #require(try harness.receipt(id).isReversal)
    let shown = harness.run("receipts", "show", id).out
    #expect(shown.contains("the destination is notified that the money went back"))
    #expect(!shown.contains("replayed"))
    try harness.deliver(id)
    #expect(!harness.run("receipts", "show", id).out.contains("replayed"))
  }

  @Test(.fileOnly) func aFetchIsPlannedAndAudited() throws {
    let harness = try Self.started()
    let ran = harness.run("payments", "fetch", Self.order.text, "--reason", "ticket 4711")
    #expect(ran.code == .done, "\(ran.notes)")
    #expect(ran.out == "1 payment is fetched when receiptd runs.\n")
    let object = try #require(try harness.run("receipts", "show", Self.order.text, "--json").objects.first)
    #expect(object["lookup"]?["due_at"] == "2026-11-20T10:00:00.000Z")
    let audit = try #require(try harness.run("audit", "list", "--json").objects.first)
    #expect(audit["subject"] == .string(Self.order.text))
    #expect(audit["reason"] == "ticket 4711")
    let refused = harness.run("payments", "fetch", "sub_1")
    #expect(refused.code == .refused)
    #expect(refused.notes.contains("the configuration has no key for the API of apps.ios.stripe"))
    #expect(harness.run("payments", "fetch", "unknown").code == .notFound)
  }

  @Test func theAuditOfAFetchForgetsThePaymentOfAnErasedUser() throws {
    let harness = try Self.started()
    harness.run("payments", "fetch", Self.order.text, "--reason", "about jdo-2")
    #expect(harness.run("users", "forget", "jdo-2", "--yes").code == .done)
    let audit = harness.run("audit", "list", "--json").out
    #expect(audit.contains("payments fetch"))
    #expect(!audit.contains(Self.order.text))
    #expect(!audit.contains("about jdo-2"))
  }

  @Test func listsFilterByProcessorAndShowItWhereThereAreSeveral() throws {
    let harness = try Self.started()
    try harness.store(StorePayment(app: "ios", Self.report(.paid)))
    let all = harness.run("receipts", "list").out
    #expect(all.contains("PROCESSOR"))
    #expect(try harness.run("receipts", "list", "--processor", "swedbank", "--json").objects.count == 1)
    let stripe = try harness.run("receipts", "list", "--processor", "stripe", "--json").objects
    #expect(stripe.map { $0["object_id"] } == ["sub_1"])
    let filter = ["--processor", "swedbank", "--user"]
    #expect(
      try harness.run(arguments: ["receipts", "list", "--json"] + filter + ["jdo-2"]).objects.count == 1)
    #expect(try harness.run(arguments: ["receipts", "list", "--json"] + filter + ["jdo-1"]).objects.isEmpty)
    #expect(try harness.run("events", "list", "--processor", "swedbank", "--json").objects.isEmpty)
    #expect(try harness.run("events", "list", "--processor", "stripe", "--json").objects.count == 1)
    #expect(harness.run("events", "list").out.contains("PROCESSOR"))
    #expect(try !OperatorHarness().run("receipts", "list").out.contains("PROCESSOR"))
    let dry = harness.run(
      "receipts", "cancel", "--state", "waiting", "--processor", "stripe", "--why", "a test", "--dry-run")
    #expect(dry.out.contains("No receipts to cancel."), "\(dry.out)\(dry.notes)")
  }

  @Test("`--object cs_…` finds the subscription that the session sold")
  func aSessionFindsItsSubscription() throws {
    let harness = try ReceiptListTests.everyState()
    #expect(
      harness.run("receipts", "show", "cs_sub_failed").out.contains("purchase  subscription sub_failed"))
    let advice = harness.run("receipts", "replay", "cs_sub_failed")
    #expect(advice.code == .notFound)
    let command = try #require(advice.notes.firstMatch(of: /receiptctl (receipts list --id \S+)/)?.1)
    for session in [
      command.split(separator: " ").map(String.init), ["receipts", "list", "--object", "cs_sub_failed"],
    ] {
      let found = try harness.run(arguments: session + ["--json"]).objects
      #expect(found.map { $0["object_id"] } == ["sub_failed"])
    }
    // With other filters, and for bulk commands.
    #expect(
      harness.run("receipts", "list", "--object", "cs_sub_failed", "--state", "delivered").out
        == "No receipts.\n")
    let replayed = harness.run(
      "receipts", "replay", "--state", "failed", "--object", "cs_sub_failed", "--yes", "--json")
    #expect(try replayed.objects.first?["replayed"] == 1)
  }
}
