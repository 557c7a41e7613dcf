// https links that the system opens in the app instead of the browser. The system has checked the association
// file; the app checks again, because the system's copy can be old. Pure; thread-safe.

public import Foundation

/// A universal link of one of the app's own hosts.
///
/// It must be https, without user information, at exactly one of the given hosts: `evil.test`,
/// `www.example.com.evil.test` and `http://…` are refused.
public struct UniversalLink: Sendable, Hashable {
  /// The URL, unchanged.
  public let url: URL
  /// The path and the query of the link.
  public let path: LinkPath

  /// The value of `NSUserActivityTypeBrowsingWeb`: the kit does not use user activities, which not every
  /// platform has.
  public static let activityType = "NSUserActivityTypeBrowsingWeb"

  /// Reads a link.
  /// - Parameters:
  ///   - url: the URL that opened the app.
  ///   - hosts: the app's hosts, in any case, in ASCII (`xn--…`). A host on another port includes it:
  ///     `localhost:8443`.
  public init?(_ url: URL, hosts: Set<String>) {
    let parts = URLParts(url)
    guard parts.comparableScheme == "https", parts.isAt(LinkText.lowercased(hosts)),
      let path = LinkPath(parts: parts, isHostFirst: false)
    else { return nil }
    self.url = url
    self.path = path
  }

  /// Reads the values of a user activity.
  /// - Parameters:
  ///   - activityType: `NSUserActivity.activityType`; only browsing is accepted.
  ///   - webpageURL: `NSUserActivity.webpageURL`.
  ///   - hosts: as in ``init(_:hosts:)``.
  public init?(activityType: String, webpageURL: URL?, hosts: Set<String>) {
    guard activityType == Self.activityType, let webpageURL else { return nil }
    self.init(webpageURL, hosts: hosts)
  }
}
