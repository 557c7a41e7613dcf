// The data that the conformance suite needs about a payment processor. A new one adds its fixture to `all`.

import Domain
import Partners
import Testing

/// One processor with samples of its webhooks and answers.
struct ProcessorFixture: Sendable, CustomTestStringConvertible {
  /// With all of its secrets.
  var processor: any PaymentProcessor
  /// The same without a key for its API.
  var withoutKey: any PaymentProcessor
  /// Requests that are genuine at `readAt`, each about a purchase.
  var genuine: [WebhookRequest]
  /// Requests that are hints, for a processor that authenticates none: each about a purchase to fetch.
  var hints: [WebhookRequest] = []
  /// A purchase that can be looked up.
  var key: PurchaseKey
  /// Answers that contain data about that purchase.
  var answers: [[UInt8]]
  /// Texts that no URL may contain.
  var secrets: [String]

  var name: ProcessorName { type(of: processor).name }

  var testDescription: String { name.text }

  static let all: [ProcessorFixture] = [.stripe, .swedbank, .afterpay, .toy].compactMap(\.self)
}
