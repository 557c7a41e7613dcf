// Pages of a Shopify storefront, as Shopify's guide and its Checkout Sheet Kit tell them apart. Pure; any
// thread.

public import Foundation

/// Where a page of a storefront belongs.
public enum StorefrontRoute: String, Sendable, Hashable, CaseIterable {
  /// The checkout sheet.
  case checkout
  /// The app's own cart.
  case cart
  /// The browser, or a web view.
  case browser
}

/// A page of a storefront by the rules of Shopify's guide "Handle offsite payments in your app".
///
/// They look for parts of words anywhere in the path, on any host: `/products/cart-cover` is a cart,
/// `https://evil.test/checkout` a checkout. They are here to do as the guide does; prefer
/// ``StrictStorefrontURL``.
public struct StorefrontURL: Sendable, Hashable {
  /// As it came.
  public let url: URL

  /// Looks at a URL.
  public init(_ url: URL) { self.url = url }

  /// Whether `/checkout` stands in the path; also on the page after it.
  public var isCheckout: Bool { url.path.contains("/checkout") }

  /// Whether `/cart` stands in the path.
  public var isCart: Bool { url.path.contains("/cart") }

  /// Whether `/thank-you` or `/thank_you` stands in the path, in lower case.
  public var isThankYouPage: Bool { url.path.contains("/thank-you") || url.path.contains("/thank_you") }

  /// The guide's choice: the checkout until it is over, the cart, else the browser.
  public var route: StorefrontRoute {
    if isCheckout, !isThankYouPage { return .checkout }
    return isCart ? .cart : .browser
  }

  /// Whether a whole segment of the path is `thank-you` or `thank_you`, in any case: the page after the
  /// purchase, as the Checkout Sheet Kit recognises it.
  public var isConfirmationPage: Bool { Self.isConfirmation(URLParts(url)) }

  /// The order, from `order_id` of the page after the purchase; nil elsewhere and without one.
  public var orderID: String? {
    let parts = URLParts(url)
    guard Self.isConfirmation(parts) else { return nil }
    let value = parts.fields.first { LinkText.unescaped($0.name) == "order_id" }?.value
    return value.flatMap(LinkText.unescaped).flatMap { LinkText.isIdentifier($0) ? $0 : nil }
  }

  /// Whether the URL belongs to an app: it has a scheme, and not `http`, `https` or `about`.
  public var isDeepLink: Bool {
    guard let scheme = URLParts(url).comparableScheme else { return false }
    return !["http", "https", "about"].contains(scheme)
  }

  /// Whether it logs a customer in by Multipass, and so may be opened only once.
  public var isMultipass: Bool { url.absoluteString.contains("multipass") }

  static func isConfirmation(_ parts: URLParts) -> Bool {
    parts.path.utf8.split(separator: UInt8(ascii: "/")).contains { part in
      let segment = LinkText.unescaped(String(Substring(part))).map(LinkText.lowercased)
      return segment == "thank-you" || segment == "thank_you"
    }
  }
}
