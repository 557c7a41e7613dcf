// Pages of a storefront, by the guide's rule and by the strict one.

import CheckoutKit
import Foundation
import Testing

@Suite struct StorefrontTests {
  @Test("SH13: the guide's rule looks for parts of words in the path", arguments: try KitTables.links().guide)
  func seedRule(_ page: KitTables.StorefrontPage) throws {
    let storefront = StorefrontURL(try url(page.url))
    #expect(storefront.route.rawValue == page.route)
    #expect(storefront.isConfirmationPage == (page.isConfirmation ?? false))
  }

  @Test(
    "SH14: the strict rule looks at whole segments, on the app's own hosts",
    arguments: try KitTables.links().storefront)
  func strictRule(_ row: KitTables.StorefrontPage) throws {
    let page = StrictStorefrontURL(try url(row.url), hosts: ["Shop.Example"])
    #expect(page?.route.rawValue == row.route)
    #expect((page?.isConfirmationPage ?? false) == (row.isConfirmation ?? false))
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

  @Test(arguments: try KitTables.links().leaving)
  func `SH16: links that leave the checkout are classified by scheme`(_ row: KitTables.Leaving) throws {
    #expect("\(ExternalLink(try url(row.url)))" == row.kind)
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

  @Test(arguments: try KitTables.links().orders)
  func `SH18: the order is read from the page after the purchase`(_ row: KitTables.Order) throws {
    #expect(StorefrontURL(try url(row.url)).orderID == row.order)
    #expect(StrictStorefrontURL(try url(row.url), hosts: ["shop.example"])?.orderID == row.order)
  }
}
