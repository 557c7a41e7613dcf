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

  func rephrase(_ fault: BackendFault) -> BackendAnswer? {
    SwedbankProblem.rephrased(fault, own: settings.problemTypes)
  }

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
        secrets: [merchantToken, secrets.pathToken].filter { !$0.isEmpty }),
      problemTypes: settings.problemTypes)
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

// MARK: - Resources

// Reads payment orders and their tokens for apps. Pure; any thread.

extension SwedbankBackend {
  /// The version of the API whose payment orders have a status, also those that were created without it
  /// (https://developer.swedbankpay.com/checkout-v3/technical-reference/status-models).
  static let currentVersion = ["Content-Type": "application/json;version=3.1"]

  private static let expansionsMax = 16

  /// A payment order with some of its resources.
  func expand(_ request: BackendRequest, _ user: UserID) -> BackendStep {
    guard settings.allow.expand else { return .answer(SwedbankProblem.disabled("expand")) }
    return read(request, SwedbankRequestShapes.expand) { root in
      var names: [String] = []
      root.member("expand")?.forEachElement { names.append($0.string ?? "") }
      guard names.count <= Self.expansionsMax, names.allSatisfy(Self.isResourceName) else {
        return .answer(
          SwedbankProblem.badRequest(
            "expand must have at most \(Self.expansionsMax) names of resources, such as paid.",
            source: "expand"))
      }
      let query = names.isEmpty ? "" : "?$expand=" + names.joined(separator: ",")
      return withOrder(SwedbankOrderPath(resource: root.member("resource")?.string), of: user) { order in
        call("GET", order.text + query, for: request) { .answer(answer($0)) }
      }
    }
  }

  private static func isResourceName(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count)
      && name.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
  }

  /// The types of tokens that an app learns of, as with Swedbank Pay's example backend. Tokens of stored
  /// cards belong to payers.
  private static let tokenTypes = ["recurrence", "unscheduled"]

  /// Which tokens a payment generated: `{"recurrence":true}`. Never their values.
  func listTokenTypes(_ request: BackendRequest, _ user: UserID) -> BackendStep {
    guard settings.allow.tokens else { return .answer(SwedbankProblem.disabled("tokens")) }
    return read(request, SwedbankRequestShapes.tokens) { root in
      withOrder(SwedbankOrderPath(resource: root.member("resource")?.string), of: user) { order in
        call("GET", order.text + SwedbankQueries.expansion, for: request, headers: Self.currentVersion) {
          success in
          let types = (JSONDocument.read(success.body) { SwedbankResource($0)?.tokenTypes } ?? nil) ?? []
          let flags = Self.tokenTypes.filter(types.contains).map {
            JSONValue.Member(name: $0, value: .bool(true))
          }
          guard !flags.isEmpty else {
            return .answer(SwedbankProblem.notFound("The payment generated no token."))
          }
          return .answer(
            SwedbankSuccess(status: 200, body: JSONValue.object(flags).serialized()).answer())
        }
      }
    }
  }
}

// MARK: - Payers

// Lists and deletes the stored cards of a payer. A payer belongs to the user who was the first to name it in
// a payment. Pure; any thread.

extension SwedbankBackend {
  func listPayerTokens(_ request: BackendRequest, _ user: UserID) -> BackendStep {
    withTokens(request, user) { payer, success in
      .answer(
        answer(success) { root, edits in
          SwedbankResource(root)?.payerTokens?.forEachElement { token in
            guard let value = token.member("paymentToken")?.string, !value.isEmpty else { return }
            let path = "\(request.rootPath)payers/\(PercentEncoding.encode(payer.text))/paymentTokens/"
            let link: JSONValue = ["delete": .string(path + segment(of: value))]
            edits.set([("mobileSDK", link.serialized())], in: token)
          }
        })
    }
  }

  /// The token in the path of its link: its value only if apps may know it.
  private func segment(of token: String) -> String {
    settings.allow.expandTokens ? PercentEncoding.encode(token) : secrets.name(ofToken: token)
  }

