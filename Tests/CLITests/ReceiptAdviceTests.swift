// What `receipts show` advises for receipts that need more than a replay: each command that it prints works,
// and it prints none that is refused.

import Domain
import Formats
import Store
import Terminal
import Testing

@Suite(.everyPlace) struct ReceiptAdviceTests {
  /// A purchase of the harness after 15 days: longer than the join waits for a payment.
  private static func afterItsWaits(
    _ observations: Observations, named: Bool = true
  ) throws -> (harness: OperatorHarness, id: String) {
    let harness = try OperatorHarness()
    let report = PurchaseReport(
      key: PurchaseKey(
        processor: "stripe", type: named ? "subscription" : "checkout_session",
        id: named ? "sub_1" : "cs_1"),
      sessionID: "cs_1", observations: observations, clientReference: "jdo-1", prices: ["price_1"],
      happenedAt: harness.clock.now)
    _ = try harness.writer.apply(
      IngestEvent(
        app: "ios", processor: "stripe", eventID: "evt_1", type: "checkout.session.completed", body: [1],
        content: .report(report, keep: true)), now: harness.clock.now)
    harness.clock.advance(.days(15))
    _ = try harness.writer.apply(EndWaits(), now: harness.clock.now)
    let id = try #require(try harness.reader().receipts(ReceiptFilter(), limit: 1).first?.receipt?.id.text)
    return (harness, id)
  }

