// The merchant backend that Afterpay's SDKs require, with Cash App Pay. Pure; any thread.

internal import Domain
internal import Formats

/// One app's merchant backend for Afterpay's SDKs.
public struct AfterpayBackend: MerchantBackend {
  static let configuration = BackendEndpoint(
    "GET", "configuration", label: "afterpay_configuration", requiresUser: false)
  static let checkout = BackendEndpoint("POST", "checkout", label: "afterpay_checkout")
  static let capture = BackendEndpoint("POST", "capture", label: "afterpay_capture")
  static let state = BackendEndpoint("GET", "checkouts/{token}", label: "afterpay_checkouts")
  static let endpoints = [configuration, checkout, capture, state]

  static let configurationTarget = "/v2/configuration"

  public let base: String
  public let headers: [(name: String, value: String)]
  let settings: AfterpaySettings

  init(_ settings: AfterpaySettings, secret: String) {
    self.settings = settings
    base = settings.apiBase
    headers = settings.headers(secret: secret)
  }

  public func respond(to request: BackendRequest) -> BackendStep {
    do throws(AfterpayRefusal) {
      switch request.endpoint {
      case Self.configuration: return readConfiguration()
      case Self.checkout: return try startCheckout(request)
      case Self.capture: return try orderCapture(request)
      case Self.state: return try readState(request)
      default:
        throw AfterpayRefusal(
          AfterpayAnswers.problem("not-found", "Not found", 404, "There is nothing at this path."))
      }
    } catch {
      return .answer(error.answer)
    }
  }

  // MARK: The configuration

  private func readConfiguration() -> BackendStep {
    let locale = settings.region
    return .cached(BackendCall("GET", Self.configurationTarget, timeout: settings.timeout)) { reply in
      .answer(Self.answer(reply, locale))
    }
  }

  /// The SDKs cannot work without a maximum.
  private static func answer(_ reply: BackendReply, _ region: AfterpayRegion) -> BackendAnswer {
    let reply = AfterpayReply(reply)
    guard case .object(let status, let object) = reply, status < 300 else {
      // A refusal here is about the relay's own request.
      if case .object = reply { return AfterpayAnswers.failed(.trouble(.unreadable)) }
      return AfterpayAnswers.failed(reply)
    }
    guard let maximum = limit("maximumAmount", of: object) else {
      return AfterpayAnswers.failed(.trouble(.unreadable))
    }
    let locale: JSONValue = [
      "identifier": .string(region.identifier), "language": .string(region.language),
      "country": .string(region.country),
    ]
    return AfterpayAnswers.json(
      .object(
        [limit("minimumAmount", of: object), maximum].compactMap(\.self)
          + [.init(name: "locale", value: locale)]))
  }

  /// A limit as Afterpay wrote it; nil if it is absent or malformed.
  private static func limit(_ name: String, of object: JSONValue) -> JSONValue.Member? {
    guard let amount = object[name]?["amount"]?.stringValue,
      let currency = object[name]?["currency"]?.stringValue
    else { return nil }
    return .init(name: name, value: ["amount": .string(amount), "currency": .string(currency)])
  }

  /// The limits in a cached answer. Without one, Afterpay itself refuses an amount outside of them.
  static func limits(_ reply: BackendReply?) -> MoneyLimits {
    guard let reply, case .object(let status, let object) = AfterpayReply(reply), status < 300 else {
      return MoneyLimits()
    }
    return MoneyLimits(minimum: Money(object["minimumAmount"]), maximum: Money(object["maximumAmount"]))
  }
}
