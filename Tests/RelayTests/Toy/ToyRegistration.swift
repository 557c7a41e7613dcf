// The toy processor's section of the configuration, and the toy destination.

import Domain
import JSON
import Processors
import TestSupport

@testable import Configuration

struct ToySection: ProcessorSection {
  var token: Secret
  var apiKey: Secret?
  var apiBase: String
  var deliverTo: DestinationName

  static let kind = ProcessorKind.toy

  var isAsked: Bool { apiKey != nil }
  var backfillsAfter: Duration? { nil }
  var webhookSecrets: [Secret] { [token] }
  var secrets: [(key: String, secret: Secret)] {
    [("token", token)] + [apiKey].compactMap { $0.map { ("api_key", $0) } }
  }

  var redacted: JSONValue {
    [
      "token": .string(token.description), "api_base": .string(apiBase),
      "deliver_to": .string(deliverTo.rawValue),
    ]
  }

  func makeProcessor(for use: ProcessorUse) throws -> any PaymentProcessor {
    ToyProcessor(
      token: use == .serving ? try token.reveal() : "",
      apiKey: use == .reading ? nil : try apiKey?.reveal(), apiBase: apiBase)
  }
}

extension ProcessorKind {
  static let toy: ProcessorKind = ProcessorKind(
    ToyProcessor.self, label: "Toy",
    template: """
      toy: {
        // What the path of its webhooks ends in.
        token: "file:/etc/receiptd/secrets/toy_token",
        // Where its API is.
        api_base: "https://toy.example",
        // api_key: "file:/etc/receiptd/secrets/toy_api_key",
        //deliver_to: "toy_shop",
      },
      """
  ) { reader, section in
    defer { section.reportUnknownKeys() }
    let token = reader.secrets.secret(
      section.required("token", "write \"env:NAME\""), path: section.path(of: "token"))
    let apiKey = reader.secrets.secret(section.value("api_key"), path: section.path(of: "api_key"))
    let apiBase = reader.endpoint(section, "api_base", default: "https://toy.example")
    let deliverTo = reader.deliverTo(section, of: .toy, default: ToyDestination.name)
    return token.map { ToySection(token: $0, apiKey: apiKey, apiBase: apiBase, deliverTo: deliverTo) }
  }
}

extension ProcessorRegistry {
  static let withToy = ProcessorRegistry(kinds: [.stripe, .toy])
}

extension DestinationRegistry {
  /// The toy destination has no section: the test says where it is.
  static func withToy(_ url: String) -> DestinationRegistry {
    let toy = DestinationKind(ToyDestination.self, secret: { _ in Secret("toy-shop-key") }) { _, _, _ in
      ToyDestination(url: url, key: "toy-shop-key")
    }
    return DestinationRegistry(kinds: Self.standard.kinds + [toy])
  }
}
