// The payment URL of an Android app, which Swedbank Pay's page opens when the person is to come back. Pure;
// any thread.

/// A request to `sdk-callback/android-intent?package=…`: the browser is to hand this very address to the app.
public struct AndroidPaymentURL: Sendable, Hashable {
  /// What Swedbank Pay's SDK listens for (SwedbankPay/swedbank-pay-sdk-android, CallbackActivity).
  public static let action = "com.swedbankpay.mobilesdk.VIEW_PAYMENTORDER"

  /// Where the page leads.
  public let intent: IntentURL

  /// - Parameters:
  ///   - target: the request's own.
  ///   - packages: the only ones that may be led to; nil for all.
  /// - Throws: when the app is not named, or not as an app can be named.
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
