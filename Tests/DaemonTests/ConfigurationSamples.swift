// Texts and folders that the configuration tests share.

import FoundationEssentials
import Platform
import Testing

@testable import Config

enum ConfigurationSamples {
  static let environment = Environment([
    "CLIENT_KEY": "client-key-of-the-shop", "WEBHOOK_SECRET": "whsec_one", "SECOND_SECRET": "whsec_two",
    "API_KEY": "ply-key",
    "EMPTY": "", "PADDED": "whsec_one ", "TWIN": "whsec_one",
  ])

  /// The keys without a default, plus the given texts in each part.
  static func text(
    root: String = "", client: String = "client: { keys: ['env:CLIENT_KEY'] },", stripe: String = "",
    webhookSecrets: String = "['env:WEBHOOK_SECRET']", purchasely: String = "", app: String = "",
    apps: String = ""
  ) -> String {
    """
    { database: "/etc/receiptd/receiptd.db", \(root)
      apps: {
        shop: {
          \(client)
          stripe: { webhook_secrets: \(webhookSecrets), \(stripe) },
          purchasely: { api_key: "env:API_KEY", \(purchasely) },
          \(app)
        }, \(apps)
      },
    }
    """
  }

  /// An app without a payment processor.
  static let storesOnly = """
    { database: "/etc/receiptd/receiptd.db",
      apps: { shop: { client: { keys: ['env:CLIENT_KEY'] }, purchasely: { api_key: "env:API_KEY" } } } }
    """

  static func read(
    _ text: String, mode: UInt32 = 0o600, path: String = "/etc/receiptd/receiptd.json5",
    environment: Environment = environment, secrets: SecretPolicy = .required
  ) throws(ConfigurationFaults) -> LoadedConfiguration {
    let content = FileContent(bytes: Array(text.utf8), mode: mode)
    return try ConfigurationLoader.read(content, path: path, environment: environment, secrets: secrets)
  }

  /// The faults of a text; empty if it is valid.
  static func faults(_ text: String, environment: Environment = environment) -> [Fault] {
    do {
      _ = try read(text, environment: environment)
      return []
    } catch {
      return error.faults
    }
  }

  /// A text with a fault.
  struct Case: CustomTestStringConvertible {
    /// The key of the fault, and a part of its message.
    let path: String
    let message: String
    let text: String
    var testDescription: String { "\(path): \(message)" }

    init(_ path: String, _ message: String, _ text: String) {
      (self.path, self.message, self.text) = (path, message, text)
    }
  }

  /// The first app of a valid configuration.
  static func app(_ text: String) throws -> AppConfiguration {
    let apps = try read(text).configuration.apps
    guard let app = apps.first else { throw Fault(path: "apps", message: "is empty") }
    return app
  }
}
