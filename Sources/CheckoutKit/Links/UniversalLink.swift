// Links of https that the system gives to the app in place of the browser. The system has asked the
// association file; the app looks again, because its answer can be old. Pure; any thread.

public import Foundation

/// A universal link of one of the app's own hosts.
///
/// Only https counts, without user information, at exactly one of the given hosts: `evil.test`,
/// `www.example.com.evil.test` and `http://…` are none of the app's.
public struct UniversalLink: Sendable, Hashable {
  /// As it came.
  public let url: URL
  /// What it says.
  public let path: LinkPath

  /// `NSUserActivityTypeBrowsingWeb`, by its value: the kit knows no user activities, which not every
  /// platform has.
  public static let activityType = "NSUserActivityTypeBrowsingWeb"

  /// Reads a link.
  /// - Parameter hosts: the app's hosts, in any case, in ASCII (`xn--…`); one on a port of its own with it:
  ///   `localhost:8443`.
  public init?(_ url: URL, hosts: Set<String>) {
    let parts = URLParts(url)
    guard parts.comparableScheme == "https", parts.isAt(LinkText.lowercased(hosts)),
      let path = LinkPath(parts: parts, isHostFirst: false)
    else { return nil }
    self.url = url
    self.path = path
  }

  /// Reads what a user activity carries.
  /// - Parameters:
  ///   - activityType: `NSUserActivity.activityType`; only browsing counts.
  ///   - webpageURL: `NSUserActivity.webpageURL`.
  public init?(activityType: String, webpageURL: URL?, hosts: Set<String>) {
    guard activityType == Self.activityType, let webpageURL else { return nil }
    self.init(webpageURL, hosts: hosts)
  }
}
