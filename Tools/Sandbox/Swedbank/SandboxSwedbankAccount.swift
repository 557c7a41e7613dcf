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
