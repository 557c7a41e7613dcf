// A context and its form as `ply_context`.

import CheckoutKit
import Foundation
import Testing

@Suite struct WebCheckoutContextTests {
  static let full = WebCheckoutContext(
    presentationID: "pres_1", placementID: "on/boarding", abTestID: "ab_1", abTestVariantID: "é",
    stripePriceID: "price_1", stripeObjectType: .checkoutSession, originalPlatform: "TVOS")
  static let least = WebCheckoutContext(stripePriceID: "stripe.monthly_premium_7")

  static func members(_ blob: String) throws -> [String: String] {
    let json = try #require(Data(base64Encoded: blob))
    return try #require(JSONSerialization.jsonObject(with: json) as? [String: String])
  }

  @Test func `PL02: a context becomes base64 of its seven keys and is read as the same one`() throws {
    #expect(
      try Self.members(Self.full.plyContext()) == [
        "presentation_id": "pres_1", "placement_id": "on/boarding", "ab_test_id": "ab_1",
        "ab_test_variant_id": "é", "stripe_price_id": "price_1", "stripe_object_type": "checkout_session",
        "original_platform": "TVOS",
      ])
    for context in [Self.full, Self.least] {
      #expect(try WebCheckoutContext(plyContext: context.plyContext()) == context)
    }
  }

  @Test func `PL02: nil members are left out, and the default platform is IOS`() throws {
    #expect(
      try Self.members(Self.least.plyContext()) == [
        "stripe_price_id": "stripe.monthly_premium_7", "stripe_object_type": "subscription",
        "original_platform": "IOS",
      ])
  }

  @Test func `PL02: the same context gives the same bytes, sorted and without escaped slashes`() throws {
    let json = try #require(Data(base64Encoded: Self.full.plyContext()))
    let text = String(decoding: json, as: UTF8.self)
    #expect(
      text == #"{"ab_test_id":"ab_1","ab_test_variant_id":"é","original_platform":"TVOS","#
        + #""placement_id":"on/boarding","presentation_id":"pres_1","stripe_object_type":"checkout_session","#
        + #""stripe_price_id":"price_1"}"#)
    for _ in 0..<20 { #expect(try Self.full.plyContext() == json.base64EncodedString()) }
  }

  @Test func `PL02: base64 is read as the relay reads it: either alphabet, padded or not`() throws {
    // These characters make both alphabets differ.
    let context = WebCheckoutContext(presentationID: "???>>>~~~", stripePriceID: "p", originalPlatform: "ÿÿÿ")
    let standard = try context.plyContext()
    let safe = standard.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
    #expect(safe != standard)
    for text in [standard, safe, standard.trimmingCharacters(in: ["="]), safe.trimmingCharacters(in: ["="])] {
      #expect(try WebCheckoutContext(plyContext: text) == context)
    }
    let null =
      Data(#"{"presentation_id":null,"stripe_price_id":"p","stripe_object_type":"subscription","#.utf8)
      + Data(#""original_platform":"IOS","later":1}"#.utf8)
    let read = try WebCheckoutContext(plyContext: null.base64EncodedString())
    #expect(read == WebCheckoutContext(stripePriceID: "p"))
  }

  @Test(arguments: [
    "", "=", "e", "eyJh\n", "e yJh", "eyJh=", "eyJhIg=", "eyJhIg===", "ey*h", "é",
    Data("{}".utf8).base64EncodedString(), Data("[]".utf8).base64EncodedString(), "AAAA",
    Data(#"{"stripe_price_id":1,"stripe_object_type":"a","original_platform":"b"}"#.utf8)
      .base64EncodedString(),
  ])
  func `Base64 that is not a context is refused`(_ text: String) {
    #expect(throws: RelayError.self) { try WebCheckoutContext(plyContext: text) }
  }

  @Test func `A context that is too long for the relay is not written`() {
    let long = WebCheckoutContext(stripePriceID: String(repeating: "x", count: 17_000))
    #expect(throws: RelayError.self) { try long.plyContext() }
  }

  @Test("PL03: Purchasely's built-in attributes become a context; values that are not strings are ignored")
  func readsAttributes() {
    let attributes: [String: Any] = [
      "ply_last_presentation_displayed": "pres_9", "ply_last_placement_displayed": "home",
      "ply_latest_abtest_id": "ab_9", "ply_latest_abtest_variant_id": "v_9", "ply_sessions_count": 7,
      "other": "x",
    ]
    #expect(
      WebCheckoutContext(stripePriceID: "p", attributes: attributes)
        == WebCheckoutContext(
          presentationID: "pres_9", placementID: "home", abTestID: "ab_9", abTestVariantID: "v_9",
          stripePriceID: "p"))
    let odd: [String: Any] = [
      "ply_last_presentation_displayed": 1, "ply_last_placement_displayed": Date(),
      "ply_latest_abtest_id": ["ab"], "ply_latest_abtest_variant_id": NSNull(),
    ]
    #expect(WebCheckoutContext(stripePriceID: "p", attributes: odd) == WebCheckoutContext(stripePriceID: "p"))
    #expect(WebCheckoutContext(stripePriceID: "p", attributes: [:]) == WebCheckoutContext(stripePriceID: "p"))
  }

  @Test(
    "PL03: The built-in attributes become the context of all kits",
    arguments: try KitTables.relay().contexts)
  func makesContexts(_ row: KitTables.Context) throws {
    let context = WebCheckoutContext(
      stripePriceID: "price_1", stripeObjectType: StripeObjectType(rawValue: row.type ?? "subscription"),
      attributes: row.attributes.mapValues { $0.text.map { $0 as Any } ?? 1 })
    let expected = row.context.merging(["original_platform": "IOS"]) { $1 }
    #expect(try Self.members(context.plyContext()) == expected)
  }
}
