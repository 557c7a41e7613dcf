// The link by which a paywall requests a web checkout. Pure; thread-safe.

public import Foundation

/// `myappscheme://web_checkout/?plan_id=…`: the customer chose a plan on a Purchasely paywall, and wants to
/// buy it in the browser.
///
/// The parser is strict: the scheme is one of the app's, the host exactly `web_checkout`, with no user, port
/// or path. The first `plan_id` counts. The name is case-sensitive; the value is decoded (`+` is a plus) and
/// has 1 to 255 bytes without control characters.
public struct WebCheckoutLink: Sendable, Hashable {
  /// The paywall's plan: usually the id of a Stripe price.
  public let planID: String

  static let host = "web_checkout"
  static let field = "plan_id"
  /// The relay's limit for a price.
  static let planBytesMax = 255

  /// Creates a link, to format it.
  /// - Returns: nil for a plan id that is not valid in a link.
  public init?(planID: String) {
    guard LinkText.isIdentifier(planID, bytesMax: Self.planBytesMax) else { return nil }
    self.planID = planID
  }

  /// Why a URL is not a link to a web checkout.
  public enum Fault: Error, Sendable, Hashable {
    /// Its scheme is not the app's.
    case foreignScheme
    /// It leads elsewhere: another host, or a host with a user, a port or a path.
    case otherPlace
    /// It has no `plan_id`, or an empty one.
    case missingPlan
    /// Its `plan_id` cannot be decoded, is too long or contains control characters.
    case unusablePlan
  }

  /// Reads a URL, and returns the fault when it is not a link to a web checkout.
  /// - Parameters:
  ///   - url: the URL that opened the app.
  ///   - schemes: the app's custom schemes, in any case; `http` and `https` are ignored.
  public static func parse(_ url: URL, schemes: Set<String>) -> Result<WebCheckoutLink, Fault> {
    let parts = URLParts(url)
    guard let scheme = parts.comparableScheme,
      LinkReader(schemes: schemes, hosts: []).schemes.contains(scheme)
    else { return .failure(.foreignScheme) }
    guard let host = parts.bareHost, LinkText.isSame(host, Self.host), ["", "/"].contains(parts.path) else {
      return .failure(.otherPlace)
    }
    let field = parts.fields.first { LinkText.isSame(LinkText.unescaped($0.name), Self.field) }
    guard let value = field?.value, !value.isEmpty else { return .failure(.missingPlan) }
    let link = LinkText.unescaped(value).flatMap { WebCheckoutLink(planID: $0) }
    return link.map { .success($0) } ?? .failure(.unusablePlan)
  }

  /// Reads a URL.
  /// - Returns: nil when it is not a link to a web checkout; ``parse(_:schemes:)`` returns the reason.
  public init?(_ url: URL, schemes: Set<String>) {
    guard case .success(let link) = Self.parse(url, schemes: schemes) else { return nil }
    self = link
  }

  /// Formats the link, such as for a paywall's button.
  /// - Returns: nil when `scheme` is not a valid scheme.
  public func url(scheme: String) -> URL? {
    guard LinkText.isScheme(scheme) else { return nil }
    return URL(string: "\(scheme)://\(Self.host)/?\(Self.field)=\(LinkText.escaped(planID))")
  }
}
