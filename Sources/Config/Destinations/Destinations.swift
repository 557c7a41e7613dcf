// An app's destinations. Keys are read as by ConfigurationReader: one thread, every fault.

public import Domain
internal import Formats
internal import Partners

extension AppConfiguration {
  /// The merchant's own backend, which gets signed receipts.
  public struct Webhook: Sendable, Equatable {
    /// https, or http to this machine.
    public var url: String
    /// At least one, each `whsec_…`; several while one is being replaced.
    public var secrets: [Secret]
    /// The path of the only trusted authorities; nil for the system's.
    public var authorities: String?
    /// The paths of the client's certificate and its key; both nil for none.
    public var certificate: String?
    public var key: String?

    static let section = ConfigurationSection(
      Self(url: "", secrets: []),
      [
        .required(
          "url", \.url, .endpoint(carriesSecret: true), example: "https://backend.example.com/purchases",
          advice: "write the address of your backend, which gets the receipts",
          "The URL that receipts are posted to."),
        .required(
          "secrets", \.secrets, .secrets(count: KeyRanges.webhookSecrets),
          example: ["file:/etc/receiptd/secrets/webhook_secret"],
          advice: "write the key that signs the receipts: [\"env:NAME\"]",
          "The key that signs receipts, whsec_ and 24 to 64 bytes in base64, such as from: echo "
            + "whsec_$(openssl rand -base64 32). Several while one is being replaced: each signs."
        ).then { webhook, reader, _ in
          WebhookKey.report(webhook.secrets, path: reader.path(of: "secrets"), reader.collector)
        },
        .optional(
          "ca", \.authorities, .pemFile, example: "/etc/receiptd/backend-ca.pem",
          "The authorities that may have signed the certificate of your backend, instead of the system's."),
        .optional(
          "certificate", \.certificate, .pemFile, example: "/etc/receiptd/client.pem",
          "The client certificate and its chain, for a backend that asks for one. Needs key. All three files "
            + "are read again for new connections, which are made at least once a minute."),
        .optional(
          "key", \.key, .pemFile, example: "/etc/receiptd/secrets/client_key.pem",
          "The private key of the client certificate, without a password."
        ).then { webhook, reader, _ in
          for (name, other) in [("certificate", "key"), ("key", "certificate")]
          where reader.has(other) && !reader.has(name) {
            reader.collector.fault(
              reader.path(of: name), "is missing; a client certificate needs both certificate and key")
          }
        },
      ])
  }

  /// Purchasely as the destination of receipts.
  public struct Purchasely: Sendable, Equatable {
    /// What becomes of the receipts of one-time purchases.
    public enum OneTime: String, Sendable, CaseIterable {
      case send, webhook, hold
    }

    /// https, or http to this machine.
    public var url = PurchaselySettings.urlDefault
    public var apiKey: Secret
    /// The product in the stores that each price corresponds to; nil if receipts name none.
    public var products: [PriceID: String]?
    public var oneTime = OneTime.send
    /// The client shared secret, which signs requests to forget a user. Without it, no such request is sent.
    public var clientSecret: Secret?

    static let section = ConfigurationSection(
      Self(apiKey: Secret("")),
      [
        .required(
          "api_key", \.apiKey, .secret, example: "file:/etc/receiptd/secrets/purchasely_api_key",
          advice: "write the app's API key from Purchasely's console as \"env:NAME\" or \"file:/path\"",
          "The application's API key, from Purchasely's console."),
        .key("url", \.url, .endpoint(carriesSecret: true), "The URL that receipts are posted to."),
        .optional(
          "products", \.products, .storeProducts, example: ["price_123": "com.example.gold.monthly"],
          "The product in the stores that each price of Stripe's corresponds to: receipts name it as "
            + "store_product_id. One page of Purchasely's documentation calls it mandatory; its examples for "
            + "Stripe leave it out."),
        .key(
          "one_time", \.oneTime, .choice,
          "What becomes of the receipts of one-time purchases (checkout_session), which one page of "
            + "Purchasely's documentation allows and another does not: they are sent to Purchasely (send) or "
            + "to the app's webhook (webhook), or they wait (hold)."),
        .optional(
          "client_secret", \.clientSecret, .secret,
          example: "file:/etc/receiptd/secrets/purchasely_client_secret",
          "The client shared secret, with which receiptctl users forget asks Purchasely to forget a user."),
      ])
  }
}

