// The toy processor's section of the configuration, and the toy destination.

import Domain
import Formats
import Partners
import TestSupport

@testable import Config

struct ToySection: ProcessorSection {
  var token: Secret
  var apiKey: Secret?
  var apiBase: String
  var deliverTo: DeliverTo
  var timeout: Duration = .seconds(20)
  var followAfter: Duration = ToyProcessor.followsUpAfter

  static let kind = ProcessorKind.toy

  var isAsked: Bool { apiKey != nil }
  var backfillsAfter: Duration? { nil }
  var webhookSecrets: [Secret] { [token] }
  var rules: ProcessorRules {
    var rules = Self.kind.rules(isAsked)
    rules.followsUpAfter = followAfter
    return rules
  }

  func makeProcessor(
    for use: ProcessorUse, in app: AppConfiguration, userAgent: String
  ) throws -> any PaymentProcessor {
    ToyProcessor(
      token: use == .serving ? try token.reveal() : "",
      apiKey: use == .reading ? nil : try apiKey?.reveal(), apiBase: apiBase, timeout: timeout)
  }
}

extension ToySection {
  static let section = ConfigurationSection(
    Self(token: Secret(""), apiBase: "https://toy.example", deliverTo: DeliverTo(ToyDestination.name)),
    [
      .required(
        "token", \.token, .secret, example: "file:/etc/receiptd/secrets/toy_token",
        advice: "write \"env:NAME\"", "What the path of its webhooks ends in."),
      .optional(
        "api_key", \.apiKey, .secret, example: "file:/etc/receiptd/secrets/toy_api_key",
        "The key for its API."),
      .key("api_base", \.apiBase, .endpoint(carriesSecret: true), "The base URL of its API."),
      .key(
        "deliver_to", \.deliverTo, .destination(of: ToyProcessor.name, label: "Toy"),
        "The destination of the receipts for its purchases."),
      .key(
        "timeout", \.timeout, .duration(in: .milliseconds(1)...(.seconds(60))), "How long a call may take."),
      .key(
        "follow_after", \.followAfter, .duration(in: .zero...(.seconds(3600))),
        "How long after its start an order is fetched that was not reported."),
    ])
}

extension ProcessorKind {
  static let toy = ProcessorKind(
    ToyProcessor.self, label: "Toy", section: ToySection.section, "The toy as the payment processor.")
}

extension ProcessorRegistry {
  static let withToy = ProcessorRegistry(kinds: [.stripe, .toy])
}

extension DestinationRegistry {
  /// The toy destination has no section: the test says where it is. Apps with the toy processor have it.
  static func withToy(_ url: String) -> DestinationRegistry {
    let toy = DestinationKind(
      ToyDestination.self, settings: { $0.processor(ToyProcessor.name) },
      secrets: { _ in [Secret("toy-shop-key")] }
    ) { _, _, _, _ in ToyDestination(url: url, key: "toy-shop-key") }
    return DestinationRegistry(kinds: Self.standard.kinds + [toy])
  }
}
