// One user's way through a web checkout, as the world outside of the relay lives it: what the app posts, what
// Stripe sends, and what must come of it. Values.

import Domain
import FoundationEssentials
import JSON
import Platform
import Sandbox

/// A checkout with everything that will be said about it.
struct Story {
  enum Kind: CaseIterable {
    case subscription, payment, delayedPayment, failedPayment, expired
    /// Only the subscription's metadata name the user.
    case userInMetadata
    /// The checkout's reference is the context's id, as payment links have it.
    case contextByID
    /// Nobody ever names the user.
    case noUser
    /// No event ever names a price.
    case noPrice
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
  /// What the checkout was opened with, where that is not the user.
  var contextID: String?
  /// Whether the destination will refuse the receipt for good.
  let isRefused: Bool

  /// - Parameter kind: nil for any.
  init(number: Int, app: String, kind: Kind? = nil, random: inout SeededGenerator) {
    self.number = number
    self.app = app
    self.kind = kind ?? Kind.allCases.randomElement(using: &random) ?? .subscription
    // Some users come again, so that contexts and purchases of one user meet.
    isRegular = Int.random(in: 0..<4, using: &random) == 0
    user = isRegular ? "regular-\(Int.random(in: 0..<3, using: &random))" : "user-\(number)"
    let price = "price_\(number % 5)"
    let count = self.kind == .contextByID ? 1 : [0, 1, 1, 1, 2].randomElement(using: &random) ?? 1
    contexts = (0..<count).map { Self.blob(price: price, name: "\(app)-\(number)-\($0)") }
    let isSubscription = ![.payment, .delayedPayment, .failedPayment, .expired].contains(self.kind)
    let isAnonymous = [.noUser, .userInMetadata, .contextByID].contains(self.kind)
    purchase = SandboxPurchase(
      userID: isAnonymous ? nil : user, priceID: self.kind == .noPrice ? nil : price,
      isSubscription: isSubscription, sessionID: "cs_test_\(app)_\(number)",
      subscriptionID: isSubscription ? "sub_\(app)_\(number)" : nil, random: &random)
    isRefused = app != SimulatedWorld.calmApp && Int.random(in: 0..<15, using: &random) == 0
  }

  private static func blob(price: String, name: String) -> String {
    let content: JSONValue = [
      "presentation_id": .string(name), "placement_id": "onboarding", "stripe_price_id": .string(price),
    ]
    return Data(content.serialized()).base64EncodedString()
  }

  var objectID: String { purchase.objectID }

  /// Everything that Stripe sends about it.
  func events(at wall: Int64, random: inout SeededGenerator) -> [SandboxEvent] {
    var session = purchase
    session.userID = contextID ?? purchase.userID
    var sister = purchase
    sister.userID = kind == .userInMetadata ? user : purchase.userID
    func made(_ kinds: [SandboxEventKind]) -> [SandboxEvent] {
      kinds.map { kind in
        let isSister = kind == .subscriptionCreated || kind == .invoicePaid
        return StripeSandbox.event(kind, isSister ? sister : session, now: wall, random: &random)
      }
    }
    switch kind {
    case .subscription, .userInMetadata, .contextByID, .noUser, .noPrice:
      return made([.subscription, .subscriptionCreated, .invoicePaid])
    case .payment: return made([.payment])
    case .delayedPayment: return made([.unpaid, .asyncSucceeded])
    case .failedPayment: return made([.unpaid, .asyncFailed])
    case .expired: return made([.expired])
    }
  }

  /// What must have become of the receipt once everything was said, was delivered where it could be, and no
  /// operator had a hand in it.
  var end: ReceiptState? {
    switch kind {
    case .expired: nil
    case .failedPayment: .cancelled
    // Nothing but the context's price could help, where there is one.
    case .noPrice where contexts.isEmpty: .failed
    case .noUser: .failed
    // It was paid before the app had its context through.
    case .contextByID where contextID == nil: .failed
    default: isRefused ? .failed : .delivered
    }
  }
}
