// The payment URL of an iOS app, which Swedbank Pay's page opens when the customer returns. It is a universal
// link; a browser requests it only if the link did not open the app. Pure; thread-safe.

/// A request to `sdk-callback/ios-universal-link?scheme=…&language=…[&app=…][&fallback=true]`.
///
/// The first time, the browser is redirected to a page on another host. Its button is the universal link with
/// `fallback=true`, because only a tap opens an app. If the browser requests it again, it is redirected to
/// the same URL with the app's custom scheme.
public struct IOSPaymentURL: Sendable, Hashable {
  /// The maximum lengths in bytes.
  static let languageByteCountMax = 64
  static let appByteCountMax = 256

  private let scheme: CustomScheme
  private let language: String
  private let app: String?
  private let isFallback: Bool
  private let target: CallbackTarget
  private let origin: WebOrigin

  /// - Parameters:
  ///   - target: the target of the request.
  ///   - schemes: the allowed schemes; nil allows every scheme that an app may own.
  /// - Throws: when a parameter is missing or invalid.
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
    // Schemes are case-insensitive (RFC 3986 §3.1).
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

  /// The redirect target; ASCII without blanks and control characters.
  ///
  /// The app compares the URL character by character (SwedbankPay/swedbank-pay-sdk-ios, Configuration), so
  /// the scheme keeps its case and the target every byte.
  /// - Parameter trampoline: the URL of the page on another host, without a query.
  public func location(trampoline: String) -> String {
    if isFallback { return "\(scheme.text)://\(origin.authority)\(target.text)" }
    let again = PercentEncoding.encode(origin.text + fallbackTarget, keeping: .component)
    let name = app.map { "&app=\(PercentEncoding.encode($0, keeping: .component))" } ?? ""
    let page = PercentEncoding.encode(language, keeping: .component)
    return "\(trampoline)?target=\(again)&language=\(page)\(name)"
  }
}
