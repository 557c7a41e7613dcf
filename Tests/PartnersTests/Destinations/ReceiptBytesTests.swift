// The exact bytes that Purchasely receives: fixed once, the same on every attempt (contract: Delivery).

import Domain
import Formats
import Partners
import TestSupport
import Testing

private func destination(forwardsContext: Bool = true) -> PurchaselyDestination {
  PurchaselyDestination(
    PurchaselySettings(apiKey: "key-1", forwardsContext: forwardsContext, userAgent: "receiptd/1.2.3"))
}

private func body(
  user: UserID = "jdo-1", type: PurchaseKey.ObjectType = .subscription, id: ObjectID = "sub_1",
  price: PriceID = "price_1", context: String? = nil, forwardsContext: Bool = true
) -> String {
  let content = ReceiptContent(
    userID: user, key: PurchaseKey(type: type, id: id), priceID: price, context: context)
  return String(decoding: destination(forwardsContext: forwardsContext).body(for: content), as: UTF8.self)
}

@Suite("The bytes of a receipt")
struct ReceiptBytesTests {
  @Test func `A receipt with a context is these bytes`() {
    #expect(
      body(context: "e30=")
        == #"{"user_id":"jdo-1","stripe_object_type":"subscription","stripe_object_id":"sub_1","#
        + #""stripe_price_id":"price_1","ply_context":"e30="}"#)
  }

  @Test func `Without a context the member is left out`() {
    let bare =
      #"{"user_id":"jdo-1","stripe_object_type":"checkout_session","stripe_object_id":"cs_1","#
      + #""stripe_price_id":"price_1"}"#
    #expect(body(type: .checkoutSession, id: "cs_1") == bare)
    #expect(body(type: .checkoutSession, id: "cs_1", context: "e30=", forwardsContext: false) == bare)
  }

  @Test func `The store product of the price is named, and that of no other price`() {
    let destination = PurchaselyDestination(
      PurchaselySettings(apiKey: "k", storeProducts: ["price_1": "com.example.gold"], userAgent: "receiptd/1")
    )
    func body(_ price: PriceID) -> String {
      let key = PurchaseKey(type: .subscription, id: "sub_1")
      let content = ReceiptContent(userID: "jdo-1", key: key, priceID: price, context: "e30=")
      return String(decoding: destination.body(for: content), as: UTF8.self)
    }
    #expect(
      body("price_1")
        == #"{"user_id":"jdo-1","stripe_object_type":"subscription","stripe_object_id":"sub_1","#
        + #""stripe_price_id":"price_1","store_product_id":"com.example.gold","ply_context":"e30="}"#)
    #expect(!body("price_2").contains("store_product_id"))
  }

  @Test(arguments: [
    "usuário-Ω-日本-😀", "quote\"back\\slash", "line\nreturn\rtab\t", "\u{0}\u{1}\u{1F}\u{7F}", "a/b+c=", "",
    "\u{2028}\u{2029}\u{FEFF}", "e\u{301}", "👩‍👩‍👧‍👦", "</script>", "{\"user_id\":\"x\"}",
  ])
  func `Every text is sent unchanged`(text: String) throws {
    let body = body(user: UserID(text), id: ObjectID(text), price: PriceID(text), context: text)
    let written = try JSONValue(parsing: Array(body.utf8))
    for name in ["user_id", "stripe_object_id", "stripe_price_id", "ply_context"] {
      let member = try #require(written[name]?.stringValue)
      #expect(Array(member.utf8) == Array(text.utf8), "\(name)")
    }
  }

  @Test func `Only necessary characters are escaped, in the shortest way`() {
    #expect(body(user: "\"\\/\n\u{1}é😀").contains(#""user_id":"\"\\/\n\u0001é😀","#))
  }

  @Test func `The same receipt gives the same bytes every time (R3)`() {
    let first = body(context: "e30=")
    #expect((0..<100).allSatisfy { _ in body(context: "e30=") == first })
  }

  @Test func `The headers carry the key, the platform and the user agent`() {
    let headers = destination().headers(
      for: OutgoingReceipt(id: "rcp_1", processor: "stripe", body: [], sentAt: Timestamp(unixSeconds: 0))
    ).map { "\($0.name): \($0.value)" }
    #expect(
      headers == [
        "Content-Type: application/json", "X-API-KEY: key-1", "X-PLATFORM-TYPE: STRIPE",
        "User-Agent: receiptd/1.2.3",
      ])
    #expect(destination().url == "https://s2s.purchasely.io/receipts")
  }
}