extension AppConfiguration.Purchasely {
  /// Which of Stripe's receipts Purchasely does not get.
  var exclusions: [DestinationExclusion] {
    guard oneTime != .send else { return [] }
    return [
      DestinationExclusion(
        from: PurchaselyDestination.name, PurchaselyDestination.oneTimeType,
        instead: oneTime == .webhook ? WebhookDestination.name : nil, key: "one_time")
    ]
  }
}

extension ValueForm<[PriceID: String]> {
  fileprivate static var storeProducts: ValueForm {
    let product = ValueForm<String>.text(
      "the id of a product in the stores", bytesMax: UntrustedText.identifierBytesMax)
    return .byPrice("store products", schema: product.shape.schema) { value, _, path, context in
      product.read(value, path, context)
    } show: { _, product in
      .string(product)
    }
  }
}

extension ConfigurationKey<AppConfiguration> {
  static var purchasely: Self {
    .destination(
      PurchaselyDestination.name, \.purchasely, AppConfiguration.Purchasely.section,
      need: .alternative(isPreferred: true), isRequiredWhereUsed: true,
      "The Purchasely application of the app. It gets the receipts of the processors whose deliver_to names "
        + "\"purchasely\", and is required if there is one.")
  }

  static var webhook: Self {
    .destination(
      WebhookDestination.name, \.webhook, AppConfiguration.Webhook.section, need: .absent,
      isRequiredWhereUsed: false,
      "The merchant's own backend. It gets the receipts of the processors whose deliver_to names "
        + "\"webhook\"; without it, they wait. It is required if deliver_to names both.")
  }

  /// The section of a destination.
  /// - Parameter isRequiredWhereUsed: whether an app without it may have no processor that delivers to it.
  private static func destination<Section: Sendable>(
    _ destination: DestinationName, _ property: @escaping @autoclosure Property<Section?>,
    _ section: ConfigurationSection<Section>, need: KeyDescription.Need, isRequiredWhereUsed: Bool,
    _ text: String
  ) -> Self {
    let name = destination.text
    return ConfigurationKey(
      name, describe: { _ in KeyDescription(name: name, text: text, need: need, shape: section.shape) },
      read: { app, reader, context in
        let uses = app.processors.map(\.section.deliverTo).filter { $0.names.contains(destination) }
        let isUsed = !uses.isEmpty
        // Which of two receives what cannot change later, so none of them may be missing at first.
        let isRequired = isRequiredWhereUsed || uses.contains { $0.second != nil }
        guard reader.has(name) || isUsed && isRequired else {
          let exclusion = app.exclusions.first { $0.instead == destination }
          let user = isUsed ? "deliver_to" : exclusion.map { "\($0.destination).\($0.key)" }
          if let user {
            reader.collector.warning(
              reader.path(of: name),
              "is missing; the receipts that \(user) sends there wait until it is configured")
          }
          return true
        }
        var values = section.initial
        let isComplete = section.read(&values, reader.object(name), context)
        app[keyPath: property()] = values
        return isComplete
      },
      show: { $0[keyPath: property()].map(section.show) },
      secrets: { app, path in app[keyPath: property()].map { section.secrets($0, path) } ?? [] })
  }
}

extension WebhookKey {
  /// Reports the secrets that are no keys.
  static func report(_ secrets: [Secret], path: String, _ collector: FaultCollector) {
    for (index, secret) in secrets.enumerated() {
      // An unreadable secret was already reported, where it matters.
      guard let value = try? secret.reveal(), WebhookKey(value) == nil else { continue }
      collector.fault(
        "\(path)[\(index)]",
        "must be whsec_ and \(sizes.lowerBound) to \(sizes.upperBound) bytes in base64, such as from: echo "
          + "whsec_$(openssl rand -base64 32)")
    }
  }
}
