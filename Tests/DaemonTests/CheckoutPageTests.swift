// The address of a checkout page with its context's id.

import Domain
import Testing

@testable import Config

@Suite("Checkout pages") struct CheckoutPageTests {
  private static let id: ContextID = "ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD"

  @Test(arguments: [
    ("https://buy.stripe.com/a", "https://buy.stripe.com/a?"),
    ("https://buy.stripe.com", "https://buy.stripe.com?"),
    ("https://buy.stripe.com/a?", "https://buy.stripe.com/a?"),
    ("https://buy.stripe.com/a?x", "https://buy.stripe.com/a?x&"),
    ("https://buy.stripe.com/a?x=1&", "https://buy.stripe.com/a?x=1&"),
    (
      "https://buy.stripe.com/a?prefilled_email=jenny%2Btag%40example.com&locale=de",
      "https://buy.stripe.com/a?prefilled_email=jenny%2Btag%40example.com&locale=de&"
    ),
    ("https://buy.stripe.com/a?x=client_reference_id", "https://buy.stripe.com/a?x=client_reference_id&"),
    (
      "https://shop.test/c?next=/p?client_reference_id=1",
      "https://shop.test/c?next=/p?client_reference_id=1&"
    ),
    ("https://shop.test/c?client_reference_ids=1", "https://shop.test/c?client_reference_ids=1&"),
    ("https://shop.test/c?a=%zz;b", "https://shop.test/c?a=%zz;b&"),
  ])
  func `The id is added behind the query, of which every byte stays`(url: String, before: String) {
    #expect(CheckoutPage.fault(in: url) == nil)
    #expect(CheckoutPage(url: url).address(contextID: Self.id) == before + "client_reference_id=\(Self.id)")
  }

  @Test func `An id is what Stripe accepts as a reference: letters, digits, - and _, at most 200`() {
    var random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    for milliseconds in [0, 1_795_000_000_000, Int64(1) << 47] {
      let text = ContextID.make(now: Timestamp(unixMilliseconds: milliseconds), random: &random).text
      #expect(text.utf8.count <= 200)
      #expect(text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") })
    }
  }

  @Test(arguments: [
    "https://a.test/?client_reference_id=1", "https://a.test/?x=1&client_reference_id",
    "https://a.test/?client%5Freference%5fid=1", "https://a.test/?%63lient_reference_id=",
    "https://a.test/?&&client_reference_id=1&x",
  ])
  func `An address that has a reference already is a fault, however the name is written`(url: String) {
    #expect(CheckoutPage.fault(in: url)?.contains("each checkout gets its own") == true)
  }

  @Test func `An address with a fragment is a fault: what follows # is not sent to the page`() {
    #expect(CheckoutPage.fault(in: "https://buy.stripe.com/a#top")?.contains("fragment") == true)
  }
}