  /// Finds the operation in the list, because its URL may not be stored, and carries it out.
  func deletePayerToken(_ request: BackendRequest, _ user: UserID) -> BackendStep {
    guard settings.allow.payerTokens else { return .answer(SwedbankProblem.disabled("payer_tokens")) }
    return read(request, SwedbankRequestShapes.deleteToken) { root in
      guard root.member("state") != nil || root.member("status") != nil else {
        return .answer(
          SwedbankProblem.badRequest(ShapeFault(path: "state", message: "is required")))
      }
      let comment = root.member("comment")?.bytes(of: request.body) ?? []
      let body = Array(#"{"state":"Deleted","comment":"#.utf8) + comment + [UInt8(ascii: "}")]
      return withTokens(request, user) { _, success in
        let href = JSONDocument.read(success.body) { root in
          deletion(of: request.parameters["token"] ?? "", in: SwedbankResource(root)?.payerTokens)
        }
        guard let href = href ?? nil else {
          return .answer(SwedbankProblem.notFound("The payer has no token with this id to delete."))
        }
        guard let target = api.target(ofOperation: href) else { return .answer(success.unusable) }
        var reader = reader()
        reader.acceptsNoContent = true
        return call("PATCH", target, for: request, body: body, reader: reader) { .answer(answer($0)) }
      }
    }
  }

  /// The URL at which a token is deleted.
  /// - Parameter name: the last segment of its link, or its value.
  private func deletion(of name: String, in tokens: JSONNode?) -> String? {
    var href: String?
    tokens?.forEachElement { token in
      guard href == nil, let value = token.member("paymentToken")?.string, !value.isEmpty,
        value == name || secrets.name(ofToken: value) == name
      else { return }
      href = SwedbankResource.href(SwedbankRelation.deleteToken, in: token)
    }
    return href
  }

  /// Fetches the tokens of a payer of the user's.
  private func withTokens(
    _ request: BackendRequest, _ user: UserID,
    then: @escaping @Sendable (CustomerID, SwedbankSuccess) -> BackendStep
  ) -> BackendStep {
    guard settings.allow.payerTokens else { return .answer(SwedbankProblem.disabled("payer_tokens")) }
    guard let payer = Self.payer(request.parameters["payer"]) else {
      return .answer(SwedbankProblem.unknownPayer)
    }
    let proceed: @Sendable (Bool) -> BackendStep = { isOwner in
      guard isOwner else { return .answer(SwedbankProblem.unknownPayer) }
      let target = "/psp/paymentorders/payerownedpaymenttokens/" + PercentEncoding.encode(payer.text)
      return call("GET", target, for: request) { then(payer, $0) }
    }
    // A payer whose reference is the user's own id is that user's, also before the first payment here.
    return payer == CustomerID(user.text)
      ? .acquireCustomer(payer, user, then: proceed) : .findCustomer(payer, user, then: proceed)
  }

  /// - Returns: nil for a reference that a server could take for more than one segment of a path.
  private static func payer(_ reference: String?) -> CustomerID? {
    guard let reference = UntrustedText.identifier(reference), reference != ".", reference != "..",
      !reference.utf8.contains(UInt8(ascii: "/")), !reference.utf8.contains(UInt8(ascii: "\\"))
    else { return nil }
    return CustomerID(reference)
  }
}

// MARK: - Orders

// Starts, changes and aborts payment orders. Pure; any thread.

extension SwedbankBackend {
  // MARK: Start

  /// Creates a payment order, and stores it for the user before the app learns of it.
  func startPayment(_ request: BackendRequest, _ user: UserID) -> BackendStep {
    read(request, SwedbankRequestShapes.paymentOrder) { root in
      guard let order = root.member("paymentorder") else {
        return .answer(SwedbankProblem.badRequest("The body has no paymentorder."))
      }
      let made: PriceID?
      do throws(ShapeFault) {
        made = try SwedbankPriceList(prices: settings.prices).check(order)
      } catch {
        return .answer(SwedbankProblem.badRequest(error.description, source: error.path, status: 422))
      }
      let draft = OrderDraft(order, reference: request.reference, price: made)
      guard !draft.usesToken || settings.allow.usePaymentToken else {
        return .answer(SwedbankProblem.disabled("use_payment_token"))
      }
      let body = completed(order, request, line: made)
      return withContext(request, user) {
        withPayer(draft.payerReference, user) { payer in
          call("POST", "/psp/paymentorders", for: request, body: body) { success in
            store(success, draft, payer, request, user)
          }
        }
      }
    }
  }

  /// The client's payment order with the members that only the relay knows. All other bytes stay.
  /// - Parameter price: of the line to add; nil for none.
  private func completed(_ order: JSONNode, _ request: BackendRequest, line price: PriceID?) -> [UInt8] {
    var edits = TextEdits()
    if let price,
      let line = settings.prices[price]?.line(price, name: order.member("description")?.string ?? "")
    {
      edits.set([("orderItems", JSONValue.array([line]).serialized())], in: order)
    }
    func text(_ text: String) -> [UInt8] { JSONValue.string(text).serialized() }
    if let payee = order.member("payeeInfo") {
      var members = [
        ("payeeId", text(settings.payeeID)), ("payeeReference", text(request.reference)),
      ]
      if let name = settings.payeeName { members.append(("payeeName", text(name))) }
      edits.set(members, in: payee)
    }
    if let urls = order.member("urls") { edits.set([("callbackUrl", text(callbackURL))], in: urls) }
    return edits.applied(to: request.body)
  }

