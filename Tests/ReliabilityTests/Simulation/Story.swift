// One user's web checkout as seen from outside: what the app posts, what Stripe sends, and the expected
// result. Values.

import Domain
import Formats
import Platform
import Sandbox

/// A checkout and everything that is sent about it.
struct Story {
  enum Kind: CaseIterable {
    case subscription, payment, delayedPayment, failedPayment, expired
    /// Only the subscription's metadata names the user.
    case userInMetadata
    /// The checkout's reference is the context's id, as in payment links.
    case contextByID
    /// The same, changed on its way: in lower case, with a space.
    case spoiltContextID
    /// No event names the user.
    case noUser
    /// The checkout's reference is what a program without a user sends.
    case placeholder
    /// Another product has sold it, and reported it already.
    case foreign
    /// Two users pay as one customer, and the checkout names its own.
    case sharedCustomer
    /// No event names a price.
    case noPrice
    /// Only Stripe's API has the user, the price or the checkout session.
    case userInAPI, priceInAPI, sessionInAPI

    static let ofAPI: [Kind] = [.userInAPI, .priceInAPI, .sessionInAPI]
    /// The first event may not name the user; a later one or Stripe's API does.
    static let withLateUser = ofAPI + [.userInMetadata]
  }

  let number: Int
  let app: String
  let kind: Kind
  let user: String
  /// Whether its user has other purchases.
  let isRegular: Bool
  /// The blobs that the app posts for it.
  let contexts: [String]
  var purchase: SandboxPurchase
  /// The checkout's reference, if it is not the user.
  var contextID: String?
  /// Whether the destination refuses the receipt for good.
  let isRefused: Bool

  /// - Parameter kind: nil for any.
  init(number: Int, app: String, kind: Kind? = nil, random: inout SeededGenerator) {
    self.number = number
    self.app = app
    let asks = SimulatedWorld.appsThatAsk.contains(app)
    let kinds = Kind.allCases.filter { asks || !Kind.ofAPI.contains($0) }
    self.kind = kind ?? kinds.randomElement(using: &random) ?? .subscription
    // Some users buy again, so that one user has several contexts and purchases.
    isRegular = Int.random(in: 0..<4, using: &random) == 0
    user = isRegular ? "regular-\(Int.random(in: 0..<3, using: &random))" : "user-\(number)"
    let price = "price_\(number % 5)"
    let isNamed = [.contextByID, .spoiltContextID, .sessionInAPI].contains(self.kind)
    let count = isNamed ? 1 : [0, 1, 1, 1, 2].randomElement(using: &random) ?? 1
    contexts = (0..<count).map { Self.blob(price: price, name: "\(app)-\(number)-\($0)") }
    let isSubscription = ![.payment, .delayedPayment, .failedPayment, .expired, .priceInAPI].contains(
      self.kind)
    let isAnonymous = [.noUser, .placeholder, .userInMetadata, .contextByID, .spoiltContextID].contains(
      self.kind)
    let customer = self.kind == .sharedCustomer ? "cus_shared\(number % 2)" : nil
    purchase = SandboxPurchase(
      userID: isAnonymous ? nil : user, priceID: self.kind == .noPrice ? nil : price,
      isSubscription: isSubscription, customerID: customer, sessionID: "cs_test_\(app)_\(number)",
      subscriptionID: isSubscription ? "sub_\(app)_\(number)" : nil, random: &random)
    if self.kind == .foreign { purchase.metadata = [.init(name: "ply_provider", value: "purchasely")] }
    isRefused = app != SimulatedWorld.calmApp && Int.random(in: 0..<15, using: &random) == 0
  }

  private static func blob(price: String, name: String) -> String {
    let content: JSONValue = [
      "presentation_id": .string(name), "placement_id": "onboarding", "stripe_price_id": .string(price),
    ]
    return Base64.encode(content.serialized())
  }

  var objectID: String { purchase.objectID }

  /// The reference that the checkout was opened with; nil for none.
  private var reference: String? {
    switch kind {
    case .spoiltContextID: contextID.map { " \($0.lowercased())" }
    case .placeholder: "undefined"
    default: contextID ?? purchase.userID
    }
  }

  /// The checkout session and the subscription in Stripe's API.
  func objects(at wall: Int64, random: inout SeededGenerator) -> [JSONValue] {
    var session = purchase
    if kind == .sessionInAPI {
      session.contextID = contextID
    } else {
      session.userID = reference
    }
    if kind == .userInAPI { session.userID = nil }
    var sister = purchase
    sister.userID = kind == .userInMetadata ? user : purchase.userID
    let isUnpaid = kind == .delayedPayment || kind == .failedPayment
    let ending: SandboxEventKind =
      kind == .expired
      ? .expired : isUnpaid ? .unpaid : objectID == purchase.sessionID ? .payment : .subscription
    var made = [StripeSampleEvents.event(ending, session, now: wall, random: &random)]
    if purchase.subscriptionID != nil {
      made.append(StripeSampleEvents.event(.subscriptionCreated, sister, now: wall, random: &random))
    }
    return made.compactMap { (try? JSONValue(parsing: $0.body))?["data"]?["object"] }
  }

  /// All events that Stripe sends about it.
  func events(at wall: Int64, random: inout SeededGenerator) -> [SandboxEvent] {
    var session = purchase
    session.userID = kind == .userInAPI ? nil : reference
    // The object may have a price that the event lacks.
    if kind == .userInAPI || kind == .priceInAPI { session.priceID = nil }
    var sister = purchase
    sister.userID = kind == .userInMetadata ? user : purchase.userID
    func made(_ kinds: [SandboxEventKind]) -> [SandboxEvent] {
      kinds.map { kind in
        let isSister = kind == .subscriptionCreated || kind == .invoicePaid
        return StripeSampleEvents.event(kind, isSister ? sister : session, now: wall, random: &random)
      }
    }
    switch kind {
    case .subscription, .userInMetadata, .contextByID, .spoiltContextID, .noUser, .placeholder, .foreign,
      .sharedCustomer, .noPrice:
      return made([.subscription, .subscriptionCreated, .invoicePaid])
    case .userInAPI: return made([.subscription])
    case .sessionInAPI: return made([.subscriptionCreated, .invoicePaid])
    case .payment, .priceInAPI: return made([.payment])
    case .delayedPayment: return made([.unpaid, .asyncSucceeded])
    case .failedPayment: return made([.unpaid, .asyncFailed])
    case .expired: return made([.expired])
    }
  }

  /// The expected state of the receipt when all events were received, deliveries succeeded where possible and
  /// no operator intervened.
  var end: ReceiptState? { endIfAccepted == .delivered && isRefused ? .failed : endIfAccepted }

  /// The same for the copy of a second destination, which refuses nothing. It is made of a receipt that is
  /// ready.
  var endOfCopy: ReceiptState? { endIfAccepted == .delivered ? .delivered : nil }

  private var endIfAccepted: ReceiptState? {
    switch kind {
    case .expired, .foreign: nil
    case .failedPayment: .cancelled
    // Only the price of a context could help.
    case .noPrice where contexts.isEmpty: .failed
    case .noUser, .placeholder: .failed
    // It was paid before the app had posted its context.
    case .contextByID where contextID == nil, .spoiltContextID where contextID == nil: .failed
    // It was looked up in time only if nothing interfered.
    case .userInAPI, .priceInAPI: app == SimulatedWorld.calmApp ? .delivered : nil
    default: .delivered
    }
  }
}
