// How apps capture payments with Afterpay and read their states (checks CA11–CA20).

import Domain
import Formats
import Partners
import Testing

private let post = "POST /v2/payments/capture"

/// A Payment object.
func afterpayPayment(_ status: String, _ state: String, token: String = afterpayToken) -> JSONValue {
  [
    "id": "12345678", "token": .string(token), "status": .string(status), "paymentState": .string(state),
    "originalAmount": ["amount": "59.99", "currency": "USD"], "refunds": [],
  ]
}

let afterpayApproved: BackendReply = .afterpay(201, afterpayPayment("APPROVED", "CAPTURED"))
let afterpayNotFound: BackendReply = .afterpayError(404, "not_found")

@Suite("Afterpay: captures")
struct AfterpayCaptureTests {
  @Test("CA11: An approved capture is answered with its status and id, and the purchase is paid and captured")
  func approvedCapture() throws {
    let shop = try AfterpayShop.started()
    shop.reply(post, afterpayApproved)
    let answer = try shop.capture()
    #expect(answer.status == 200)
    #expect(answer.type == "application/json")
    let expected = [
      "amount=59.99", "currency=USD", "id=12345678", "state=captured", "status=APPROVED",
      "token=\(afterpayToken)",
    ]
    #expect(textMembers(answer.json) == expected)
    #expect(shop.called.suffix(1) == [post])
    #expect(try textMembers(shop.lastBody()) == ["merchantReference=ref1", "token=\(afterpayToken)"])
    #expect(shop.calls.last?.timeout == .seconds(70))
    #expect(shop.grants == ["GRG_1"])
    let purchase = try #require(shop.purchase())
    #expect(purchase.observations == [.started, .paid])
    #expect(purchase.payment?.isCaptured == true)
    #expect(try textMembers(shop.state().json) == expected)
  }

  @Test func `CA11: Afterpay's published example is an approved capture`() throws {
    let shop = try AfterpayShop.started()
    let example = try #require(afterpayExamples?["capture"]?["approved"]?["body"])
    shop.reply(post, .afterpay(201, example))
    #expect(try shop.capture()["amount"] == "50.00", "what was charged, not what was asked for")
    #expect(shop.outcome()?.kind == .captured)
  }

  @Test(
    "CA11: The capture of an express checkout repeats the amount; no grant is needed without Cash App Pay")
  func express() throws {
    let shop = try AfterpayShop()
    _ = try shop.start(#"{"email":"a@b.example","price":"gold-yearly","mode":"express"}"#)
    shop.reply(post, afterpayApproved)
    #expect(try shop.capture(grant: nil).status == 200)
    #expect(try textMembers(shop.lastBody()["amount"]) == ["amount=59.99", "currency=USD"])
    #expect(shop.grants == [nil])
  }

  @Test func `CA12: A repeated capture gets the same answer, and Afterpay is not called again`() throws {
    let shop = try AfterpayShop.started()
    shop.reply(post, afterpayApproved)
    let first = try shop.capture()
    let calls = shop.calls.count
    #expect(try shop.capture(grant: "GRG_2").json == first.json)
    shop.now = shop.now + .days(3)
    #expect(try shop.capture().json == first.json)
    #expect(shop.calls.count == calls)
    #expect(shop.grants.count == 1)
  }

  @Test func `CA12: Concurrent captures share one call and get the same answer`() throws {
    let shop = try AfterpayShop.started()
    shop.reply(post, afterpayApproved)
    let body = #"{"token":"\#(afterpayToken)","grantId":"GRG_1"}"#
    let ids = try (0..<3).map { _ in try shop.post("capture", body) }
    #expect(ids.allSatisfy { shop.answer(to: $0) == nil })
    shop.work(for: .seconds(1))
    let answers = try ids.map { try #require(shop.answer(to: $0)) }
    #expect(answers.allSatisfy { $0.status == 200 })
    #expect(answers.allSatisfy { $0.json == answers[0].json })
    #expect(shop.called.count { $0 == post } == 1)
  }

  @Test("CA13: A declined capture is answered 402, whatever status it came with, and nothing is paid")
  func declined() throws {
    let example = try #require(afterpayExamples?["capture"]?["declined"]?["body"])
    for (status, body) in [
      (402, example), (201, example), (402, afterpayPayment("DECLINED", "CAPTURE_DECLINED")),
      (201, afterpayPayment("DECLINED", "CAPTURE_DECLINED")),
      (402, afterpayPayment("DECLINED", "CAPTURE_DECLINED").adding("errorCode", "payment_declined")),
    ] {
      let shop = try AfterpayShop.started()
      shop.reply(post, .afterpay(status, body))
      let answer = try shop.capture()
      #expect(answer.status == 402)
      #expect(answer.slug == "payment-declined")
      #expect(answer["state"] == "declined")
      #expect(shop.outcome()?.kind == .declined)
      #expect(shop.purchase()?.isPaid == false)
      #expect(shop.purchase()?.observations == [.started, .closed])
      #expect(try shop.state()["state"] == "declined")
      shop.work(for: .days(8))
      #expect(try shop.capture().json == answer.json)
      #expect(shop.called.count == 2, "a declined capture is not repeated")
    }
  }

  @Test func `CA14: Documented refusals are mapped and not retried`() throws {
    for (status, code, slug, state, answered) in [
      (402, "invalid_token", "payment-refused", "refused", 402),
      (422, "invalid_object", "payment-refused", "refused", 422),
      (412, "invalid_order_transaction_status", "payment-not-confirmed", "started", 412),
      // The relay's fault, not the app's.
      (400, "invalid_json", "payment-refused", "refused", 502),
      (405, "method_not_allowed", "payment-refused", "refused", 502),
      (415, "unsupported_media_type", "payment-refused", "refused", 502),
    ] {
      let shop = try AfterpayShop.started()
      shop.reply(post, .afterpayError(status, code, "said Afterpay"))
      let answer = try shop.capture()
      #expect(answer.status == answered)
      #expect(answer.slug == slug)
      #expect(answer["errorCode"] == code)
      #expect(answer["message"] == "said Afterpay")
      #expect(answer["state"] == state)
      #expect(try shop.state()["state"] == state)
      shop.work(for: .days(8))
      #expect(shop.called.count == 2)
      #expect(shop.purchase()?.isPaid == false)
    }
  }

  @Test func `CA14: A payment that the customer had not confirmed may be captured again`() throws {
    let shop = try AfterpayShop.started()
    shop.reply(post, .afterpayError(412, "invalid_order_transaction_status"), afterpayApproved)
    #expect(try shop.capture().status == 412)
    #expect(try shop.capture().status == 200)
    #expect(shop.grants.count == 2)
    #expect(shop.purchase()?.isPaid == true)
  }
}
