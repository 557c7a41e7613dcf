// The link by which a paywall asks the app for a web checkout. Pure; any thread.

public import Foundation

/// `myappscheme://web_checkout/?plan_id=…`: the person chose a plan on a Purchasely paywall, and wants to buy
/// it in the browser.
///
/// Read strictly: the scheme is one of the app's, the host exactly `web_checkout`, no user, port or path; the
/// first `plan_id` counts, in this case, decoded (`+` is a plus), 1 to 255 bytes without control characters.
public struct WebCheckoutLink: Sendable, Hashable {
  /// The plan, as the paywall has it: usually the id of a Stripe price.
  public let planID: String

  static let host = "web_checkout"
  static let field = "plan_id"
  /// What the relay takes for a price.
  static let planBytesMax = 255

  /// A link to print.
  /// - Returns: nil for a plan id that no link can carry.
  public init?(planID: String) {
    guard LinkText.isIdentifier(planID, bytesMax: Self.planBytesMax) else { return nil }
    self.planID = planID
  }

  /// Why a URL is no link to a web checkout.
  public enum Fault: Error, Sendable, Hashable {
    /// Its scheme is none of the app's.
    case foreignScheme
    /// It leads somewhere else: another host, or a user, a port or a path beside the host.
    case otherPlace
    /// It has no `plan_id`, or an empty one.
    case missingPlan
    /// Its `plan_id` cannot be decoded, is too long or has control characters.
    case unusablePlan
  }

  /// Reads a URL.
  /// - Parameter schemes: the app's custom schemes, in any case.
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
  /// - Returns: nil when it is no link to a web checkout; ``parse(_:schemes:)`` says why.
  public init?(_ url: URL, schemes: Set<String>) {
    guard case .success(let link) = Self.parse(url, schemes: schemes) else { return nil }
    self = link
  }

  /// Prints the link, such as for a paywall's button.
  /// - Returns: nil when `scheme` is no scheme.
  public func url(scheme: String) -> URL? {
    guard LinkText.isScheme(scheme) else { return nil }
    return URL(string: "\(scheme)://\(Self.host)/?\(Self.field)=\(LinkText.escaped(planID))")
  }
}
