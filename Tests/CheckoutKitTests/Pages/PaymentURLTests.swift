// Which URLs match the payment URL, by the SDKs' rules.

import CheckoutKit
import Foundation
import Testing

@Suite struct PaymentURLTests {
  static let original = "https://pay.example/cb/ios?scheme=shopapp&language=nb-NO&id=77&app=My%20Shop"

  static let web: [(String, Bool)] = [
    (original, true), (original + "&fallback=true", true),
    ("shopapp" + original.dropFirst(5), true), ("shopapp" + original.dropFirst(5) + "&fallback=true", true),
    ("https://pay.example/cb/ios?fallback=true&app=My%20Shop&id=77&language=nb-NO&scheme=shopapp", true),
    ("https://pay.example/cb/ios?scheme=shopapp&language=nb%2DNO&id=%377&app=My%20Shop", true),
    ("ShopApp" + original.dropFirst(5), false), ("otherapp" + original.dropFirst(5), false),
    ("HTTPS" + original.dropFirst(5), false), ("http" + original.dropFirst(5), false),
    (original + "#x", false), (original + "#", false),
    ("https://pay.example:443/cb/ios?scheme=shopapp&language=nb-NO&id=77&app=My%20Shop", false),
    ("https://PAY.example/cb/ios?scheme=shopapp&language=nb-NO&id=77&app=My%20Shop", false),
    ("https://pay.example/cb/ios/?scheme=shopapp&language=nb-NO&id=77&app=My%20Shop", false),
    ("https://pay.example/CB/ios?scheme=shopapp&language=nb-NO&id=77&app=My%20Shop", false),
    ("https://pay.example/cb/ios?scheme=shopapp&language=nb-NO&id=77&app=My+Shop", false),
    ("https://pay.example/cb/ios?scheme=shopapp&language=nb-NO&id=78&app=My%20Shop", false),
    ("https://pay.example/cb/ios?scheme=shopapp&language=nb-NO&app=My%20Shop", false),
    ("https://me@pay.example/cb/ios?scheme=shopapp&language=nb-NO&id=77&app=My%20Shop", false),
    ("https://evil.test/cb/ios?scheme=shopapp&language=nb-NO&id=77&app=My%20Shop", false),
  ]

  @Test("iOS with a web view: the callback scheme, more items and another order are fine", arguments: web)
  func webRule(_ candidate: String, _ isMatch: Bool) throws {
    let payment = PaymentURL(try url(Self.original), callbackScheme: "shopapp")
    #expect(payment.isMatch(try url(candidate)) == isMatch)
  }

  static let pairs: [(String, String, Bool)] = [
    // Each original item must be present as often as before.
    ("https://a.example/?x=1&x=1", "https://a.example/?x=1", false),
    ("https://a.example/?x=1&x=1", "https://a.example/?x=1&y=2&x=1", true),
    ("https://a.example/?x", "https://a.example/?x=", false),
    ("https://a.example/?x=", "https://a.example/?x", false),
    ("https://a.example/", "https://a.example/?", true), ("https://a.example", "https://a.example/", false),
    ("https://a.example/#f", "https://a.example/?y=1#f", true),
    ("https://a.example/?x=%FF", "https://a.example/?x=%FE", false),
    ("https://a.example/?x=%FF", "https://a.example/?y=1&x=%FF", true),
    // Two Unicode forms of one character are different.
    ("https://a.example/?x=%C3%A9", "https://a.example/?x=e%CC%81", false),
    ("https://a.example/%C3%A9", "https://a.example/e%CC%81", false),
  ]

  @Test(
    "iOS with a web view: items compare by code units and by number", arguments: pairs)
  func items(_ original: String, _ candidate: String, _ isMatch: Bool) throws {
    #expect(PaymentURL(try url(original)).isMatch(try url(candidate)) == isMatch)
  }

  @Test func `Without a callback scheme only the original scheme matches`() throws {
    #expect(!PaymentURL(try url(Self.original)).isMatch(try url("shopapp" + Self.original.dropFirst(5))))
  }

  static let whole: [(String, Bool)] = [
    (original, true), (original + "/", true), (original + "&fallback=true", false),
    ("shopapp" + original.dropFirst(5), false), ("http" + original.dropFirst(5), false),
    ("https://pay.example/cb/ios?language=nb-NO&scheme=shopapp&id=77&app=My%20Shop", false),
    ("https://pay.example:443/cb/ios?scheme=shopapp&language=nb-NO&id=77&app=My%20Shop", false),
    (original + "#x", false),
  ]

  @Test("iOS native and Android: the whole URL, up to slashes at the end", arguments: whole)
  func wholeRule(_ candidate: String, _ isMatch: Bool) throws {
    let payment = PaymentURL(try url(Self.original), callbackScheme: "shopapp")
    for rule in [PaymentURL.Rule.iOSNative, .android] {
      #expect(payment.isMatch(try url(candidate), rule: rule) == isMatch)
    }
  }
}