  /// Where Swedbank Pay reports changes of a payment order.
  var callbackURL: String {
    let app = PercentEncoding.encode(app.text)
    return "\(settings.publicOrigin)/v1/\(app)/webhooks/\(SwedbankProcessor.name)/\(secrets.pathToken)"
  }

  /// Continues if the request names no context, or one of the user's.
  private func withContext(
    _ request: BackendRequest, _ user: UserID, then: @escaping @Sendable () -> BackendStep
  ) -> BackendStep {
    guard let context = request.contextID else { return then() }
    return .findContext(context, user) { exists in
      if exists { return then() }
      return .answer(
        SwedbankProblem.badRequest("The user has no context with the id in `X-Context-Id`.", status: 422))
    }
  }

  /// Continues if the order names no payer, or one that is not another user's: Swedbank Pay offers a payer's
  /// stored cards to everybody who names the payer. A payer of nobody becomes the user's before the call, so
  /// that of two users who start with it at once only one gets a payment page.
  private func withPayer(
    _ reference: String?, _ user: UserID, then: @escaping @Sendable (CustomerID?) -> BackendStep
  ) -> BackendStep {
    guard let reference else { return then(nil) }
    guard let payer = UntrustedText.identifier(reference).map(CustomerID.init) else {
      return .answer(
        SwedbankProblem.badRequest(
          "paymentorder.payer.payerReference may have 255 bytes and no control characters.",
          source: "paymentorder.payer.payerReference"))
    }
    return .acquireCustomer(payer, user) { isOwner in
      isOwner ? then(payer) : .answer(SwedbankProblem.unknownPayer)
    }
  }

  private func store(
    _ success: SwedbankSuccess, _ draft: OrderDraft, _ payer: CustomerID?, _ request: BackendRequest,
    _ user: UserID
  ) -> BackendStep {
    let created = JSONDocument.read(success.body) { root in SwedbankResource(root)?.id(at: api) }
    // Without its id, nobody would ever learn that the payment was made.
    guard let order = created ?? nil else { return .answer(success.unusable) }
    let report = PurchaseReport(
      key: order.key, observations: .started, customerID: payer, prices: draft.prices, startedBy: user,
      startedIn: request.contextID, payment: draft.facts, happenedAt: request.receivedAt)
    let answer = answer(success) { root, edits in
      link(order, root, request, in: success.body, &edits)
    }
    return .store(report) { .answer(answer) }
  }

  /// Adds the link with which an SDK of version 2 changes the instrument. Version 3 uses `patch`.
  private func link(
    _ order: SwedbankOrderPath, _ root: JSONNode, _ request: BackendRequest, in body: [UInt8],
    _ edits: inout TextEdits
  ) {
    guard let resource = SwedbankResource(root), resource.href(SwedbankRelation.setInstrument) != nil else {
      return
    }
    let path = "\(request.rootPath)paymentorders/\(order.segment)/setInstrument"
    var members = Array(#"{"setInstrument":"#.utf8) + JSONValue.string(path).serialized()
    if let instruments = resource.order?.member("availableInstruments"), instruments.isArray {
      members += Array(#","validInstruments":"#.utf8) + instruments.bytes(of: body)
    }
    edits.set([("mobileSDK", members + [UInt8(ascii: "}")])], in: root)
  }

  // MARK: Change

  /// Version 2: finds the operation in the order, because its URL may not be stored, and carries it out.
  func setInstrument(_ request: BackendRequest, _ user: UserID) -> BackendStep {
    read(request, SwedbankRequestShapes.setInstrument) { _ in
      let order = request.parameters["order"].flatMap { SwedbankOrderPath(segment: $0) }
      return withOrder(order, of: user) { order in
        call("GET", order.text, for: request) { success in
          let href = JSONDocument.read(success.body) { root in
            SwedbankResource(root)?.href(SwedbankRelation.setInstrument)
          }
          guard let href = href ?? nil else {
            return .answer(SwedbankProblem.notFound("The instrument of this payment cannot be changed."))
          }
          guard let target = api.target(ofOperation: href) else { return .answer(success.unusable) }
          return call("PATCH", target, for: request, body: request.body) { .answer(answer($0)) }
        }
      }
    }
  }

  /// Version 3: the app names the operation's URL, which is the payment order's.
  func patch(_ request: BackendRequest, _ user: UserID) -> BackendStep {
    guard settings.allow.patch else { return .answer(SwedbankProblem.disabled("patch")) }
    return read(request, SwedbankRequestShapes.patch) { root in
      let change = root.member("paymentorder")?.bytes(of: request.body) ?? []
      let body = Array(#"{"paymentorder":"#.utf8) + change + [UInt8(ascii: "}")]
      return withOrder(SwedbankOrderPath(root.member("href")?.string, at: api), of: user) { order in
        call("PATCH", order.text, for: request, body: body) { .answer(answer($0)) }
      }
    }
  }
}
