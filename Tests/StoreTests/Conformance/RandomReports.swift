// What a processor may report of a few purchases, at random. The seed alone determines it.

import Domain
import Platform
import TestSupport

struct RandomReports {
  static let purchases = 14
  /// How many customers these have.
  static let customers = 6
  /// The purchase that was sold outside of the app.
  static let foreign = 13

  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  private mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
  private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
  private mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.randomElement(using: &random)
  }

  /// What an event reports. It may name one of these contexts.
  mutating func event(_ contexts: [ContextID], now: Timestamp) -> PurchaseReport {
    let n = number(0..<Self.purchases)
    var said = kind(n)
    said.customerID = oneIn(5) ? nil : "cus_\(n % Self.customers)"
    said.happenedAt = now + .milliseconds(-Int64(number(0..<7200)) * second)
    let user = "u\(oneIn(10) ? number(0..<4) : n % 4)"
    if n == Self.foreign { said.observations.insert(.excepted) }
    switch number(0..<9) {
    case 0: said.metadataUser = user
    case 1: said.clientReference = user
    case 2: said.clientReference = oneIn(2) ? pick(contexts)?.text : user
    case 3: said.contextID = oneIn(2) ? pick(contexts) : nil
    case 4: said.clientReference = pick(contexts)?.text.lowercased()
    case 5: said.names = [name(user, .ownKey), name("u\(number(0..<4))", .metadata)]
    case 6: said.names = [name(user, .customerMetadata), name("undefined", .metadata, .refused)]
    default: break
    }
    if oneIn(12) { said.context = ContextBlob(text: "blob \(number(0..<40))", priceID: nil) }
    if oneIn(2) { said.prices = oneIn(4) ? ["price_x", "price_\(n % 3)"] : ["price_\(n % 3)"] }
    return said
  }

  private func name(
    _ user: String, _ source: Purchase.UserSource, _ standing: NamedUser.Standing = .counts
  ) -> NamedUser { NamedUser(id: UserID(user), source: source, standing: standing) }

  /// What becomes of a payment that an app starts at the relay.
  mutating func payment(_ contexts: [ContextID], now: Timestamp) -> PurchaseReport {
    let n = number(0..<Self.purchases)
    let seen: [Observations] = [.started, .started, .paid, .closed, [.paid, .reversed], .reversed]
    var said = PurchaseReport(
      key: Said.payKey("r\(n)"), observations: pick(seen) ?? .started, prices: oneIn(2) ? ["price_1"] : [],
      happenedAt: now)
    if said.observations == .started {
      said.startedBy = "u\(n % 4)"
      said.startedIn = oneIn(2) ? pick(contexts) : nil
      said.customerID = oneIn(2) ? "cus_\(n % 6)" : nil
      said.payment = PaymentFacts(amount: "9.99", currency: "EUR")
    }
    return said
  }

  private mutating func kind(_ n: Int) -> PurchaseReport {
    let name = "\(n)"
    let named = !oneIn(3)
    switch number(0..<10) {
    case 0, 1: return Said.completed(name, user: nil, named: named)
    case 2: return Said.completed(name, user: nil, unpaid: true, named: named)
    case 3: return Said.session(name, .paid)
    case 4: return Said.session(name, .failed)
    case 5: return Said.session(name, [.expired, .objectExpected], named: false)
    case 6, 7: return Said.created(name, active: !oneIn(3), price: nil)
    default: return Said.invoice(name, price: nil)
    }
  }
}
