// Swedbank Pay in the configuration. Pure, except for reading secrets.

package import Domain
package import Formats
package import Partners
package import Platform

/// `apps.NAME.swedbank`: the merchant's access to Swedbank Pay, and what its SDKs may do.
package struct SwedbankSection: ProcessorSection {
  /// Who captures payments that are only authorised.
  package enum Capture: String, Sendable, CaseIterable {
    case merchant, auto
  }

  package var merchantToken: Secret
  /// The settings that are not secret. Their public origin is added when it is known.
  package var settings: SwedbankSettings
  /// Nil for `links.origin`.
  package var publicOrigin: WebOrigin?
  package var callbackFrom = SwedbankSettings.callbackSenders.compactMap(AddressPrefix.init)
  package var deliverTo: DestinationName = "webhook"

  package init(merchantToken: Secret, payeeID: String, publicOrigin: WebOrigin? = nil) {
    self.merchantToken = merchantToken
    self.publicOrigin = publicOrigin
    settings = SwedbankSettings(payeeID: payeeID, publicOrigin: "")
  }

  package static let kind = ProcessorKind.swedbank
  static let callbackFromKey = "callback_from"
  package static let sendersKey: String? = callbackFromKey

  package var capture: Capture {
    get { settings.capturesItself ? .auto : .merchant }
    set { settings.capturesItself = newValue == .auto }
  }

  package var isAsked: Bool { true }

  package var backfillsAfter: Duration? { nil }

  /// The secret at the end of the callbacks' address follows from the token.
  package var webhookSecrets: [Secret] { [merchantToken] }

  package var rules: ProcessorRules { settings.rules }

  package func makeProcessor(
    for use: ProcessorUse, in app: AppConfiguration, userAgent: String
  ) throws -> any PaymentProcessor {
    var settings = settings
    settings.publicOrigin = (publicOrigin ?? app.links?.origin)?.text ?? ""
    let networks = callbackFrom
    return try SwedbankProcessor(
      settings, app: app.slug,
      merchantToken: use == .reading ? nil : try merchantToken.reveal(),
      isSender: { text in
        guard let address = IPAddress(text) else { return false }
        return networks.contains { $0.contains(address) }
      })
  }

  package func faults(in app: AppConfiguration) -> [(key: String, message: String)] {
    guard publicOrigin == nil, app.links == nil else { return [] }
    return [
      (
        "public_origin",
        "is missing; write the relay's public address, such as \"https://pay.example.com\", at which "
          + "Swedbank Pay reaches it, or set links.origin"
      )
    ]
  }
}
