// The request for the page on a second host. Pure; thread-safe.

/// A request to the trampoline: `target=…[&language=…][&app=…]`.
///
/// Its button links only to a callback of the same app on the relay's own origin; otherwise it is not shown,
/// because an open redirect would lend the host to any site. `app` is ignored: a name from the URL would put
/// untrusted text on the page.
public struct BackLink: Sendable, Hashable {
  /// The maximum length of such a request's target, in bytes: a payment URL in which every byte is encoded,
  /// and the other parameters.
  public static let targetByteCountMax = 8_192

  /// The request target of the button, on the relay's origin.
  public let target: String
  /// The requested language of the page, as received; nil if absent.
  public let language: String?

  /// The allowed paths, relative to `root`.
  private static let callbacks = ["ios-universal-link", "android-intent"]

  /// - Parameters:
  ///   - request: the target of the request for the page, of at most `targetByteCountMax` bytes.
  ///   - root: the parent path of the app's callbacks, with slashes around it.
  /// - Throws: when the target is any other URL.
  public init(_ request: CallbackTarget, origin: WebOrigin, root: String) throws(CallbackFault) {
    let name = "target"
    let address = try request.required(
      name, byteCountMax: Self.targetByteCountMax, "give the payment URL to which the button leads")
    language = try request.value(of: "language", byteCountMax: IOSPaymentURL.languageByteCountMax)
    // Compared as a whole before it is parsed, so no parser can find another scheme, host, port or user in
    // it. The path must be one of two.
    guard address.utf8.starts(with: "\(origin.text)/".utf8) else { throw .foreignTarget }
    let path = address.utf8.dropFirst(origin.text.utf8.count)
    let target = try CallbackTarget(String(Substring(path)))
    guard Self.callbacks.contains(where: { target.path == root + $0 }) else { throw .foreignTarget }
    self.target = target.text
  }
}

extension CallbackFault {
  static let foreignTarget = invalid(
    "target", "is not a payment URL of this app; it must begin with `links.origin` and lead to a callback")
}
