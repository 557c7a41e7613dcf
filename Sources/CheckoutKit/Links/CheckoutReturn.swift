// The address on which the person comes back from the checkout. Pure; any thread.

public import Foundation

/// The relay's return address: `https://HOST/v1/{app}/return?context_id=ctx_…`, or the same under the app's
/// custom scheme: `exampleapp://HOST/v1/{app}/return?context_id=ctx_…`.
///
/// It says *which* checkout the person comes back from, not how it ended: whoever opens the link can write
/// what they like. Ask the relay: ``RelayClient/finalStatus(of:within:)``.
public struct CheckoutReturn: Sendable, Hashable {
  /// The app's name at the relay.
  public let app: String
  /// The context that was posted before the checkout.
  public let contextID: String

  /// A return address, to print it.
  public init(app: String, contextID: String) {
    self.app = app
    self.contextID = contextID
  }

  /// Reads a link that ``LinkRouter`` has taken apart.
  public init?(path: LinkPath) {
    guard path.segments.count == 3, path[0] == "v1", path[2] == "return",
      let app = path[1], Self.isApp(app), let id = path.query["context_id"], Self.isContextID(id)
    else { return nil }
    self.init(app: app, contextID: id)
  }

  /// Reads a URL without a router.
  /// - Parameters:
  ///   - hosts: where the relay may be; other hosts are refused under every scheme.
  ///   - schemes: the app's custom schemes.
  public init?(_ url: URL, hosts: Set<String>, schemes: Set<String> = []) {
    guard URLParts(url).isAt(LinkText.lowercased(hosts)),
      let path = LinkReader(schemes: schemes, hosts: hosts).path(of: url)
    else { return nil }
    self.init(path: path)
  }

  /// What the link says.
  public var path: LinkPath { LinkPath("v1", app, "return", query: ["context_id": contextID]) }

  /// `[a-z0-9][a-z0-9-]{0,62}`, as the relay has it.
  static func isApp(_ text: String) -> Bool {
    let isWord: (UInt8) -> Bool = {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || LinkText.isDigit($0)
    }
    guard let first = text.utf8.first, isWord(first), text.utf8.count <= 63 else { return false }
    return text.utf8.allSatisfy { isWord($0) || $0 == UInt8(ascii: "-") }
  }

  /// `ctx_` and 26 characters of Crockford's base32, as the relay gives them.
  static func isContextID(_ text: String) -> Bool {
    let prefix = "ctx_"
    return text.utf8.count == 30 && text.utf8.starts(with: prefix.utf8)
      && text.utf8.dropFirst(prefix.utf8.count).allSatisfy("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8.contains)
  }
}
