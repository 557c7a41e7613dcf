import Domain
import Formats
import SQLiteStore
import Store
import Terminal
import TestSupport
import Testing

@Suite(.everyPlace) struct ChangeTests {
  @Test func aReceiptIsCancelledWithAReason() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1")
    let ran = harness.run("receipts", "cancel", id, "--why", "test purchase", "--json")
    #expect(ran.code == .done)
    #expect(ran.out == "{\"cancelled\":1,\"ids\":[\"\(id)\"]}\n")
    let receipt = try harness.receipt(id)
    #expect(receipt.state == .cancelled)
    #expect(receipt.reason == .byOperator)
    #expect(receipt.note == "test purchase")
    #expect(harness.run("receipts", "show", id).out.contains("test purchase"))
    let again = harness.run("receipts", "cancel", id, "--why", "again")
    #expect(again.code == .refused)
    #expect(again.notes.contains("is cancelled already"))
  }

  @Test func severalAreAskedAbout() throws {
    let harness = try OperatorHarness()
    let ids = [try harness.purchase("sub_1"), try harness.purchase("sub_2")]
    #expect(harness.run("receipts", "cancel", ids[0], ids[1], "--why", "w").code == .refused)
    #expect(harness.run("receipts", "cancel", ids[0], ids[1], "--why", "w", "--dry-run").code == .done)
    #expect(try harness.receipt(ids[0]).state == .pending)
    try harness.deliver(ids[1])
    let ran = harness.run("receipts", "cancel", ids[0], ids[1], ids[0], "--why", "w", "--yes")
    #expect(ran.code == .partly)
    #expect(ran.out == "Cancelled 1 receipt.\n")
    #expect(ran.notes.contains("\(ids[1]) is delivered already and cannot be recalled"))
    #expect(harness.run("receipts", "cancel", ids[0], "rcp_none", "--why", "w", "--yes").code == .notFound)
  }

  @Test func whatLacksAUserIsCompleted() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1", user: nil)
    let ran = harness.run("receipts", "complete", id, "--user", "jdo-1", "--json")
    #expect(ran.code == .done)
    let object = try #require(try ran.objects.first)
    #expect(object["state"] == "pending")
    #expect(object["user_id"] == "jdo-1")
    #expect(object["price_id"] == "price_1")
    // The body has the format of the configured destination.
    let body = String(decoding: try #require(try harness.receipt(id).body), as: UTF8.self)
    #expect(body.contains("\"user_id\":\"jdo-1\""))
    #expect(body.contains("\"stripe_object_id\":\"sub_1\""))
  }

  @Test func theUsersContextOfThatPriceIsFoundAndShown() throws {
    let harness = try OperatorHarness()
    let context = try harness.context("Zml0dGluZw==", user: "jdo-7")
    let id = try harness.purchase("sub_1", user: nil)
    let dry = harness.run("receipts", "complete", id, "--user", "jdo-7", "--dry-run")
    #expect(dry.code == .done)
    #expect(dry.out.contains("  price    price_1\n"))
    #expect(dry.out.contains("  context  \(context)"))
    #expect(dry.out.contains("guessed"))
    #expect(try harness.receipt(id).state == .waiting)
    let ran = harness.run("receipts", "complete", id, "--user", "jdo-7")
    #expect(ran.code == .done)
    #expect(ran.out.hasPrefix("  user     jdo-7\n"))
    #expect(ran.out.contains("  context  \(context)"))
    let body = String(decoding: try #require(try harness.receipt(id).body), as: UTF8.self)
    #expect(body.contains("\"ply_context\":\"Zml0dGluZw==\""))
  }

  @Test func aPriceAloneIsEnoughWhereTheUserIsKnown() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1", price: nil)
    let lacking = harness.run("receipts", "complete", id)
    #expect(lacking.code == .refused)
    #expect(lacking.notes.contains("lacks its price: receiptctl receipts complete \(id) --price PRICE"))
    #expect(harness.run("receipts", "complete", id, "--price", "price_9").code == .done)
    #expect(try harness.receipt(id).priceID == "price_9")
  }

  @Test func `What is never a user is none by an operator's word either`() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1", user: nil)
    let context = harness.run("receipts", "complete", id, "--user", " CTX_01kapj3z5yv4gq8t2m6n9r7xwb")
    #expect(context.code == .usage)
    #expect(context.notes.contains("--context"))
    let placeholder = harness.run("receipts", "complete", id, "--user", "Undefined")
    #expect(placeholder.code == .refused)
    #expect(placeholder.notes.contains("user_ids.allow"))
    #expect(harness.run("receipts", "complete", id, "--user", " jdo-1 ").code == .done)
    #expect(try harness.reader().receipt(id: ReceiptID(id))?.purchase.userID == "jdo-1")
  }

  @Test func whatIsKnownIsReplacedByForceOnlyAndWrittenDown() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1")
    try harness.fail(id)
    for (option, value) in [("--price", "price_TYPO"), ("--user", "ann")] {
      let ran = harness.run("receipts", "complete", id, option, value)
      #expect(ran.code == .refused)
      #expect(
        ran.notes.contains(option == "--price" ? "has the price price_1 already" : "has the user jdo-1"))
    }
    #expect(try harness.receipt(id).state == .failed)
    let forced = harness.run("receipts", "complete", id, "--price", "price_2", "--user", "zed", "--force")
    #expect(forced.code == .done)
    #expect(try harness.receipt(id).priceID == "price_2")
    let details = try #require(try harness.reader().audit(AuditFilter(), limit: 1).first).entry.details
    #expect(details.contains("\"price_before\":\"price_1\",\"price\":\"price_2\",\"user_replaced\":true"))
    #expect(!details.contains("zed"))
    #expect(!details.contains("jdo-1"))
  }

  @Test(
    "Completing or correcting one receipt waits for its outcome, if asked", .fileOnly,
    arguments: [Delivery.Decision.delivered(importID: nil), .failed(.status(422))])
  func waitsForOne(decision: Delivery.Decision) throws {
    let harness = try OperatorHarness()
    let (failed, sent) = (try harness.purchase("sub_1"), try harness.purchase("sub_2"))
    try harness.fail(failed)
    try harness.deliver(sent)
    let (path, clock) = (harness.databasePath, harness.clock)
    for words in [
      ["complete", failed, "--price", "price_2", "--force"],
      ["correct", sent, "--price", "price_2", "--why", "w", "--yes"],
    ] {
      let ran = harness.run(
        arguments: ["receipts"] + words + ["--wait"],
        pause: { _ in
          var filter = ReceiptFilter()
          filter.state = .pending
          guard let writer = try? StoreWriter(path: path, role: .guest, rules: [:]),
            let id = try? StoreReader(path: path).receipts(filter, limit: 1).first?.receipt?.id
          else { return }
          _ = try? writer.apply(
            RecordAttempt(of: id, app: "ios", report: AttemptReport(at: clock.now), decision: decision),
            now: clock.now)
        })
      let isSent = decision == .delivered(importID: nil)
      #expect(ran.code == (isSent ? .done : .partly))
      #expect(ran.out.contains("due now."))
      #expect(ran.notes.contains(isSent ? " is delivered." : " is failed (http_422)."))
    }
    let stopped = harness.run("receipts", "complete", failed, "--price", "price_3", "--force", "--wait")
    #expect(stopped.code == (decision == .delivered(importID: nil) ? .refused : .tryAgain))
  }

  @Test func aDeliveredReceiptIsCorrectedByASecondOne() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1")
    let early = harness.run("receipts", "correct", id, "--user", "zed", "--why", "w", "--yes")
    #expect(early.code == .refused)
    try harness.deliver(id)
    let unsure = harness.run("receipts", "correct", id, "--user", "zed", "--why", "other account")
    #expect(unsure.code == .refused)
    #expect(unsure.out.contains("  user     zed\n"))
    #expect(unsure.notes.contains("does not document what it does with a second receipt"))
    #expect(unsure.notes.contains("nothing was changed"))
    let ran = harness.run(
      "receipts", "correct", id, "--user", "zed", "--why", "other account", "--yes", "--json")
    #expect(ran.code == .done)
    let made = try #require(try ran.objects.first)
    #expect(made["corrects"] == .string(id))
    #expect(made["user_id"] == "zed")
    #expect(made["state"] == "pending")
    let correction = try #require(made["id"]?.stringValue)
    #expect(harness.run("receipts", "show", id).out.contains("by \(correction), which counts"))
    #expect(harness.run("receipts", "show", correction).out.contains("corrects  \(id)"))
    let entry = try #require(try harness.reader().audit(AuditFilter(), limit: 1).first).entry
    #expect(entry.action == "receipts correct")
    #expect(entry.subject == id)
    #expect(entry.reason == "other account")
    #expect(!entry.details.contains("zed"))
    let again = harness.run("receipts", "correct", id, "--user", "ann", "--why", "w", "--yes")
    #expect(again.code == .refused)
    #expect(again.notes.contains("is corrected by \(correction) already"))
    #expect(harness.run("receipts", "replay", id, "--force", "--yes").code == .refused)
  }

  @Test func aCorrectionNeedsAReasonAndAValue() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1")
    try harness.deliver(id)
    #expect(harness.run("receipts", "correct", id, "--user", "zed", "--yes").code == .usage)
    #expect(harness.run("receipts", "correct", id, "--why", "w", "--yes").code == .usage)
    let other = try harness.purchase("sub_2")
    let both = harness.run("receipts", "correct", id, other, "--context", "ctx_1", "--why", "w", "--yes")
    #expect(both.code == .usage)
    let same = harness.run("receipts", "correct", id, "--price", "price_1", "--why", "w", "--yes")
    #expect(same.notes.contains("says that already"))
  }

  @Test func severalAreCorrectedAtOnce() throws {
    let harness = try OperatorHarness()
    let ids = [try harness.purchase("sub_1"), try harness.purchase("sub_2"), try harness.purchase("sub_3")]
    for id in ids.prefix(2) { try harness.deliver(id) }
    let ran = harness.run(
      "receipts", "correct", ids[0], ids[1], ids[2], "--price", "price_9", "--why", "wrong plan", "--yes")
    #expect(ran.code == .partly)
    #expect(ran.out == "Corrected 2 receipts.\n")
    #expect(ran.notes.contains("\(ids[2]) is pending already"))
    let job = harness.run(
      "receipts", "correct", "--state", "delivered", "--price", "price_8", "--why", "again", "--yes")
    #expect(job.code == .refused)
    #expect(job.notes.contains("is corrected by another receipt"))
  }

  @Test func aContextMustBeFreeAndTheUsersOwn() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1", price: nil)
    let others = try harness.context("b3RoZXI=", user: "ann")
    let ran = harness.run("receipts", "complete", id, "--price", "price_9", "--context", others)
    #expect(ran.code == .refused)
    #expect(ran.notes.contains("cannot have that context"))
    #expect(try harness.receipt(id).state == .waiting)
  }

  @Test func whatIsUnderWayOrUnknownIsLeft() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1")
    let pending = harness.run("receipts", "complete", id, "--user", "ann")
    #expect(pending.code == .refused)
    #expect(pending.notes.contains("is pending already"))
    #expect(harness.run("receipts", "complete", "rcp_none", "--user", "ann").code == .notFound)
  }
}
