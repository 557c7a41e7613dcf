// What the page on a second host is asked to lead to. Pure; any thread.

/// A request to the trampoline: `target=…[&language=…][&app=…]`.
///
/// Its button leads to a callback of the same app on the relay's own origin, or it is not shown at all: a
/// page that leads wherever its address says would lend its host to everyone. `app` is not read: a name from
/// an address would say on our page whatever somebody else wants it to say.
public struct BackLink: Sendable, Hashable {
  /// The longest target of such a request, in bytes: a payment URL of which every byte was encoded, and the
  /// rest.
  public static let targetByteCountMax = 8_192

  /// The request target that the button leads to, on the relay's origin.
  public let target: String
  /// The language that the page shall speak, as it came, if it did.
  public let language: String?

  /// The paths that may be led to, without what they begin with.
  private static let callbacks = ["ios-universal-link", "android-intent"]

  /// - Parameters:
  ///   - request: the target of the request for the page, of up to `targetByteCountMax` bytes.
  ///   - root: the path under which the app's callbacks are, with slashes around it.
  /// - Throws: when it is to lead anywhere else.
  public init(_ request: CallbackTarget, origin: WebOrigin, root: String) throws(CallbackFault) {
    let name = "target"
    let address = try request.required(
      name, byteCountMax: Self.targetByteCountMax, "give the payment URL that the button shall lead to")
    language = try request.value(of: "language", byteCountMax: IOSPaymentURL.languageByteCountMax)
    // Compared as a whole, before anything is taken apart: there is no reading of it under which another
    // scheme, host, port or user comes first, and the path that follows is one of two.
    guard address.utf8.starts(with: "\(origin.text)/".utf8) else { throw .foreignTarget }
    let path = address.utf8.dropFirst(origin.text.utf8.count)
    let target = try CallbackTarget(String(Substring(path)))
    guard Self.callbacks.contains(where: { target.path == root + $0 }) else { throw .foreignTarget }
    self.target = target.text
  }
}

extension CallbackFault {
  static let foreignTarget = invalid(
    "target", "is no payment URL of this app; it must begin with `links.origin` and lead to a callback")
}
