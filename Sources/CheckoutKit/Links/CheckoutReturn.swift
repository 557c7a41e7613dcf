// The address on which the customer comes back from the checkout. Pure; thread-safe.

public import Foundation

/// The relay's return address: `https://HOST/v1/{app}/return?context_id=ctx_…`, or the same under the app's
/// custom scheme: `exampleapp://HOST/v1/{app}/return?context_id=ctx_…`.
///
/// The address identifies the checkout; it does not prove how the checkout ended, because anyone can forge
/// it. Ask the relay: ``RelayClient/finalStatus(of:within:)``. When the relay does not know yet which context
/// a payment belongs to, the address has the processor's session id, or no id. Afterpay adds the token of its
/// checkout. Without an id it means the checkout that the app began last.
public struct CheckoutReturn: Sendable, Hashable {
  /// The app's name at the relay.
  public let app: String
  /// The context that was posted before the checkout; nil when the address has none.
  public let contextID: String?
  /// The processor's session, such as Stripe's `cs_…`; nil when the address has none.
  public let sessionID: String?
  /// The token of a checkout with Afterpay (``StartedAfterpayCheckout/token``): capture it, or ask for its
  /// state with ``AfterpayCheckout/status(of:)``. Nil when the address has none.
  public let orderToken: String?

  /// Creates a return address, to format it.
  public init(
    app: String, contextID: String? = nil, sessionID: String? = nil, orderToken: String? = nil
  ) {
    self.app = app
    self.contextID = contextID
    self.sessionID = sessionID
    self.orderToken = orderToken
  }

  /// Reads a link that ``LinkRouter`` has parsed.
  ///
  /// Returns nil for another path, and for an id that the relay cannot have issued.
  public init?(path: LinkPath) {
    guard path.segments.count == 3, path[0] == "v1", path[2] == "return", let app = path[1], Self.isApp(app)
    else { return nil }
    let (contextID, sessionID) = (path.query[Self.contextField], path.query[Self.sessionField])
    let orderToken = path.query[Self.orderField]
    guard contextID.map(CheckoutID.isWellFormed) != false, sessionID.map(Self.isSessionID) != false,
      orderToken.map(AfterpayCheckout.isToken) != false
    else { return nil }
    self.init(app: app, contextID: contextID, sessionID: sessionID, orderToken: orderToken)
  }

  /// Reads a URL without a router.
  /// - Parameters:
  ///   - url: the URL that opened the app.
  ///   - hosts: the relay's hosts; other hosts are refused under every scheme.
  ///   - schemes: the app's custom schemes.
  public init?(_ url: URL, hosts: Set<String>, schemes: Set<String> = []) {
    guard URLParts(url).isAt(LinkText.lowercased(hosts)),
      let path = LinkReader(schemes: schemes, hosts: hosts).path(of: url)
    else { return nil }
    self.init(path: path)
  }

  /// The path and the query of the link.
  public var path: LinkPath {
    var query: [String: String] = [:]
    query[Self.contextField] = contextID
    query[Self.sessionField] = sessionID
    query[Self.orderField] = orderToken
    return LinkPath("v1", app, "return", query: query)
  }

  private static let contextField = "context_id"
  private static let sessionField = "session_id"
  private static let orderField = "orderToken"

  /// `[a-z0-9][a-z0-9-]{0,62}`, as in the relay's configuration.
  static func isApp(_ text: String) -> Bool {
    let isWord: (UInt8) -> Bool = {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || LinkText.isDigit($0)
    }
    guard let first = text.utf8.first, isWord(first), text.utf8.count <= 63 else { return false }
    return text.utf8.allSatisfy { isWord($0) || $0 == UInt8(ascii: "-") }
  }

  /// Up to 255 bytes, the relay's limit.
  private static func isSessionID(_ text: String) -> Bool { LinkText.isIdentifier(text, bytesMax: 255) }
}
