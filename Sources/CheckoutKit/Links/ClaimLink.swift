// The link by which a purchase without a user finds its account. Pure; thread-safe.

public import Foundation

/// The relay's claim link: `https://HOST/v1/{app}/claim/clm_…`, or the same under the app's custom scheme:
/// `exampleapp://HOST/v1/{app}/claim/clm_…`.
///
/// The merchant gives it to a customer whose purchase names no user. Its token is a secret: do not show or
/// log it. Opening the link claims nothing. Keep it until the customer has signed in
/// (``CheckoutOutbox/keep(_:)``), ask whether to add the purchase to the account, and then call
/// ``CheckoutOutbox/claim(_:userID:)``.
public struct ClaimLink: Sendable, Hashable, Codable {
  /// The app's name at the relay.
  public let app: String
  /// `clm_…`: anyone who has it can claim the purchase.
  public let token: String

  /// Reads a link that ``LinkRouter`` has parsed; nil for another path, and for a token that the relay cannot
  /// have issued.
  public init?(path: LinkPath) {
    guard path.segments.count == 4, path[0] == "v1", path[2] == "claim",
      let app = path[1], CheckoutReturn.isApp(app), let token = path[3], Self.isToken(token)
    else { return nil }
    self.app = app
    self.token = token
  }

  /// Reads a URL without a router; nil if it is no claim link.
  /// - Parameters:
  ///   - url: the URL that opened the app.
  ///   - hosts: the relay's hosts; other hosts are refused under every scheme.
  ///   - schemes: the app's custom schemes.
  public static func read(_ url: URL, hosts: Set<String>, schemes: Set<String> = []) -> ClaimLink? {
    guard URLParts(url).isAt(LinkText.lowercased(hosts)) else { return nil }
    return LinkReader(schemes: schemes, hosts: hosts).path(of: url).flatMap(ClaimLink.init)
  }

  /// The path of the link.
  public var path: LinkPath { LinkPath("v1", app, "claim", token) }

  /// `clm_` and 26 characters of Crockford's base32.
  private static func isToken(_ text: String) -> Bool {
    LinkText.isCrockford(text, prefix: "clm_")
  }
}
