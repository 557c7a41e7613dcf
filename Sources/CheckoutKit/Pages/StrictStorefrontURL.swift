// Pages of a storefront, told apart by whole segments of the path, on the app's own hosts only. Pure; any
// thread.

public import Foundation

/// A page of one of the app's own storefronts.
///
/// The rule, exactly:
///
/// 1. The scheme is https, the host one of the given ones (in any case, with no user and no port but 443).
///    Anything else is refused. So is a path with an empty segment inside, `.`, `..`, control characters or
///    broken escapes.
/// 2. The path is split at its slashes, then decoded; one slash at the end does not count. A first segment
///    that is a locale (`en`, `en-CA`, `zh-Hant`) is left out.
/// 3. It is a **confirmation** when any segment is `thank-you` or `thank_you`, in any case. That is a page
///    for the browser.
/// 4. It is a **checkout** when the first segment is `checkout` or `checkouts`, or when that is a number (the
///    shop's) and the second is `checkouts`; but not the callback of a wallet, `…/express/callback`, which
///    Shopify's association file keeps for the browser.
/// 5. It is a **cart** when the first segment is `cart`.
/// 6. Everything else is for the browser. Words compare exactly, in lower case: Shopify's paths have a case.
public struct StrictStorefrontURL: Sendable, Hashable {
  /// As it came.
  public let url: URL
  /// Where it belongs.
  public let route: StorefrontRoute
  /// Whether it is the page after the purchase.
  public let isConfirmationPage: Bool

  /// Looks at a URL.
  /// - Parameter hosts: the storefront's hosts: `example.com`, `example.myshopify.com`.
  /// - Returns: nil for a URL that is none of theirs.
  public init?(_ url: URL, hosts: Set<String>) {
    let parts = URLParts(url)
    guard parts.comparableScheme == "https", parts.isAt(LinkText.lowercased(hosts)), let all = parts.segments
    else { return nil }
    self.url = url
    isConfirmationPage = StorefrontURL.isConfirmation(parts)
    let segments = all.first.map(Self.isLocale) == true ? all.dropFirst() : all[...]
    route = isConfirmationPage ? .browser : Self.route(of: segments)
  }

  /// The order, from `order_id` of the page after the purchase; nil elsewhere and without one.
  public var orderID: String? { StorefrontURL(url).orderID }

  private static func route(of segments: ArraySlice<String>) -> StorefrontRoute {
    guard let first = segments.first else { return .browser }
    let isShop = first.utf8.allSatisfy(LinkText.isDigit) && segments.dropFirst().first == "checkouts"
    if isShop || first == "checkout" || first == "checkouts" {
      return segments.suffix(2) == ["express", "callback"] ? .browser : .checkout
    }
    return first == "cart" ? .cart : .browser
  }

  /// Two or three letters, and maybe a region or a script behind a hyphen.
  private static func isLocale(_ segment: String) -> Bool {
    let parts = segment.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.allSatisfy({ $0.allSatisfy(LinkText.isLetter) }) else { return false }
    return (2...3).contains(parts[0].count) && (parts.count == 1 || (2...4).contains(parts[1].count))
  }
}
