// What becomes of captures whose answers are lost or unclear (check CA15).

import Domain
import Formats
import Partners
import Testing

private let post = "POST /v2/payments/capture"
private let lookup = "GET /v2/payments/token:\(afterpayToken)"

@Suite("Afterpay: lost answers")
struct AfterpayLostAnswerTests {
  @Test("CA15: After a lost answer, the payment is looked up at once; an approved one is captured")
  func lostAnswer() throws {
    let shop = try AfterpayShop.started()
    shop.reply(post, .noAnswer(isTimeout: false))
    shop.reply(lookup, .afterpay(200, afterpayPayment("APPROVED", "CAPTURED")))
    let before = shop.now
    let answer = try shop.capture()
    #expect(answer.status == 200)
    #expect(shop.now == before, "no pause")
    #expect(shop.called.suffix(2) == [post, lookup])
    #expect(shop.calls.last?.timeout == .seconds(20))
    #expect(shop.calls.last?.body == [])
  }

  @Test func `CA15: After a lost answer, a declined payment is declined`() throws {
    let shop = try AfterpayShop.started()
    shop.reply(post, .noAnswer(isTimeout: false))
    shop.reply(lookup, .afterpay(200, afterpayPayment("DECLINED", "CAPTURE_DECLINED")))
    #expect(try shop.capture().status == 402)
    #expect(shop.outcome()?.kind == .declined)
  }

  @Test func `CA15: If nothing was captured, the call is repeated after 2 s and another lookup`() throws {
    let shop = try AfterpayShop.started()
    shop.reply(post, .noAnswer(isTimeout: false), afterpayApproved)
    shop.reply(lookup, afterpayNotFound)
    let before = shop.now
    #expect(try shop.capture().status == 200)
    #expect(shop.called.suffix(4) == [post, lookup, lookup, post])
    #expect(shop.now == before + .seconds(2))
    let sent = shop.calls.filter { $0.method == "POST" && $0.target == "/v2/payments/capture" }
    #expect(sent.count == 2)
    #expect(sent.allSatisfy { $0 == sent[0] }, "the repeat is the same call")
  }

  @Test func `CA15: A refusal of a repeated call counts only if the lookup after it finds nothing`() throws {
    for (found, status) in [
      (BackendReply.afterpay(200, afterpayPayment("APPROVED", "CAPTURED")), 200), (afterpayNotFound, 402),
    ] {
      let shop = try AfterpayShop.started()
      shop.reply(post, .noAnswer(isTimeout: false), .afterpayError(402, "invalid_token"))
      shop.reply(lookup, afterpayNotFound, afterpayNotFound, found)
      #expect(try shop.capture().status == status)
      #expect(shop.called.suffix(5) == [post, lookup, lookup, post, lookup])
      #expect(shop.purchase()?.isPaid == (status == 200))
      #expect(shop.purchase()?.observations.contains(.closed) == (status == 402))
    }
  }

  @Test("CA15: A delayed call of an earlier order may capture the payment, so the next refusal is looked up")
  func delayedCall() throws {
    let shop = try AfterpayShop.started()
    let unconfirmed = BackendReply.afterpayError(412, "invalid_order_transaction_status")
    shop.reply(post, .noAnswer(isTimeout: true), unconfirmed, .afterpayError(402, "invalid_token"))
    let charged = BackendReply.afterpay(200, afterpayPayment("APPROVED", "CAPTURED"))
    shop.reply(lookup, afterpayNotFound, afterpayNotFound, afterpayNotFound, charged)
    let body = #"{"token":"\#(afterpayToken)","grantId":"GRG_1"}"#
    _ = try shop.post("capture", body)
    shop.work(for: .minutes(2))
    #expect(shop.outcome()?.kind == .unconfirmed)
    #expect(try shop.capture().status == 200)
    #expect(shop.purchase()?.isPaid == true)
  }

