// A store with random operations: posts, events in any order, ends of waits, attempts, operators' commands,
// restarts. The seed alone determines them.

import Domain
import Formats
import Platform
import Store
import TestSupport
import Testing

struct RandomStore {
  static let apps: [AppSlug] = ["ios", "held"]

  let store: TestStore
  private var random: SeededGenerator
  private var reports: RandomReports
  private var contexts: [ContextID] = []
  /// The users of the contexts.
  private var owners: [ContextID: UserID] = [:]
  /// The users whom events and operators named for the purchases of a customer.
  private var named: [Customer: Set<UserID>] = [:]
  /// The last operation, for the report of a failure.
  private(set) var last = ""
  /// What the destination received of each receipt since an operator last changed it.
  private(set) var sent: [ReceiptID: [UInt8]] = [:]
  /// The delivered receipt that an operator has just replayed.
  private(set) var forced: ReceiptID?

  /// - Parameter hasSecond: whether the purchases of `ios` go to two destinations.
  init(seed: UInt64, hasSecond: Bool = false, record: ReadRecord? = nil) throws {
    var rules = TestStore.rules(settle: .seconds(5))
    if hasSecond, var ios = rules["ios"] {
      ios.destinations.insert("webhook")
      ios.secondDestination = { _ in "webhook" }
      ios.compose = { content, _ in TestStore.compose(content) }
      rules["ios"] = ios
    }
    store = try TestStore(seed: seed, rules: rules, record: record)
    random = SeededGenerator(seed: seed)
    reports = RandomReports(seed: seed)
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.randomElement(using: &random)
  }

  private mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

  private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

  mutating func step() throws {
    forced = nil
    let app = pick(Self.apps) ?? ""
    switch number(0..<22) {
    case 0..<4: try post(app)
    case 4..<12: try event(app)
    case 12..<15: try passTime()
    case 15..<18: try attempt(app)
    case 18: try operate(app)
    case 20, 21: try payment(app)
    default: try keepHouse()
    }
  }

  private mutating func post(_ app: AppSlug) throws {
    let user: UserID = "u\(number(0..<4))"
    let prices: [PriceID?] = ["price_0", "price_1", "price_2", "gold", nil]
    let price = pick(prices) ?? nil
    let id = try store.post("blob \(number(0..<40))", user: user, price: price, app: app)
    contexts.append(id)
    owners[id] = user
    last = "\(app): \(user) posts \(id)"
  }

  private mutating func event(_ app: AppSlug) throws {
    let said = reports.event(contexts, now: store.now)
    let id: EventID? = oneIn(8) ? "evt_again" : nil
    last = "\(app): \(said)"
    if let customer = Customer(said.key, app) {
      let users = said.namedUsers(reference: .counts).filter { $0.standing == .counts }.map(\.id)
      named[customer, default: []].formUnion(users + said.namedContexts.compactMap { owners[$0.id] })
    }
    try store.ingest(said, app: app, id: id, keep: !oneIn(6))
  }

  /// An app starts a payment at the relay, or the relay learns what became of it.
  private mutating func payment(_ app: AppSlug) throws {
    let said = reports.payment(contexts, now: store.now)
    let isStored = try store.apply(StorePayment(app: app, said))
    last = "\(app): \(said) is stored: \(isStored)"
  }

  private mutating func passTime() throws {
    let pauses: [Int64] = [0, second, 20 * second, minute, 3 * minute, hour, day, 15 * day]
    let pause = pick(pauses) ?? 0
    store.advance(pause)
    if oneIn(2) { try store.endWaits() }
    last = "\(pause) ms pass"
  }

  private mutating func attempt(_ app: AppSlug) throws {
    let due = try store.reader.due(app: app, now: store.now, limit: 20)
    guard let receipt = pick(due) else { return last = "nothing is due" }
    let decisions: [Delivery.Decision] = [
      .delivered(importID: "imp"), .delivered(importID: nil), .failed(.status(422)), .failed(.gaveUp),
      .retry(at: store.after(minute), spent: true), .retry(at: store.after(second), spent: false),
    ]
    let decision = pick(decisions) ?? .failed(.gaveUp)
    let isCopy = try store.reader.receipt(id: receipt.id)?.receipt?.copyOf != nil
    if oneIn(6) { _ = try store.apply(CancelReceipt(id: receipt.id, note: "meanwhile")) }
    if oneIn(3) { try event(app) }
    if let before = sent[receipt.id], before != receipt.body {
      Issue.record("R2: \(receipt.id) was sent with other bytes than before")
    }
    sent[receipt.id] = receipt.body
    let report = AttemptReport(
      startedAt: store.now, duration: .milliseconds(1), status: 200, error: nil, isAmbiguous: false,
      response: []
    )
    let breaker = Breaker(state: pick(Breaker.State.allCases) ?? .closed, since: store.now)
    let place = AppDestination(app, isCopy ? "webhook" : "purchasely")
    let state = try store.apply(
      RecordAttempt(
        of: receipt.id, to: place, sent: receipt.body, report: report, decision: decision, breaker: breaker))
    last = "\(receipt.id): \(decision) leaves it \(String(describing: state))"
  }

