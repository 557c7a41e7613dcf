// Pages of a storefront, by the guide's rule and by the strict one.

import CheckoutKit
import Foundation
import Testing

@Suite struct StorefrontTests {
  struct Page: Sendable, CustomTestStringConvertible {
    let url: String
    let route: StorefrontRoute
    var isCheckout = false
    var isCart = false
    var isThankYou = false
    var isConfirmation = false

    var testDescription: String { url }
  }

  static let pages = [
    Page(url: "https://shop.example/cart", route: .cart, isCart: true),
    Page(url: "https://shop.example/cart/c/xyz?key=2", route: .cart, isCart: true),
    Page(url: "https://shop.example/products/cart-bag", route: .cart, isCart: true),
    Page(url: "https://shop.example/c%61rt", route: .cart, isCart: true),
    Page(url: "https://shop.example/checkout", route: .checkout, isCheckout: true),
    Page(url: "https://shop.example/en-ca/checkouts/cn/x/information", route: .checkout, isCheckout: true),
    Page(url: "https://evil.example/checkout", route: .checkout, isCheckout: true),
    Page(url: "https://shop.example/news/checkout-tricks", route: .checkout, isCheckout: true),
    Page(
      url: "https://shop.example/checkouts/cn/x/thank-you", route: .browser, isCheckout: true,
      isThankYou: true,
      isConfirmation: true),
    Page(
      url: "https://shop.example/checkouts/cn/x/thank_you/", route: .browser, isCheckout: true,
      isThankYou: true, isConfirmation: true),
    Page(
      url: "https://shop.example/checkouts/cn/x/Thank-You", route: .checkout, isCheckout: true,
      isConfirmation: true),
    Page(
      url: "https://shop.example/checkouts/cn/x/thank-you-all", route: .browser, isCheckout: true,
      isThankYou: true),
    Page(
      url: "https://shop.example/cart/thank_you/checkout", route: .cart, isCheckout: true, isCart: true,
      isThankYou: true, isConfirmation: true),
    Page(url: "https://shop.example/?next=/cart", route: .browser),
    Page(url: "https://shop.example/Checkout", route: .browser),
    Page(url: "https://shop.example", route: .browser),
    Page(url: "https://shop.example/my-cart", route: .browser),
  ]

  @Test("SH13: the guide's rule looks for parts of words in the path", arguments: pages)
  func seedRule(_ page: Page) throws {
    let storefront = StorefrontURL(try url(page.url))
    #expect(storefront.isCheckout == page.isCheckout)
    #expect(storefront.isCart == page.isCart)
    #expect(storefront.isThankYouPage == page.isThankYou)
    #expect(storefront.isConfirmationPage == page.isConfirmation)
    #expect(storefront.route == page.route)
  }

  static let strict: [(String, StorefrontRoute?)] = [
    ("/cart", .cart), ("/cart/", .cart), ("/cart/c/xyz?key=2", .cart), ("/fr/cart", .cart),
    ("/en-CA/cart", .cart),
    ("/checkout", .checkout), ("/checkouts/cn/a/information", .checkout), ("/de/checkouts/cn/a", .checkout),
    ("/zh-Hant/checkout", .checkout), ("/12345/checkouts/a", .checkout),
    ("/checkouts/c/a/post_purchase", .checkout),
    ("/checkouts/cn/a/Thank-You", .browser), ("/checkouts/cn/a/thank_you", .browser),
    ("/12345/checkouts/a/express/callback", .browser), ("/checkouts/a/express/callback", .browser),
    ("/checkouts/cn/a/thank-you-page", .checkout),
    ("/products/cart-cover", .browser), ("/products/cart", .browser), ("/blogs/news/checkout-tips", .browser),
    ("/admin/checkout", .browser), ("/12345/checkout", .browser), ("/checkout-tips", .browser),
    ("/cartoons", .browser), ("/a%2Fcheckout", .browser), ("/checkout%2Fa", .browser), ("/CART", .browser),
    ("/pages/de/cart", .browser), ("/de/fr/cart", .browser), ("/?next=/cart", .browser), ("", .browser),
    ("/", .browser),
    ("//checkout", nil), ("/products/../checkout", nil), ("/checkout/%00", nil),
  ]

  @Test("SH14: the strict rule looks at whole segments", arguments: strict)
  func strictRule(_ path: String, _ route: StorefrontRoute?) throws {
    let page = StrictStorefrontURL(try url("https://shop.example\(path)"), hosts: ["Shop.Example"])
    #expect(page?.route == route)
  }

  @Test(
    "SH14: a page of another host is refused",
    arguments: [
      "https://evil.test/checkout", "http://shop.example/checkout", "https://shop.example.evil.test/checkout",
      "https://shop.example@evil.test/checkout", "https://me@shop.example/checkout",
      "https://shop.example:8443/checkout", "shop.example/checkout", "javascript://shop.example/checkout",
    ])
  func strictHosts(_ text: String) throws {
    #expect(StrictStorefrontURL(try url(text), hosts: ["shop.example"]) == nil)
  }