  @Test("CA15: Nothing that is unclear is a refusal or a success; the app waits 70 s, and the relay goes on")
  func unclear() throws {
    let unclear: [BackendReply] = [
      .page(500, ""), .page(402, "<html>"), .page(402, ""), .afterpay(402, [:]), .afterpay(201, [:]),
      .afterpay(201, afterpayPayment("APPROVED", "CAPTURED", token: "other")),
      .afterpay(402, afterpayPayment("APPROVED", "CAPTURED")),
      .afterpay(201, afterpayPayment("APPROVED", "AUTH_APPROVED")),
      .afterpay(402, afterpayPayment("DECLINED", "CAPTURE_DECLINED", token: "other")),
      .afterpay(500, afterpayPayment("DECLINED", "CAPTURE_DECLINED")),
      .afterpay(404, afterpayPayment("DECLINED", "X")),
      .afterpay(201, afterpayPayment("PENDING", "CAPTURED")), .page(412, "<html>"),
      .afterpay(422, ["message": "no code"]),
      .afterpayError(401, "unauthorized"), .afterpayError(404, "not_found"),
      .afterpayError(410, "gone"),
      .afterpayError(409, "conflict"), .afterpayError(500, "error"), .page(302, ""),
      .page(201, #"{"status":"APPROVED"#),
    ]
    for reply in unclear {
      let shop = try AfterpayShop.started()
      shop.reply(post, reply)
      // Of these, none proves that nothing was captured.
      shop.reply(
        lookup, .page(404, "<html>"), .afterpayError(404, "error"), .afterpayError(401, "unauthorized"),
        .page(200, ""))
      let before = shop.now
      let answer = try shop.capture()
      #expect(answer.status == 504, "\(reply)")
      #expect(answer.slug == "capture-outcome-unknown")
      #expect(shop.now.duration(since: before) == .seconds(70))
      #expect(shop.called.count { $0 == post } == 1, "\(reply)")
      #expect(shop.outcome() == nil)
      #expect(try shop.state()["state"] == "capture_pending")
      shop.reply(lookup, .afterpay(200, afterpayPayment("APPROVED", "CAPTURED")))
      shop.work(for: .hours(2))
      #expect(shop.outcome()?.kind == .captured, "\(reply)")
      #expect(try shop.capture().status == 200)
    }
  }

  @Test func `CA15: A call that never reached Afterpay is repeated after a lookup`() throws {
    let shop = try AfterpayShop.started()
    shop.reply(post, .unreachable, afterpayApproved)
    shop.reply(lookup, .unreachable, afterpayNotFound)
    #expect(try shop.capture().status == 200)
    #expect(shop.called.suffix(4) == [post, lookup, lookup, post])
  }

  @Test func `CA15: After a restart, the payment is looked up before anything is sent`() throws {
    for (found, calls) in [
      (BackendReply.afterpay(200, afterpayPayment("APPROVED", "CAPTURED")), [lookup]),
      (afterpayNotFound, [lookup, post]),
    ] {
      let shop = try AfterpayShop.started()
      shop.reply(post, afterpayApproved)
      shop.reply(lookup, found)
      let id = try shop.post("capture", #"{"token":"\#(afterpayToken)","grantId":"GRG_1"}"#)
      shop.restart()
      shop.work(for: .seconds(1))
      #expect(shop.answer(to: id) == nil, "its connection is gone")
      #expect(shop.called.dropFirst() == calls[...])
      #expect(shop.outcome()?.kind == .captured)
      #expect(try shop.capture().status == 200)
    }
  }

  @Test func `CA15: What another account answers proves nothing about the payment`() throws {
    let shop = try AfterpayShop.started()
    let facts = try #require(shop.purchase()?.payment)
    let key = try #require(shop.purchase()?.key)
    let payment = CapturablePayment(key: key, facts: facts, startedAt: shop.now, orderedAt: shop.now)
    let refused = BackendReply.afterpayError(402, "invalid_token")
    let own = shop.captures
    #expect(own.readLookup(afterpayNotFound, of: payment, now: shop.now) == .nothingCaptured(capturedBy: nil))
    if case .ended = own.readCapture(refused, of: payment, now: shop.now) {} else { Issue.record("refused") }
    for other in [
      try AfterpayShop { $0.merchantID = "600032001" }.captures,
      try AfterpayShop { $0.apiBase = "https://another.example" }.captures,
    ] {
      #expect(other.readLookup(afterpayNotFound, of: payment, now: shop.now) == .unclear(.credentials))
      #expect(other.readCapture(refused, of: payment, now: shop.now) == .unclear(.credentials))
    }
  }

  @Test func `CA15: A week of failures ends in an unknown outcome, not in a refusal`() throws {
    let shop = try AfterpayShop.started()
    shop.reply(post, .page(500, ""))
    shop.reply(lookup, .page(503, ""))
    #expect(try shop.capture().status == 504)
    shop.work(for: .days(6))
    #expect(shop.outcome() == nil)
    shop.work(for: .days(2))
    #expect(shop.outcome()?.kind == .abandoned)
    let answer = try shop.capture()
    #expect(answer.status == 504)
    #expect(answer.slug == "capture-outcome-unknown")
    #expect(try shop.state()["state"] == "abandoned")
    #expect(shop.purchase()?.observations == .started)
  }

  @Test("CA15: A day after the order, the call is not repeated any more: it might not be recognised")
  func notRepeatable() throws {
    let shop = try AfterpayShop.started()
    shop.reply(post, .noAnswer(isTimeout: false))
    shop.reply(lookup, .page(503, ""))
    #expect(try shop.capture().status == 504)
    shop.work(for: .hours(25))
    #expect(shop.called.count { $0 == post } == 1)
    shop.reply(lookup, afterpayNotFound)
    shop.work(for: .hours(2))
    #expect(shop.called.count { $0 == post } == 1)
    #expect(shop.outcome()?.kind == .refused)
    let answer = try shop.capture()
    #expect(answer.status == 410)
    #expect(answer.slug == "checkout-expired")
    #expect(try shop.state()["state"] == "expired")
  }
}
