// The payment URL of an iOS app, which Swedbank Pay's page opens when the person is to come back. It is a
// universal link; a browser comes here only when it did not open the app. Pure; any thread.

/// A request to `sdk-callback/ios-universal-link?scheme=…&language=…[&app=…][&fallback=true]`.
///
/// The first time the browser is sent to a page on another host, where the universal link (now with
/// `fallback=true`) is a button to tap: only that opens an app. If it comes here again, it is sent to the
/// same address under the app's own scheme.
public struct IOSPaymentURL: Sendable, Hashable {
  /// The longest texts, in bytes.
  static let languageByteCountMax = 64
  static let appByteCountMax = 256

  private let scheme: CustomScheme
  private let language: String
  private let app: String?
  private let isFallback: Bool
  private let target: CallbackTarget
  private let origin: WebOrigin

  /// - Parameters:
  ///   - target: the request's own.
  ///   - schemes: the only ones that may be led to; nil for every one that an app may own.
  /// - Throws: when a parameter is not what it must be.
  public init(_ target: CallbackTarget, origin: WebOrigin, schemes: [CustomScheme]?) throws(CallbackFault) {
    self.target = target
    self.origin = origin
    let text = try target.required(
      "scheme", byteCountMax: CustomScheme.countMax, "name the scheme that the app has registered")
    do {
      scheme = try CustomScheme(text)
    } catch {
      throw .invalid("scheme", error.description)
    }
    // The same scheme in other letters is the same app's (RFC 3986 §3.1).
    guard schemes?.contains(where: { $0.isNamed(text) }) ?? true else { throw .unlisted("scheme") }
    language = try target.required(
      "language", byteCountMax: Self.languageByteCountMax, "name the language of the page, such as en-US")
    app = try target.value(of: "app", byteCountMax: Self.appByteCountMax)
    isFallback = try Self.flag("fallback", of: target)
    if !isFallback, fallbackTarget.utf8.count > CallbackTarget.byteCountMax { throw .longTarget }
  }

  private static func flag(_ name: String, of target: CallbackTarget) throws(CallbackFault) -> Bool {
    switch try target.value(of: name, byteCountMax: 16)?.lowercased() {
    case nil, "false": return false
    case "true": return true
    default: throw .invalid(name, "must be true or false")
    }
  }

  private var fallbackTarget: String { target.setting("fallback", to: "true") }

  /// Where to send the browser; ASCII without blanks and control characters.
  ///
  /// The app compares letter by letter what reaches it (SwedbankPay/swedbank-pay-sdk-ios, Configuration), so
  /// the scheme keeps its case and the target every byte.
  /// - Parameter trampoline: the page on another host; an address without a query.
  public func location(trampoline: String) -> String {
    if isFallback { return "\(scheme.text)://\(origin.authority)\(target.text)" }
    let again = URLEscapes.component(origin.text + fallbackTarget)
    let name = app.map { "&app=\(URLEscapes.component($0))" } ?? ""
    return "\(trampoline)?target=\(again)&language=\(URLEscapes.component(language))\(name)"
  }
}
