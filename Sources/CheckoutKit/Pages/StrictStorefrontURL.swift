// Pages of a storefront, classified by whole path segments, on the app's own hosts only. Pure; thread-safe.

public import Foundation

/// A page of one of the app's own storefronts.
///
/// The rules:
///
/// 1. The scheme is https and the host is one of the given ones (in any case, with no user and no port but
///    443). Any other URL is refused. So is a path with an empty segment inside, `.`, `..`, control
///    characters or broken escapes.
/// 2. The path is split at its slashes, then decoded; one slash at the end is ignored. A first segment that
///    is a locale (`en`, `en-CA`, `zh-Hant`) is ignored.
/// 3. It is a **confirmation** when any segment is `thank-you` or `thank_you`, in any case. That is a page
///    for the browser.
/// 4. It is a **checkout** when the first segment is `checkout` or `checkouts`, or when the first is a number
///    (the shop's) and the second is `checkouts`; but not the callback of a wallet, `…/express/callback`,
///    which Shopify's association file reserves for the browser.
/// 5. It is a **cart** when the first segment is `cart`.
/// 6. Every other page is for the browser. Words are in lower case: Shopify's paths are case-sensitive.
public struct StrictStorefrontURL: Sendable, Hashable {
  /// The URL, unchanged.
  public let url: URL
  /// Where to open it.
  public let route: StorefrontRoute
  /// Whether it is the page after the purchase.
  public let isConfirmationPage: Bool

  /// Classifies a URL.
  /// - Parameters:
  ///   - url: a link on a page, or the URL that opened the app.
  ///   - hosts: the storefront's hosts: `example.com`, `example.myshopify.com`.
  /// - Returns: nil for a URL of another host.
  public init?(_ url: URL, hosts: Set<String>) {
    let parts = URLParts(url)
    guard parts.comparableScheme == "https", parts.isAt(LinkText.lowercased(hosts)), let all = parts.segments
    else { return nil }
    self.url = url
    isConfirmationPage = StorefrontURL.isConfirmation(parts)
    let segments = all.first.map(Self.isLocale) == true ? all.dropFirst() : all[...]
    route = isConfirmationPage ? .browser : Self.route(of: segments)
  }

  /// The order, from `order_id` of the page after the purchase; nil on other pages and without `order_id`.
  public var orderID: String? { StorefrontURL(url).orderID }

  private static func route(of segments: ArraySlice<String>) -> StorefrontRoute {
    guard let first = segments.first else { return .browser }
    let isShop = first.utf8.allSatisfy(LinkText.isDigit) && segments.dropFirst().first == "checkouts"
    if isShop || first == "checkout" || first == "checkouts" {
      return segments.suffix(2) == ["express", "callback"] ? .browser : .checkout
    }
    return first == "cart" ? .cart : .browser
  }

  /// Two or three letters, optionally with a region or a script after a hyphen.
  private static func isLocale(_ segment: String) -> Bool {
    let parts = segment.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.allSatisfy({ $0.allSatisfy(LinkText.isLetter) }) else { return false }
    return (2...3).contains(parts[0].count) && (parts.count == 1 || (2...4).contains(parts[1].count))
  }
}
