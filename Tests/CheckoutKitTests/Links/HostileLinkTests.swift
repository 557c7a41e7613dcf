// Links are untrusted input: nothing traps, no foreign link is accepted, and an accepted link survives
// formatting and reading.

import CheckoutKit
import Foundation
import Testing

/// A fixed sequence of numbers (SplitMix64).
private struct Dice: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

@Suite struct HostileLinkTests {
  private static let host = "www.example.com"
  private static let pieces = [
    "https", "http", "shop", "SHOP", "javascript", ":", "//", "/", "?", "#", "@", "&", "=", "%", "%2F", "%00",
    "%FF",
    "%C3%A9", "%25", "+", ".", "..", "%2e", ";", "\\", "[", "]", ":443", ":0", ":-1", host, "evil.test",
    "web_checkout",
    "messages", "request", "1", "a", "é", "e\u{301}", "\u{202E}", "v1", "ios", "return", "context_id",
    Example.id,
    "plan_id", "checkout", "cart", "thank-you", "order_id", "en", "\u{0}", " ", "\r\n", "👩‍💻",
  ]

  private static func texts(_ count: Int) -> [String] {
    var dice = Dice(state: 0x6C69_6E6B)
    let beginnings = [
      "", "shop://", "https://\(host)", "https://\(host)/", "shop:", "https:", "shop://messages/",
      "https://\(host)/request/", "shop://web_checkout/?plan_id=", "https://\(host)/de/",
      "https://\(host)/v1/ios/return?context_id=\(Example.id)",
    ]
    return (0..<count).map { _ in
      let pieces = (0..<Int.random(in: 0...9, using: &dice)).map { _ in
        Self.pieces.randomElement(using: &dice) ?? ""
      }
      return (beginnings.randomElement(using: &dice) ?? "") + pieces.joined()
    }
  }

  @Test(
    "DL06, DL20, SH14: of five thousand links only the app's own are accepted, and print the same")
  func takesOnlyItsOwn() throws {
    let router = LinkRouter<ExampleRoute>(schemes: ["shop"], hosts: [Self.host])
    var (urls, routes, pages) = (0, 0, 0)
    for text in Self.texts(5000) {
      guard let url = URL(string: text) else { continue }
      urls += 1
      let isOwn = ["shop", "https"].contains(url.scheme?.lowercased())
      if let route = router.route(for: url) {
        routes += 1
        #expect(isOwn, "\(text)")
        #expect(url.user == nil, "\(text)")
        if url.scheme?.lowercased() == "https" { #expect(url.host?.lowercased() == Self.host, "\(text)") }
        let printed = try #require(router.url(for: route, host: Self.host), "\(text)")
        #expect(router.route(for: printed) == route, "\(text)")
      }
      if let link = WebCheckoutLink(url, schemes: ["shop"]) {
        #expect(url.scheme?.lowercased() == "shop", "\(text)")
        #expect(url.host == "web_checkout", "\(text)")
        #expect(
          link.url(scheme: "shop").flatMap { WebCheckoutLink($0, schemes: ["shop"]) } == link, "\(text)")
      }
      if let page = StrictStorefrontURL(url, hosts: [Self.host]) {
        pages += 1
        #expect(url.host?.lowercased() == Self.host, "\(text)")
        #expect(url.user == nil, "\(text)")
        if page.route != .browser { #expect(StorefrontURL(url).route == page.route, "\(text)") }
      }
      if let back = CheckoutReturn(url, hosts: [Self.host], schemes: ["shop"]) {
        #expect(isOwn, "\(text)")
        #expect([nil, Example.id].contains(back.contextID), "\(text)")
        #expect(url.host?.lowercased() == Self.host, "\(text)")
      }
      #expect(PaymentURL(url).isMatch(url), "\(text)")
      #expect(PaymentURL(url).isMatch(url, rule: .android), "\(text)")
      _ = (StorefrontURL(url).orderID, ExternalLink(url), StorefrontURL(url).isMultipass)
      _ = try? WebCheckoutContext(plyContext: text)  // Rarely valid; it must not trap.
    }
    #expect(urls > 2500)
    #expect(routes > 100)
    #expect(pages > 500)
  }
}
