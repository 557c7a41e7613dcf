// How the simulated Swedbank Pay answers its API's requests. Pure.

internal import Formats
internal import HTTPServer

extension SandboxSwedbankAccount {
  /// Answers a request of a merchant's server, or of a payer's browser.
  /// - Parameter now: Unix milliseconds.
  public mutating func answer(to request: SandboxRequest, now: Int64) -> SandboxOutcome {
    if let outcome = answerPayer(request, now: now) { return outcome }
    do throws(SandboxSwedbankProblem) {
      return try call(request, now: now)
    } catch {
      let note = error.items.map { "\($0.name) \($0.description)" }.joined(separator: "; ")
      return SandboxOutcome(
        error.response(instance: SandboxIDs.uuid(&random)), note: note.isEmpty ? error.type : note)
    }
  }

  private mutating func call(
    _ request: SandboxRequest, now: Int64
  ) throws(SandboxSwedbankProblem) -> SandboxOutcome {
    try authenticate(request)
    guard let route = SandboxSwedbankRoute(request.segments) else { throw .notFound }
    guard let operation = route.operation(request.method) else { throw .notAllowed(route.methods) }
    switch route {
    case .consumers: return try startConsumerSession(request)
    case .orders: return try create(request, now: now)
    case .order(let uuid):
      return operation == .get ? try get(request, uuid) : try patch(request, uuid, now: now)
    case .paid(let uuid): return SandboxOutcome(200, ["paid": try known(uuid).paid])
    case .transactions(let uuid, let action): return try move(request, uuid, action, now: now)
    case .payerTokens(let payer):
      return operation == .tokens && request.method == "GET"
        ? try tokens(of: payer) : try deleteTokens(request) { $0.payer == payer }
    case .token(let token): return try deleteTokens(request) { $0.token == token }
    }
  }

  private func authenticate(_ request: SandboxRequest) throws(SandboxSwedbankProblem) {
    let prefix = "Bearer "
    guard let value = request.header("Authorization"), value.hasPrefix(prefix),
      value.utf8.count > prefix.utf8.count, token.map({ value == prefix + $0 }) ?? true
    else { throw .unauthorized }
  }

  private func known(_ uuid: String) throws(SandboxSwedbankProblem) -> SandboxSwedbankOrder {
    guard let order = orders[uuid] else { throw .notFound }
    return order
  }

  /// The version that a request names, also in a GET.
  private func version(_ request: SandboxRequest) -> SandboxSwedbankOrder.Version? {
    request.mediaParameter("version").flatMap(SandboxSwedbankOrder.Version.init)
  }

  private func body(_ request: SandboxRequest) throws(SandboxSwedbankProblem) -> JSONValue {
    guard request.mediaType == "application/json" else {
      throw .input("Content-Type", "is not application/json")
    }
    guard let object = request.object else { throw .input("body", "is not a JSON object") }
    return object
  }

  private func outcome(
    _ status: Int, _ uuid: String, _ request: SandboxRequest, note: String? = nil
  ) throws(SandboxSwedbankProblem) -> SandboxOutcome {
    let names = request.parameter("$expand")?.split(separator: ",").map(String.init) ?? []
    let view = SandboxSwedbankOrder.View(version: version(request), expanded: Set(names), base: base)
    return SandboxOutcome(status, try known(uuid).resource(view), note: note)
  }

  // MARK: Orders

  private mutating func startConsumerSession(
    _ request: SandboxRequest
  ) throws(SandboxSwedbankProblem) -> SandboxOutcome {
    let body = try body(request)
    var faults: [SandboxSwedbankProblem.Item] = []
    if body["operation"]?.stringValue != "initiate-consumer-session" {
      faults.append(.init(name: "operation", description: "is not initiate-consumer-session"))
    }
    if (body["language"]?.stringValue ?? "").isEmpty {
      faults.append(.init(name: "language", description: "is missing"))
    }
    let name = "shippingAddressRestrictedToCountryCodes"
    if body[name]?.elements?.allSatisfy({ $0.stringValue != nil }) != true {
      faults.append(.init(name: name, description: "is not a list of countries"))
    }
    guard faults.isEmpty else { throw .input(faults) }
    let token = SandboxIDs.word(8, &random)
    let operation: JSONValue = [
      "method": "GET", "rel": "view-consumer-identification",
      "href": .string("\(base)/consumers/\(token)"), "contentType": "application/javascript",
    ]
    return SandboxOutcome(200, ["token": .string(token), "operations": [operation]])
  }