  private mutating func operate(_ app: AppSlug) throws {
    guard let record = pick(try store.receipts(app: app)), let id = record.receipt?.id else { return }
    let result: OperatorResult
    switch number(0..<6) {
    case 0:
      let isForced = oneIn(2)
      result = try store.apply(ReplayReceipt(id: id, force: isForced, dueAt: store.now))
      if isForced && result == .done { forced = id }
    case 1: result = try store.apply(CancelReceipt(id: id, note: "why not"))
    case 2: return try claim(id, of: record)
    case 3:
      let user: UserID? = oneIn(2) ? "u\(number(0..<4))" : nil
      let price: PriceID? = oneIn(2) ? "price_op" : nil
      let context = oneIn(4) ? pick(contexts) : nil
      result = try store.apply(CorrectReceipt(id: id, userID: user, priceID: price, contextID: context))
      if result == .done {
        name([user, context.flatMap { owners[$0] }], for: record)
        // A copy that was not accepted says what is right, too.
        for copy in try store.receipts(app: app).compactMap(\.receipt)
        where copy.copyOf != nil && copy.state != .delivered { sent[copy.id] = nil }
      }
    default:
      let user: UserID? = oneIn(2) ? "u\(number(0..<4))" : nil
      let price: PriceID? = oneIn(2) ? "price_op" : nil
      let context = oneIn(2) ? pick(contexts) : nil
      result = try store.apply(CompleteReceipt(id: id, userID: user, priceID: price, contextID: context))
      if result == .done {
        sent[id] = nil
        name([user, context.flatMap { owners[$0] }], for: record)
      }
    }
    last = "an operator does something to \(id): \(result)"
  }

  private mutating func name(_ users: [UserID?], for record: PurchaseRecord) {
    guard let customer = Customer(record.purchase.key, record.app) else { return }
    named[customer, default: []].formUnion(users.compactMap(\.self))
  }

  /// A customer gets a token of a receipt; two users bring it.
  private mutating func claim(_ id: ReceiptID, of record: PurchaseRecord) throws {
    let app = record.app
    last = "\(app): somebody wants to claim \(id)"
    let offered = try store.apply(OfferClaim(id, app: app, origin: .page, lifetime: .days(7)))
    guard case .offered(_, let token) = offered, oneIn(2) else { return }
    for user in [number(0..<4), number(0..<4)].map({ UserID("u\($0)") }) {
      let outcome = try store.apply(UseClaim(token, app: app, userID: user))
      if case .claimed = outcome { name([user], for: record) }
      last = "\(app): \(user) claims \(id): \(outcome)"
    }
  }

  private mutating func keepHouse() throws {
    if oneIn(3) {
      try store.reopen()
      return last = "a restart"
    }
    let table = pick([RetentionTable.attempts, .events, .contexts]) ?? .events
    let outcome = try store.apply(Retain(table: table, cutoff: store.after(-30 * day), afterRow: 0))
    last = "retention of \(table): \(outcome)"
  }
}

// MARK: - Users

extension RandomStore {
  /// A customer of an app: a user may be inferred from what is named for the customer's other purchases.
  private struct Customer: Hashable {
    var app: AppSlug
    var number: Int

    /// - Returns: nil for a payment that started at the relay.
    init?(_ key: PurchaseKey, _ app: AppSlug) {
      guard let number = key.id.text.split(separator: "_").last.flatMap({ Int($0) }) else { return nil }
      (self.app, self.number) = (app, number % RandomReports.customers)
    }
  }

  /// What was made ready for a user whom nothing named, or for a sale outside of the app.
  func strangers(in receipts: [PurchaseRecord]) -> [String] {
    receipts.filter { $0.receipt?.body != nil }.compactMap { record in
      if record.purchase.isForeign { return "\(record.receiptID) is of a foreign sale" }
      guard let customer = Customer(record.purchase.key, record.app), let user = record.purchase.userID,
        named[customer]?.contains(user) != true
      else { return nil }
      return "\(record.receiptID) is for \(user), whom nothing named"
    }
  }
}
