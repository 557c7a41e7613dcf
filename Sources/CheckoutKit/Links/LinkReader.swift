// Reads the path of a URL, whether it has a custom scheme or is a universal link. Pure; thread-safe.

internal import Foundation

/// Decides which links belong to the app.
struct LinkReader: Sendable {
  /// In lower case.
  let schemes: Set<String>
  let hosts: Set<String>

  init(schemes: Set<String>, hosts: Set<String>) {
    // With a web scheme, every web page could name places in the app.
    self.schemes = LinkText.lowercased(schemes).filter { !Self.isWeb($0) }
    self.hosts = LinkText.lowercased(hosts)
  }

  /// Whether a scheme, in any case, belongs to the browser.
  static func isWeb(_ scheme: String) -> Bool { ["http", "https"].contains(LinkText.lowercased(scheme)) }

  /// - Returns: nil for a URL that does not belong to the app.
  func path(of url: URL) -> LinkPath? {
    let parts = URLParts(url)
    guard let scheme = parts.comparableScheme else { return nil }
    if scheme == "https" { return UniversalLink(url, hosts: hosts)?.path }
    guard schemes.contains(scheme) else { return nil }
    // The web address under the custom scheme: the host is the web server's, not a segment.
    return LinkPath(parts: parts, isHostFirst: !parts.isAt(hosts))
  }
}