  private mutating func create(
    _ request: SandboxRequest, now: Int64
  ) throws(SandboxSwedbankProblem) -> SandboxOutcome {
    let body = try body(request)
    guard let object = body["paymentorder"], object.members != nil else {
      throw .input("paymentorder", "is missing")
    }
    guard uuids.count < Self.ordersMax else { throw .system(500, "the sandbox is full") }
    if let payeeID, object["payeeInfo"]?["payeeId"]?.stringValue != payeeID {
      throw .input("paymentorder.payeeInfo.payeeId", "is not this merchant's")
    }
    if let token = object["paymentToken"]?.stringValue, !tokens.contains(where: { $0.token == token }) {
      throw .input("paymentorder.paymentToken", "is unknown")
    }
    var reader = SandboxSwedbankOrderReader(object)
    let ids = (order: SandboxIDs.uuid(&random), payment: SandboxIDs.uuid(&random))
    let order = try reader.order(
      version: version(request), creator: request.header("User-Agent") ?? "", uuids: ids,
      number: nextNumber(), now: now)
    try use(order.payeeReference, "paymentorder.payeeInfo.payeeReference")
    add(order)
    let note = "\(Self.amount(order.amount, order)) at \(base)/checkout/\(order.uuid)"
    return try outcome(201, order.uuid, request, note: note)
  }

  /// A reference of the merchant names one transaction.
  private mutating func use(_ reference: String, _ name: String) throws(SandboxSwedbankProblem) {
    guard references.insert(reference).inserted else { throw .input(name, "was used before") }
  }

  private mutating func get(
    _ request: SandboxRequest, _ uuid: String
  ) throws(SandboxSwedbankProblem) -> SandboxOutcome {
    update(uuid) { $0.reads += 1 }
    return try outcome(200, uuid, request, note: try known(uuid).status.rawValue)
  }

  private mutating func patch(
    _ request: SandboxRequest, _ uuid: String, now: Int64
  ) throws(SandboxSwedbankProblem) -> SandboxOutcome {
    let order = try known(uuid)
    guard let object = try body(request)["paymentorder"], object.members != nil else {
      throw .input("paymentorder", "is missing")
    }
    let operation = object["operation"]?.stringValue ?? ""
    guard ["SetInstrument", "UpdateOrder", "Abort"].contains(operation) else {
      throw .input("paymentorder.operation", "is not SetInstrument, UpdateOrder or Abort")
    }
    guard order.isOpen else { throw .forbidden("The order is \(order.status.rawValue)") }
    switch operation {
    case "SetInstrument":
      guard let instrument = object["instrument"]?.stringValue,
        order.availableInstruments.contains(instrument)
      else { throw .input("paymentorder.instrument", "is not available") }
      update(uuid) { ($0.instrument, $0.updated) = (instrument, now) }
    case "UpdateOrder":
      var reader = SandboxSwedbankOrderReader(object)
      let amounts = try reader.amounts()
      update(uuid) { ($0.amount, $0.vatAmount, $0.updated) = (amounts.amount, amounts.vatAmount, now) }
    default:
      guard let reason = object["abortReason"]?.stringValue, !reason.isEmpty else {
        throw .input("paymentorder.abortReason", "is missing")
      }
      update(uuid) { $0.abortReason = reason }
      _ = change(uuid, .abort, now: now)
    }
    return try outcome(200, uuid, request, note: operation)
  }

  // MARK: Money

