// The merchant's server that Swedbank Pay's SDKs require
// (SwedbankPay/swedbank-pay-sdk-mobile-example-merchant, documentation/swedbankpaysdk_openapi.yaml). It adds
// what only a server may know, and lets a user touch only payment orders that this user started. Pure; any
// thread.

internal import Domain
internal import Formats

/// One app's merchant backend for Swedbank Pay's SDKs.
struct SwedbankBackend: MerchantBackend {
  let settings: SwedbankSettings
  let app: AppSlug
  let secrets: SwedbankSecrets
  /// Where every request goes.
  let api: SwedbankBase
  private let merchantToken: String

  init(_ settings: SwedbankSettings, app: AppSlug, merchantToken: String, secrets: SwedbankSecrets) {
    self.settings = settings
    self.app = app
    self.merchantToken = merchantToken
    self.secrets = secrets
    api = SwedbankBase(settings.apiBase)
  }

  var base: String { api.text }

  var account: AccountID? { settings.account }

  var headers: [(name: String, value: String)] { Self.headers(merchantToken: merchantToken) }

  /// https://developer.swedbankpay.com/checkout-v3/get-started/fundamental-principles
  static func headers(merchantToken: String) -> [(name: String, value: String)] {
    [
      ("Authorization", "Bearer \(merchantToken)"),
      ("Accept", "application/problem+json; q=1.0, application/json; q=0.9"),
    ]
  }

  static func rephrase(_ fault: BackendFault) -> BackendAnswer? { SwedbankProblem.rephrased(fault) }

  enum Endpoint {
    static let root = BackendEndpoint("GET", "", label: "swedbank_root", requiresUser: false)
    static let consumers = BackendEndpoint(
      "POST", "consumers", label: "swedbank_consumers", requiresUser: false)
    static let paymentOrders = BackendEndpoint("POST", "paymentorders", label: "swedbank_paymentorders")
    static let setInstrument = BackendEndpoint(
      "PATCH", "paymentorders/{order}/setInstrument", label: "swedbank_set_instrument")
    static let patch = BackendEndpoint("PATCH", "patch", label: "swedbank_patch")
    static let expand = BackendEndpoint("POST", "expand", label: "swedbank_expand")
    static let tokens = BackendEndpoint("POST", "tokens", label: "swedbank_tokens")
    static let payerTokens = BackendEndpoint(
      "GET", "payers/{payer}/paymentTokens", label: "swedbank_payer_tokens")
    static let deleteToken = BackendEndpoint(
      "PATCH", "payers/{payer}/paymentTokens/{token}", label: "swedbank_delete_token")

    static let all = [
      root, consumers, paymentOrders, setInstrument, patch, expand, tokens, payerTokens, deleteToken,
    ]
  }

  func respond(to request: BackendRequest) -> BackendStep {
    let endpoint = request.endpoint
    if endpoint == Endpoint.root { return .answer(links(request)) }
    if endpoint == Endpoint.consumers { return startIdentification(request) }
    guard let user = request.user else {
      return .answer(SwedbankProblem.badRequest("Name the user, with `X-User-Id` for example."))
    }
    switch endpoint {
    case Endpoint.paymentOrders: return startPayment(request, user)
    case Endpoint.setInstrument: return setInstrument(request, user)
    case Endpoint.patch: return patch(request, user)
    case Endpoint.expand: return expand(request, user)
    case Endpoint.tokens: return listTokenTypes(request, user)
    case Endpoint.payerTokens: return listPayerTokens(request, user)
    case Endpoint.deleteToken: return deletePayerToken(request, user)
    default: return .answer(SwedbankProblem.notFound("There is nothing at this path."))
    }
  }

  /// The entry point. The SDKs fetch it before each payment, unless they may keep it. The links are paths
  /// from the host's root, because the SDKs resolve them against the URL of this request.
  private func links(_ request: BackendRequest) -> BackendAnswer {
    let links: JSONValue = [
      "consumers": .string(request.rootPath + "consumers"),
      "paymentorders": .string(request.rootPath + "paymentorders"),
    ]
    return BackendAnswer(
      status: 200, headers: ["Cache-Control": "private, max-age=3600"], body: links.serialized())
  }

