// Afterpay and Cash App Pay in the configuration. Pure, except for reading secrets.

package import Domain
package import Partners

/// `apps.NAME.afterpay`: the merchant's access to Afterpay, and what customers may pay.
package struct AfterpaySection: ProcessorSection {
  /// Who names the amount of a payment.
  package enum Amounts: String, Sendable, CaseIterable {
    /// The configuration, by price.
    case server
    /// The app.
    case client
  }

  package var secret: Secret
  /// The settings that are not secret. Their product is added when it is known.
  package var settings: AfterpaySettings
  package var deliverTo: DestinationName = "webhook"

  package init(secret: Secret, settings: AfterpaySettings) {
    self.secret = secret
    self.settings = settings
  }

  package static let kind = ProcessorKind.afterpay

  package var isAsked: Bool { true }

  package var backfillsAfter: Duration? { nil }

  /// Afterpay sends no webhooks.
  package var webhookSecrets: [Secret] { [] }

  package var amounts: Amounts {
    get { settings.amountsAreClients ? .client : .server }
    set { settings.amountsAreClients = newValue == .client }
  }

  package func makeProcessor(
    for use: ProcessorUse, in app: AppConfiguration, userAgent: String
  ) throws -> any PaymentProcessor {
    var settings = settings
    settings.product = userAgent
    return AfterpayProcessor(settings, secret: use == .reading ? nil : try secret.reveal())
  }
}