  /// Captures, cancels or reverses.
  private mutating func move(
    _ request: SandboxRequest, _ uuid: String, _ action: SandboxSwedbankAction, now: Int64
  ) throws(SandboxSwedbankProblem) -> SandboxOutcome {
    let order = try known(uuid)
    if action == .capture { update(uuid) { $0.captureRequests += 1 } }
    guard let transaction = try body(request)["transaction"], transaction.members != nil else {
      throw .input("transaction", "is missing")
    }
    var amount: Int64?
    if action != .cancel {
      guard let given = transaction["amount"]?.integerValue, given > 0 else {
        throw .input("transaction.amount", "is not an amount in the smallest unit of the currency")
      }
      amount = given
    }
    guard let reference = transaction["payeeReference"]?.stringValue,
      SandboxSwedbankOrderReader.isReference(reference)
    else { throw .input("transaction.payeeReference", "is not a text of 1 to 30 letters and digits") }
    try use(reference, "transaction.payeeReference")
    guard change(uuid, action, amount: amount, reference: reference, now: now) else {
      // It was not used after all.
      references.remove(reference)
      throw .forbidden("There is nothing left to \(action.rawValue), or less than the amount")
    }
    let note = "\(action.rawValue) \(Self.amount(amount ?? order.capturableAmount, order))"
    guard order.version == .v2, version(request) == nil else {
      return try outcome(200, uuid, request, note: note)
    }
    let names: [SandboxSwedbankAction: String] = [
      .capture: "capture", .cancel: "cancellation", .reverse: "reversal",
    ]
    return SandboxOutcome(
      200, try known(uuid).transactionResource(names[action] ?? action.rawValue), note: note)
  }

  /// In major units, for people: `10.00 SEK`.
  static func amount(_ amount: Int64, _ order: SandboxSwedbankOrder) -> String {
    "\(amount / 100).\(amount % 100 < 10 ? "0" : "")\(amount % 100) \(order.currency)"
  }

  // MARK: Tokens

  private func tokens(of payer: String) throws(SandboxSwedbankProblem) -> SandboxOutcome {
    let owned = tokens.filter { $0.payer == payer }
    guard !owned.isEmpty else { throw .notFound }
    let id = "/psp/paymentorders/payerownedpaymenttokens/\(PercentEncoding.encode(payer))"
    func operation(_ rel: String, _ path: String) -> JSONValue {
      [
        "method": "PATCH", "href": .string(base + path), "rel": .string(rel),
        "contentType": "application/json",
      ]
    }
    let list = owned.map { stored -> JSONValue in
      [
        "paymentToken": .string(stored.token), "instrument": "CreditCard",
        "instrumentDisplayName": .string(SandboxSwedbankOrder.Token.maskedPan),
        "instrumentParameters": [
          "expiryDate": .string(SandboxSwedbankOrder.Token.expiryDate), "cardBrand": "Visa",
        ],
        "operations": [
          operation("delete-paymenttokens", "/psp/creditcard/payments/instrumentdata/\(stored.token)")
        ],
      ]
    }
    return SandboxOutcome(
      200,
      [
        "payerOwnedPaymentTokens": [
          "id": .string(id), "payerReference": .string(payer), "paymentTokens": .array(list),
        ],
        "operations": [operation("delete-payerownedpaymenttokens", id)],
      ])
  }

  private mutating func deleteTokens(
    _ request: SandboxRequest, _ isMeant: (StoredToken) -> Bool
  ) throws(SandboxSwedbankProblem) -> SandboxOutcome {
    let body = try body(request)
    guard body["state"]?.stringValue == "Deleted" else { throw .input("state", "is not Deleted") }
    guard body["comment"]?.stringValue != nil else { throw .input("comment", "is missing") }
    let deleted = tokens.filter(isMeant)
    guard !deleted.isEmpty else { throw .notFound }
    tokens.removeAll(where: isMeant)
    let list = deleted.map { stored -> JSONValue in
      ["paymentToken": .string(stored.token), "state": "Deleted", "instrument": "CreditCard"]
    }
    return SandboxOutcome(
      200, ["payerOwnedPaymentTokens": ["paymentTokens": .array(list)]],
      note: "deleted \(deleted.count)")
  }
}