  /// Starts a session in which the payer identifies (Checkin of version 2). Its answer has a token for the
  /// page that the app shows, which is no payment token.
  private func startIdentification(_ request: BackendRequest) -> BackendStep {
    read(request, SwedbankRequestShapes.consumers) { _ in
      call(
        "POST", "/psp/consumers", for: request, body: request.body, reader: reader(hidesTokens: false)
      ) { .answer(answer($0, hidesTokens: false)) }
    }
  }
}

// MARK: Requests and answers

extension SwedbankBackend {
  /// Reads a request's JSON.
  /// - Parameter body: gets the document when it has its shape.
  func read(
    _ request: BackendRequest, _ shape: RequestShape, _ body: (JSONNode) -> BackendStep
  ) -> BackendStep {
    guard MediaName(request.contentType).text == "application/json" else {
      return .answer(SwedbankProblem.badRequest("Send `Content-Type: application/json`.", status: 415))
    }
    let step = JSONDocument.read(request.body) { root -> BackendStep in
      do throws(ShapeFault) {
        try shape.check(root, at: "")
        return body(root)
      } catch {
        return .answer(SwedbankProblem.badRequest(error))
      }
    }
    return step ?? .answer(SwedbankProblem.badRequest("The body is not JSON."))
  }

  func reader(hidesTokens: Bool = true) -> SwedbankReplyReader {
    SwedbankReplyReader(
      mask: TokenMask(
        isOff: !hidesTokens || settings.allow.expandTokens,
        secrets: [merchantToken, secrets.pathToken].filter { !$0.isEmpty }))
  }

  /// Calls the API. Every answer but a success ends the request.
  /// - Parameter target: path and query, escaped.
  func call(
    _ method: String, _ target: String, for request: BackendRequest, headers: [String: String] = [:],
    body: [UInt8] = [], reader: SwedbankReplyReader? = nil,
    then: @escaping @Sendable (SwedbankSuccess) -> BackendStep
  ) -> BackendStep {
    var headers = headers
    if method != "GET" { headers["Content-Type"] = "application/json" }
    if let address = Self.forwarded(request.clientAddress) { headers["Forwarded"] = address }
    let reader = reader ?? self.reader()
    let call = BackendCall(method, target, headers: headers, body: body, timeout: settings.timeout)
    return .call(call) { reply in
      switch reader.read(reply) {
      case .success(let success): then(success)
      case .failure(let ending): .answer(ending.answer)
      }
    }
  }

  /// The payer's address (RFC 7239 §4), for Swedbank Pay's checks against fraud. Nil unless it is an address.
  private static func forwarded(_ address: String) -> String? {
    let isAddress = address.utf8.allSatisfy {
      HexDigit.value($0) != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
    }
    guard isAddress, !address.isEmpty else { return nil }
    return address.contains(":") ? "for=\"[\(address)]\"" : "for=\(address)"
  }

  /// The answer to the app, with its secrets and tokens hidden.
  func answer(
    _ success: SwedbankSuccess, hidesTokens: Bool = true,
    _ more: (JSONNode, inout TextEdits) -> Void = { _, _ in }
  ) -> BackendAnswer {
    let edits = JSONDocument.read(success.body) { root in
      var edits = reader(hidesTokens: hidesTokens).mask.edits(root)
      more(root, &edits)
      return edits
    }
    return success.answer(edits ?? TextEdits())
  }

  /// Continues with a payment order that the user started.
  func withOrder(
    _ order: SwedbankOrderPath?, of user: UserID,
    then: @escaping @Sendable (SwedbankOrderPath) -> BackendStep
  ) -> BackendStep {
    guard let order else { return .answer(SwedbankProblem.unknownOrder) }
    return .findPayment(order.key, user) { payment in
      payment == nil ? .answer(SwedbankProblem.unknownOrder) : then(order)
    }
  }
}
