// The payment URL of an Android app, which Swedbank Pay's page opens when the customer returns. Pure;
// thread-safe.

/// A request to `sdk-callback/android-intent?package=…`: the browser must pass this URL to the app.
public struct AndroidPaymentURL: Sendable, Hashable {
  /// The action that Swedbank Pay's SDK handles (SwedbankPay/swedbank-pay-sdk-android, CallbackActivity).
  public static let action = "com.swedbankpay.mobilesdk.VIEW_PAYMENTORDER"

  /// The URL that the page links to.
  public let intent: IntentURL

  /// - Parameters:
  ///   - target: the target of the request.
  ///   - packages: the allowed packages; nil allows all.
  /// - Throws: when the package is missing, invalid or not allowed.
  public init(
    _ target: CallbackTarget, origin: WebOrigin, packages: [PackageName]?
  ) throws(CallbackFault) {
    let name = "package"
    let text = try target.required(
      name, byteCountMax: PackageName.countMax, "name the app's package, such as com.example.app")
    let package: PackageName
    do {
      package = try PackageName(text)
    } catch {
      throw .invalid(name, error.description)
    }
    guard packages?.contains(package) ?? true else { throw .unlisted(name) }
    guard
      let intent = IntentURL(
        origin: origin, target: target.text, package: package, action: Self.action,
        endsWithSemicolon: true)
    else { throw .impureTarget }
    self.intent = intent
  }
}
