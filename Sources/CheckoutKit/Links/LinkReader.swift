// From a URL to what it says, for everyone who takes custom schemes and universal links alike. Pure; any
// thread.

internal import Foundation

/// Which links are the app's own.
struct LinkReader: Sendable {
  /// In lower case.
  let schemes: Set<String>
  let hosts: Set<String>

  init(schemes: Set<String>, hosts: Set<String>) {
    // A web scheme would let every page of the web name places in the app.
    self.schemes = LinkText.lowercased(schemes).filter { !Self.isWeb($0) }
    self.hosts = LinkText.lowercased(hosts)
  }

  /// Whether a scheme, in any case, is the browser's.
  static func isWeb(_ scheme: String) -> Bool { ["http", "https"].contains(LinkText.lowercased(scheme)) }

  /// - Returns: nil for what is not the app's.
  func path(of url: URL) -> LinkPath? {
    let parts = URLParts(url)
    guard let scheme = parts.comparableScheme else { return nil }
    if scheme == "https" { return UniversalLink(url, hosts: hosts)?.path }
    guard schemes.contains(scheme) else { return nil }
    // The web address under the custom scheme: the host is the web's, no segment.
    return LinkPath(parts: parts, isHostFirst: !parts.isAt(hosts))
  }
}
