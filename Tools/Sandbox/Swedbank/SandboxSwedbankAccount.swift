// A merchant's account at the simulated Swedbank Pay. A value; pure.

public import Formats
internal import HTTPServer
internal import Platform

/// A callback that is due.
public struct SandboxSwedbankCallback: Sendable, Equatable {
  /// The order's resource.
  public var orderID: String
  public var url: String
  /// JSON.
  public var body: [UInt8]
}

/// A merchant's payment orders and tokens.
public struct SandboxSwedbankAccount: Sendable {
  /// Orders beyond this number are refused.
  static let ordersMax = 100_000
  /// The numbers of transactions begin here, so that they are as long as real ones.
  private static let firstNumber: Int64 = 40_000_000_000

  /// A card that a payer has stored.
  struct StoredToken {
    var token: String
    var payer: String
  }

  /// The accepted token of the merchant; nil accepts any.
  public var token: String?
  /// The accepted `payeeId`; nil accepts any.
  public var payeeID: String?
  /// How often each callback is sent: 0 loses all.
  public var callbackCopies = 1
  /// Scheme, host and port, for links.
  public var base: String
  var random: SeededGenerator
  private(set) var orders: [String: SandboxSwedbankOrder] = [:]
  /// By creation.
  private(set) var uuids: [String] = []
  var tokens: [StoredToken] = []
  /// A reference of the merchant may be used once.
  var references: Set<String> = []
  private var number = Self.firstNumber
  private var dueCallbacks: [SandboxSwedbankCallback] = []

  /// - Parameter seed: the same seed makes the same ids.
  public init(base: String, token: String? = nil, payeeID: String? = nil, seed: UInt64 = 1) {
    self.base = base
    self.token = token
    self.payeeID = payeeID
    random = SeededGenerator(seed: seed)
  }

  // MARK: The user of the stand-in

  /// All orders, the oldest first.
  public var list: [SandboxSwedbankOrder] { uuids.compactMap { orders[$0] } }

  /// - Parameter id: the resource, `/psp/paymentorders/…`, or its last part.
  public func order(_ id: String) -> SandboxSwedbankOrder? {
    orders[id.split(separator: "/").last.map(String.init) ?? ""]
  }

  /// Acts as the payer, or as a user of the merchant's portal.
  /// - Parameter now: Unix milliseconds.
  /// - Returns: false if there is no such order, or if its state forbids it.
  public mutating func perform(_ action: SandboxSwedbankAction, on id: String, now: Int64) -> Bool {
    guard let uuid = order(id)?.uuid else { return false }
    return change(uuid, action, now: now)
  }

  /// Sends the last callback of an order again.
  /// - Returns: false if there is no such order, or if it names no URL.
  public mutating func repeatCallback(of id: String) -> Bool {
    guard let order = order(id), order.callbackURL != nil else { return false }
    addCallbacks(of: order.uuid, copies: 1)
    return true
  }

  /// What a test compares with a relay's ledger.
  public var ledger: JSONValue { ["orders": .array(list.map(\.ledgerEntry))] }

  /// Removes and returns the callbacks that are due.
  public mutating func popCallbacks() -> [SandboxSwedbankCallback] {
    defer { dueCallbacks = [] }
    return dueCallbacks
  }

  // MARK: Changes

  mutating func add(_ order: SandboxSwedbankOrder) {
    orders[order.uuid] = order
    uuids.append(order.uuid)
  }

  mutating func update(_ uuid: String, _ change: (inout SandboxSwedbankOrder) -> Void) {
    guard var order = orders[uuid] else { return }
    change(&order)
    orders[uuid] = order
  }

  mutating func nextNumber() -> Int64 {
    number += 1
    return number
  }

  /// - Parameters:
  ///   - amount: nil means all that is left.
  ///   - reference: of the transaction.
  mutating func change(
    _ uuid: String, _ action: SandboxSwedbankAction, amount: Int64? = nil, reference: String? = nil,
    now: Int64
  ) -> Bool {
    guard var order = orders[uuid] else { return false }
    let change = SandboxSwedbankOrder.Change(
      action: action, amount: amount, reference: reference, uuid: SandboxIDs.uuid(&random),
      number: nextNumber(), now: now)
    guard order.apply(change) else { return false }
    if action == .pay || action == .authorize { issueTokens(&order) }
    orders[uuid] = order
    addCallbacks(of: uuid, copies: callbackCopies)
    return true
  }

  private mutating func issueTokens(_ order: inout SandboxSwedbankOrder) {
    guard order.tokens.isEmpty else { return }
    for type in order.tokenTypes {
      let token = SandboxIDs.uuid(&random)
      order.tokens.append(SandboxSwedbankOrder.Token(type: type, token: token))
      if type == "payment", let payer = order.payerReference {
        tokens.append(StoredToken(token: token, payer: payer))
      }
    }
  }

