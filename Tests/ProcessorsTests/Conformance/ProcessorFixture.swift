// What the conformance suite needs to know of a payment processor. A new one adds its fixture to `all`.

import Domain
import Processors
import Testing

/// One processor with samples of what it sends and answers.
struct ProcessorFixture: Sendable, CustomTestStringConvertible {
  /// With every secret that it has.
  var processor: any PaymentProcessor
  /// The same without a key for its API.
  var withoutKey: any PaymentProcessor
  /// Requests that are genuine at `readAt`, each of which is about a purchase.
  var genuine: [WebhookRequest]
  /// A purchase that can be asked about.
  var key: PurchaseKey
  /// Answers about that purchase, in which the processor says something of it.
  var answers: [[UInt8]]
  /// Texts that no URL may show.
  var secrets: [String]

  var name: ProcessorName { type(of: processor).name }

  var testDescription: String { name.rawValue }

  static let all: [ProcessorFixture] = [.stripe, .toy].compactMap(\.self)
}