  @Test(
    "SH15: a link for an app has a scheme that is not one of the web's",
    arguments: [
      ("https://a.example", false), ("HTTPS://a.example", false), ("http://a.example", false),
      ("about:blank", false),
      ("app://place", true), ("notes-app://", true), ("maps://?q=Oslo", true), ("mailto:a@b.example", true),
      ("tel:123", true), ("/path/only", false),
    ])
  func deepLinks(_ text: String, _ isDeepLink: Bool) throws {
    #expect(StorefrontURL(try url(text)).isDeepLink == isDeepLink)
  }

  @Test(
    "SH15: confirmation pages and Multipass",
    arguments: [
      ("https://a.example/thank-you", true, false), ("https://a.example/THANK_YOU", true, false),
      ("http://a.b.example/checkouts/c/1/thank_you/completed", true, false),
      ("https://a.example/thankyou", false, false), ("https://a.example/no-thank-you", false, false),
      ("https://a.example/?x=/thank-you", false, false), ("https://a.example/checkout", false, false),
      ("https://a.example/account/login/multipass/token", false, true),
      ("https://a.example/multipass", false, true), ("https://a.example/MULTIPASS", false, false),
    ])
  func confirmation(_ text: String, _ isConfirmation: Bool, _ isMultipass: Bool) throws {
    #expect(StorefrontURL(try url(text)).isConfirmationPage == isConfirmation)
    #expect(StorefrontURL(try url(text)).isMultipass == isMultipass)
  }

  static let links: [(String, ExternalLink)] = [
    ("tel:+4712345678", .phone), ("TEL:1", .phone), ("mailto:a@b.example", .email),
    ("https://a.example", .browser),
    ("HTTP://a.example", .browser), ("vipps://pay", .deepLink), ("sms:1", .deepLink),
    ("itms-apps://x", .deepLink), ("javascript:alert(1)", .refused), ("JavaScript:alert(1)", .refused),
    ("data:text/html,x", .refused), ("file:///etc/passwd", .refused), ("vbscript:x", .refused),
    ("blob:https://a.example/x", .refused), ("about:blank", .refused),
    ("view-source:https://a.example", .refused),
    ("intent://x#Intent;end", .refused), ("/path/only", .refused), ("//a.example/x", .refused),
  ]

  @Test("SH16: links that leave the checkout are classified by scheme", arguments: links)
  func externalLinks(_ text: String, _ kind: ExternalLink) throws {
    #expect(ExternalLink(try url(text)) == kind)
  }

  /// The schemes that the relay refuses as an app's own (CustomScheme), except those that other apps handle:
  /// network, telephone, messages and stores.
  static let foreign = [
    "javascript", "jscript", "livescript", "ecmascript", "mocha", "vbscript", "vbs", "data", "blob", "about",
    "view-source", "filesystem", "file", "jar", "mhtml", "wyciwyg", "srcdoc", "chrome", "chrome-extension",
    "chrome-search", "moz-extension", "safari-extension", "safari-web-extension", "ms-browser-extension",
    "resource", "edge", "opera", "devtools", "intent", "android-app", "android.resource", "content", "market",
    "itms-services",
  ]

  @Test("SH16: schemes that run code or belong to a browser or another system are refused, in any case")
  func refusesForeignSchemes() throws {
    for scheme in Self.foreign + Self.foreign.map({ $0.uppercased() }) {
      #expect(ExternalLink(try url("\(scheme):x")) == .refused, "\(scheme)")
      #expect(ExternalLink(try url("\(scheme)://x/y")) == .refused, "\(scheme)")
      #expect(ExternalLink(try url("x-\(scheme)://x")) == .deepLink, "\(scheme)")
    }
  }

  @Test(
    "SH18: the order is read from the page after the purchase",
    arguments: [
      ("https://shop.example/checkouts/c/1/thank_you/completed?order_id=9876", "9876"),
      ("https://shop.example/thank-you?a=b&order_id=1&order_id=2", "1"),
      ("https://shop.example/thank-you?order_id=a%2Fb", "a/b"), ("https://shop.example/thank-you", nil),
      ("https://shop.example/thank-you?order_id=", nil), ("https://shop.example/thank-you?order_id", nil),
      ("https://shop.example/thank-you?order_id=%0A", nil), ("https://shop.example/checkout?order_id=1", nil),
    ])
  func orders(_ text: String, _ order: String?) throws {
    #expect(StorefrontURL(try url(text)).orderID == order)
    #expect(StrictStorefrontURL(try url(text), hosts: ["shop.example"])?.orderID == order)
  }
}
