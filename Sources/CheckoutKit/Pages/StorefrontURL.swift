// Pages of a Shopify storefront, classified as in Shopify's guide and its Checkout Sheet Kit. Pure;
// thread-safe.

public import Foundation

/// Where to open a page of a storefront.
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
/// The rules match substrings anywhere in the path, on any host: `/products/cart-cover` is a cart,
/// `https://evil.test/checkout` a checkout. This type exists for compatibility with the guide; prefer
/// ``StrictStorefrontURL``.
public struct StorefrontURL: Sendable, Hashable {
  /// The URL, unchanged.
  public let url: URL

  /// Wraps a URL.
  public init(_ url: URL) { self.url = url }

  /// Whether the path contains `/checkout`; also true on the page after the purchase.
  public var isCheckout: Bool { url.path.contains("/checkout") }

  /// Whether the path contains `/cart`.
  public var isCart: Bool { url.path.contains("/cart") }

  /// Whether the path contains `/thank-you` or `/thank_you`, in lower case.
  public var isThankYouPage: Bool { url.path.contains("/thank-you") || url.path.contains("/thank_you") }

  /// The guide's choice: the checkout until the purchase is complete, the cart, otherwise the browser.
  public var route: StorefrontRoute {
    if isCheckout, !isThankYouPage { return .checkout }
    return isCart ? .cart : .browser
  }

  /// Whether a whole segment of the path is `thank-you` or `thank_you`, in any case: the page after the
  /// purchase, by the rule of the Checkout Sheet Kit.
  public var isConfirmationPage: Bool { Self.isConfirmation(URLParts(url)) }

  /// The order, from `order_id` of the page after the purchase; nil on other pages and without `order_id`.
  public var orderID: String? {
    let parts = URLParts(url)
    guard Self.isConfirmation(parts) else { return nil }
    let value = parts.fields.first { LinkText.unescaped($0.name) == "order_id" }?.value
    return value.flatMap(LinkText.unescaped).flatMap { LinkText.isIdentifier($0) ? $0 : nil }
  }

  /// Whether the URL belongs to an app: it has a scheme other than `http`, `https` and `about`.
  public var isDeepLink: Bool {
    guard let scheme = URLParts(url).comparableScheme else { return false }
    return !["http", "https", "about"].contains(scheme)
  }

  /// Whether it logs a customer in by Multipass. Such a URL can be opened only once.
  public var isMultipass: Bool { url.absoluteString.contains("multipass") }

  static func isConfirmation(_ parts: URLParts) -> Bool {
    parts.path.utf8.split(separator: UInt8(ascii: "/")).contains { part in
      let segment = LinkText.unescaped(String(Substring(part))).map(LinkText.lowercased)
      return segment == "thank-you" || segment == "thank_you"
    }
  }
}