  /// Each change of the state is followed by a callback.
  private mutating func addCallbacks(of uuid: String, copies: Int) {
    guard let order = orders[uuid], let url = order.callbackURL else { return }
    let callback = SandboxSwedbankCallback(orderID: order.id, url: url, body: order.callback.serialized())
    dueCallbacks += Array(repeating: callback, count: max(copies, 0))
    orders[uuid]?.callbacks += max(copies, 0)
  }
}

extension SandboxSwedbankAccount: SandboxAccount {
  static func operation(of request: SandboxRequest) -> String? {
    SandboxSwedbankRoute(request.segments)?.operation(request.method)?.rawValue
  }

  static func failure(_ status: Int, _ message: String) -> Response {
    SandboxSwedbankProblem.system(status, message).response()
  }

  mutating func popEffects() -> [SandboxSwedbankCallback] { popCallbacks() }

  /// Puts another order's id in the place of each order's id: an existing order's, if there is another one.
  mutating func lie(_ response: Response) -> Response {
    var response = response
    var text = String(decoding: response.body, as: UTF8.self)
    guard let truth = uuids.last(where: { text.contains($0) }) else { return response }
    let lie = uuids.last { $0 != truth } ?? SandboxIDs.uuid(&random)
    text = text.replacing(truth, with: lie)
    response.body = Array(text.utf8)
    return response
  }
}

// MARK: - Payer

// What is not the API: the page on which a user plays the payer, and the ledger. Pure.

extension SandboxSwedbankAccount {
  /// Answers a request of a payer's browser, or one for the ledger; nil if the request is for the API.
  mutating func answerPayer(_ request: SandboxRequest, now: Int64) -> SandboxOutcome? {
    let segments = request.segments
    switch (request.method, segments.first, segments.count) {
    case ("GET", "ledger", 1): return SandboxOutcome(200, ledger)
    case ("GET", "consumers", 2):
      return SandboxOutcome(Response(status: 200, text: "A consumer would be identified here.\n"))
    case ("GET", "checkout", 2): return orders[segments[1]].map { SandboxOutcome(Self.page($0)) }
    case ("POST", "checkout", 3):
      guard let order = orders[segments[1]], let action = SandboxSwedbankAction(rawValue: segments[2]) else {
        return nil
      }
      return act(action, order, request, now: now)
    default: return nil
    }
  }

  private mutating func act(
    _ action: SandboxSwedbankAction, _ order: SandboxSwedbankOrder, _ request: SandboxRequest, now: Int64
  ) -> SandboxOutcome {
    guard change(order.uuid, action, now: now) else {
      return SandboxOutcome(
        409,
        ["error": .string("an order that is \(order.status.rawValue) does not allow \(action.rawValue)")],
        note: "refused: \(order.status.rawValue)")
    }
    // A browser goes back to the page; a script reads the outcome.
    if request.isForm {
      let place = "/checkout/\(order.uuid)"
      return SandboxOutcome(
        Response(status: 303, headers: [("Location", place)]), note: orders[order.uuid]?.status.rawValue)
    }
    return SandboxOutcome(
      200, orders[order.uuid]?.ledgerEntry ?? [:], note: orders[order.uuid]?.status.rawValue)
  }

  private static func page(_ order: SandboxSwedbankOrder) -> Response {
    let actions: [(SandboxSwedbankAction, String)] = [
      (.pay, "Pay"), (.authorize, "Pay later (authorize)"), (.fail, "Fail"), (.cancel, "Cancel"),
      (.abort, "Abort"), (.capture, "Capture as the merchant"), (.reverse, "Pay back as the merchant"),
    ]
    let possible = actions.filter { order.allows($0.0) }
    var links = [(label: "Back to the shop after a payment", url: order.completeURL)]
    if let url = order.cancelURL { links.append((label: "Back to the shop without one", url: url)) }
    return SandboxPage.response(
      "Swedbank Pay sandbox",
      facts: [
        ("Order", order.id), ("Amount", amount(order.amount, order)), ("Status", order.status.rawValue),
        ("Captured", amount(order.capturedAmount, order)), ("Instrument", order.instrument),
      ],
      buttons: possible.map { (label: $0.1, link: Link("checkout", order.uuid, $0.0.rawValue)) }, links: links
    )
  }
}

extension SandboxSwedbankOrder {
  /// Whether the state allows an action.
  public func allows(_ action: SandboxSwedbankAction) -> Bool {
    var copy = self
    return copy.apply(Change(action: action, uuid: "", number: number, now: updated))
  }
}

// MARK: - API

// How the simulated Swedbank Pay answers its API's requests. Pure.

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
