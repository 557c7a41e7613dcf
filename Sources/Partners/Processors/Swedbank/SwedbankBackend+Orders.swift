// Starts, changes and aborts payment orders. Pure; any thread.

internal import Domain
internal import Formats

extension SwedbankBackend {
  // MARK: Start

  /// Creates a payment order, and stores it for the user before the app learns of it.
  func startPayment(_ request: BackendRequest, _ user: UserID) -> BackendStep {
    read(request, SwedbankRequestShapes.paymentOrder) { root in
      guard let order = root.member("paymentorder") else {
        return .answer(SwedbankProblem.badRequest("The body has no paymentorder."))
      }
      let draft = OrderDraft(order, reference: request.reference)
      guard !draft.usesToken || settings.allow.usePaymentToken else {
        return .answer(SwedbankProblem.disabled("use_payment_token"))
      }
      let body = completed(order, request)
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
  private func completed(_ order: JSONNode, _ request: BackendRequest) -> [UInt8] {
    var edits = TextEdits()
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
