// Errors in the form that Swedbank Pay's SDKs parse: problem documents (RFC 9457) whose `type` decides
// (SwedbankPay/swedbank-pay-sdk-ios, Problems.swift; -android, Problems.kt). The SDKs read `detail`,
// `gatewayStatus` and `body`. Pure; any thread.

internal import Formats

enum SwedbankProblem {
  /// What the types that the SDKs know begin with. The relay makes no others under Swedbank Pay's name.
  private static let types = "https://api.payex.com/psp/errordetail/"
  static let contentType = "application/problem+json"

  /// The most of an upstream body that an answer repeats, in bytes.
  static let gatewayBodyMax = 4096

  private static func answer(
    _ type: String, _ title: String, _ status: Int, _ more: [(String, JSONValue)] = [],
    trouble: BackendTrouble? = nil
  ) -> BackendAnswer {
    problem(types + type, title, status, more, trouble: trouble)
  }

  /// - Parameter type: the whole type.
  private static func problem(
    _ type: String, _ title: String, _ status: Int, _ more: [(String, JSONValue)],
    trouble: BackendTrouble? = nil
  ) -> BackendAnswer {
    let members: [(String, JSONValue)] =
      [("type", .string(type)), ("title", .string(title)), ("status", .integer(Int64(status)))] + more
    let body = JSONValue.object(members.map { JSONValue.Member(name: $0.0, value: $0.1) })
    return BackendAnswer(
      status: status, contentType: contentType, headers: ["Cache-Control": "no-store"],
      body: body.serialized(), trouble: trouble)
  }

  /// A request that the SDK made wrong.
  /// - Parameters:
  ///   - source: the field that is wrong: `paymentorder.amount`.
  ///   - status: 400, or another one of the client errors. The type stays, because the SDKs know no other.
  static func badRequest(_ detail: String, source: String? = nil, status: Int = 400) -> BackendAnswer {
    let title = status == 400 ? "Bad Request" : "Invalid request"
    let field = source.map { [("source", JSONValue.string($0))] } ?? []
    return answer("mobilesdk/badrequest", title, status, [("detail", .string(detail))] + field)
  }

  static func badRequest(_ fault: ShapeFault) -> BackendAnswer {
    badRequest(fault.description, source: fault.path)
  }

  /// The app's configuration does not allow the request.
  static func disabled(_ key: String) -> BackendAnswer {
    answer(
      "mobilesdk/unauthorized", "Unauthorized", 401,
      [("detail", .string("This is not allowed for the app: `swedbank.allow.\(key)`."))])
  }

  /// An object that does not exist, or that belongs to another user. The SDKs know this type of Swedbank
  /// Pay's.
  static func notFound(_ detail: String) -> BackendAnswer {
    answer("notfound", "Not Found", 404, [("detail", .string(detail))])
  }

  static let unknownOrder = notFound("The user has started no payment order with this id.")
  static let unknownPayer = notFound("The user has started no payment for this payer.")

  /// Swedbank Pay answered something that it does not document. An SDK recognises that by `gatewayStatus`,
  /// and reads `body` only if it is a string.
  static func badGateway(status: Int, body: String?, trouble: BackendTrouble) -> BackendAnswer {
    let text = body.map { [("body", JSONValue.string($0))] } ?? []
    return answer(
      "mobilesdk/badgateway", "Bad Gateway", 502,
      [
        ("detail", "Swedbank Pay's answer could not be used."), ("gatewayStatus", .integer(Int64(status))),
      ] + text, trouble: trouble)
  }

  /// There was no answer. Without `gatewayStatus`, which an SDK takes for an answer.
  static let unreachable = answer(
    "mobilesdk/badgateway", "Bad Gateway", 502,
    [("detail", "There is no connection to Swedbank Pay. Try again later.")], trouble: .unreachable)

  static let timeout = answer(
    "mobilesdk/gatewaytimeout", "Gateway Timeout", 504,
    [("detail", "Swedbank Pay did not answer in time. Try again later.")], trouble: .timeout)

  /// - Parameter own: what the types of the relay's own problems begin with.
  static func busy(own: String) -> BackendAnswer {
    problem(
      own + "busy", "Unavailable", 503,
      [("detail", "Too many requests to Swedbank Pay are under way. Nothing was sent; try again.")])
  }

  /// An error of the relay's own, with the type that the SDKs know for it.
  /// - Parameter own: what the types of those that the SDKs do not know begin with.
  static func rephrased(_ fault: BackendFault, own: String = RelayProblem.types) -> BackendAnswer {
    let type =
      switch fault.status {
      case 401: types + "mobilesdk/unauthorized"
      case 404: types + "notfound"
      case 400...499: types + "mobilesdk/badrequest"
      case 502: types + "mobilesdk/badgateway"
      case 504: types + "mobilesdk/gatewaytimeout"
      default: own + fault.slug
      }
    return problem(type, fault.title, fault.status, [("detail", .string(fault.detail))])
  }
}