  @Test func aReceiptWhosePaymentNeverCameIsSentOnlyByItsID() throws {
    let (harness, id) = try Self.afterItsWaits(.promised)
    #expect(try harness.receipt(id).reason == .payment)
    let shown = harness.run("receipts", "show", id).out
    #expect(
      shown.hasSuffix(
        "The payment never came.\nIf it comes, the receipt continues automatically. To send it although it "
          + "is unpaid: receiptctl receipts replay \(id)\n"), "\(shown)")
    let all = harness.run("receipts", "replay", "--state", "failed", "--yes")
    #expect(all.code == .refused, "\(all)")
    #expect(
      all.notes.contains(
        "1 receipt left as they are: each is unpaid; to send it although it is unpaid: receiptctl receipts "
          + "replay ID"), "\(all)")
    #expect(try harness.receipt(id).state == .failed)
    #expect(harness.run("receipts", "replay", id, "--yes").code == .done)
    #expect(try harness.receipt(id).state == .pending)
  }

  @Test func aReceiptOfAPausedAppNamesThePauseAndNotAReplayThatWaitsToo() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1")
    #expect(harness.run("apps", "pause", "ios", "--why", "wrong prices").code == .done)
    let shown = harness.run("receipts", "show", id).out
    #expect(shown.contains("Deliveries of this app were paused by ann "), "\(shown)")
    #expect(shown.contains(": wrong prices.\n"), "\(shown)")
    #expect(shown.contains("to resume them now: receiptctl apps resume ios"), "\(shown)")
    #expect(shown.contains("first cancel those of a user who is to be erased"), "\(shown)")
    #expect(!shown.contains("receipts replay"), "\(shown)")
  }

  @Test func aDeliveredReceiptWithAnotherNameSaysHowToCorrectIt() throws {
    let harness = try OperatorHarness()
    let report = PurchaseReport(
      key: PurchaseKey(processor: "stripe", type: PurchaseKey.ObjectType("subscription"), id: "sub_1"),
      observations: .paid,
      names: [("anna", Purchase.UserSource.ownKey), ("bert", .metadata)].map {
        NamedUser(id: UserID($0.0), source: $0.1, standing: .counts)
      }, prices: ["price_1"], happenedAt: harness.clock.now)
    try harness.store(
      IngestEvent(
        app: "ios", processor: "stripe", eventID: "evt_1", type: "checkout.session.completed", body: [1],
        content: .report(report, keep: true)))
    let id = try #require(try harness.reader().receipts(ReceiptFilter(), limit: 1).first?.receipt?.id.text)
    try harness.deliver(id)
    let shown = harness.run("receipts", "show", id).out
    #expect(
      shown.contains("If 'anna' is wrong: receiptctl receipts correct \(id) --user bert --why TEXT"),
      "\(shown)")
    #expect(!shown.contains("there is nothing to do"), "\(shown)")
  }

  @Test func aReceiptWithoutItsSubscriptionHasNoCommand() throws {
    let (harness, id) = try Self.afterItsWaits([.paid, .objectExpected], named: false)
    #expect(try harness.receipt(id).reason == .subscription)
    let shown = harness.run("receipts", "show", id).out
    #expect(
      shown.contains("It is about a subscription that has no id yet; it comes with the payment."), "\(shown)")
    #expect(!shown.contains("receiptctl receipts"), "\(shown)")
    for verb in [["replay", id, "--yes"], ["complete", id, "--price", "price_1"]] {
      #expect(harness.run(arguments: ["receipts"] + verb).code == .refused, "\(verb)")
    }
  }

  @Test func aReceiptThatWasCancelledAndThenErasedHasNoCommand() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1")
    #expect(harness.run("receipts", "cancel", id, "--why", "a test").code == .done)
    #expect(harness.run("receipts", "show", id).out.contains("To deliver it after all: receiptctl receipts"))
    #expect(harness.run("users", "forget", "jdo-1", "--yes").code == .done)
    let shown = harness.run("receipts", "show", id).out
    #expect(
      shown.hasSuffix(
        "An operator cancelled it.\nIts user's data was erased, so it cannot be sent.\n"), "\(shown)")
    #expect(harness.run("receipts", "replay", id, "--yes").code == .refused)
  }

  @Test func `A receipt that is due is held back by the app's rate, and one that is not can be sent now`()
    throws
  {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1")
    try harness.configure { $0.replacing("join:", with: "delivery: { rate: 0.5 }, join:") }
    let due = harness.run("receipts", "show", id).out
    #expect(
      due.hasSuffix("It is due, and waits for its turn; apps.ios.delivery.rate (0.5/s) may hold it back.\n"))
    #expect(!due.contains("receipts replay"))
    let later = harness.clock.now + .hours(1)
    try harness.attempt(id, status: 503, .retry(at: later, spent: true))
    let waiting = harness.run("receipts", "show", id).out
    #expect(waiting.contains("when it is due. To send it now: receiptctl receipts replay \(id)"))
  }

  @Test func aCancelledReceiptWithoutAPriceNeedsThePrice() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1", price: nil)
    #expect(harness.run("receipts", "cancel", id, "--why", "a test").code == .done)
    let command = "receiptctl receipts complete \(id) --price PRICE"
    #expect(harness.run("receipts", "show", id).out.contains("Supply the price: \(command)"))
    #expect(harness.run("receipts", "complete", id, "--price", "price_1").code == .done)
  }

  @Test func aReceiptWithoutADestinationSaysWhatToConfigure() throws {
    let harness = try OperatorHarness()
    // Its user is one of the app, who has a receipt.
    _ = try harness.purchase("sub_0")
    let id = try harness.purchase("sub_1", processor: "gone")
    func shown() -> String { harness.run("receipts", "show", id).out }
    let remedy = "configure the destination that apps.ios.gone.deliver_to names, then run: receiptctl reload"
    #expect(shown().contains("The configuration has no destination for it."))
    #expect(shown().contains(remedy))
    #expect(!shown().contains("receiptd sends it when it is due"))
    #expect(!shown().contains("receipts replay"))
    for choice in [[id], ["--state", "waiting"]] {
      let refused = harness.run(arguments: ["receipts", "replay", "--yes"] + choice)
      #expect(refused.code == .refused, "\(refused)")
      #expect(refused.notes.contains("has no destination; configure the one that deliver_to names"))
    }
    // A reload does not continue it any more.
    #expect(harness.run("receipts", "cancel", id, "--why", "a test").code == .done)
    #expect(shown().contains("An operator cancelled it."))
    #expect(shown().contains(remedy))
    #expect(shown().contains("To send it after that: receiptctl receipts replay \(id)"))
    #expect(harness.run("receipts", "replay", id, "--yes").notes.contains("has no destination"))
  }
}
