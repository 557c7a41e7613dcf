// The configuration of one app. Keys are read as by ConfigurationReader: one thread, every fault.

public import Domain
public import Formats

/// One app: its own clients, its payment processors and its destinations.
public struct AppConfiguration: Sendable, Equatable {
  /// `[a-z0-9][a-z0-9-]{0,62}`; part of every URL and every row.
  public var slug: AppSlug
  /// The clients that may post contexts.
  public var client: ClientAccess
  /// The origins of the web pages that may use the routes for clients in a browser.
  public var clientOrigins: [WebOrigin] = []
  /// What is no user's id, in events and in requests of clients.
  public var userIDs = UserIDRules()
  /// At most one of each kind; none if the app sells in app stores only.
  package var processors: [ConfiguredProcessor]
  /// Nil if no processor's purchases go there.
  public var purchasely: Purchasely?
  /// The merchant's own backend; nil if there is none.
  public var webhook: Webhook?
  /// The destinations that the processors' sections may name.
  package var destinations = DestinationRegistry.standard
  public var join: JoinPolicy
  public var delivery: DeliveryPolicy
  /// How customers give purchases without a user to their accounts.
  public var claims = ClaimPolicy()
  /// Nil: the relay serves no links and no pages for the app.
  public var links: Links?

  package init(
    slug: AppSlug, client: ClientAccess, processors: [ConfiguredProcessor],
    purchasely: Purchasely? = nil, webhook: Webhook? = nil,
    join: JoinPolicy = JoinPolicy(),
    delivery: DeliveryPolicy = DeliveryPolicy(), links: Links? = nil
  ) {
    self.slug = slug
    self.client = client
    self.processors = processors
    self.purchasely = purchasely
    self.webhook = webhook
    self.join = join
    self.delivery = delivery
    self.links = links
  }

  /// Whether a text is valid as an app's slug.
  public static func isSlug(_ text: String) -> Bool {
    func isLetterOrDigit(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    guard let first = text.utf8.first, isLetterOrDigit(first), text.utf8.count <= 63 else { return false }
    return text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
  }
}

extension AppConfiguration {
  /// `clientOrigins` as browsers write them (RFC 6454 §6.2).
  public var clientOriginTexts: Set<String> { Set(clientOrigins.map(\.text)) }
}

// MARK: - Keys

extension AppConfiguration {
  /// The slugs, as a regular expression.
  static let slugPattern = "^[a-z0-9][a-z0-9-]{0,62}$"

  /// An app with the processors of a registry, which contribute their own keys.
  static func section(_ registry: ProcessorRegistry) -> ConfigurationSection<AppConfiguration> {
    let processors = registry.kinds.map { $0.key(in: registry) }
    let names = registry.kinds.map(\.name.text) + DestinationRegistry.standard.namesForStores
    let oneOf = JSONValue.array(names.map { ["required": [.string($0)]] })
    let client = ConfigurationKey<AppConfiguration>.required(
      "client", \.client, .clientAccess, advice: ClientAccess.advice,
      "The clients that may post contexts: those that send one of the keys or a token. With client: "
        + "\"open\", everyone may.")
    let origins = ConfigurationKey<AppConfiguration>.key(
      "client_origins", \.clientOrigins,
      .set(of: .pageOrigin, count: KeyRanges.clientOrigins, "origins"),
      example: ["https://shop.example.com"],
      "The origins of the web pages that may post contexts and read their states in a browser or a WebView "
        + "(CORS): scheme, host and port, each exactly. Without any, no page of another origin may.")
    let rest: [ConfigurationKey<AppConfiguration>] = [
      .purchasely, .webhook,
      .section("user_ids", \.userIDs, UserIDRules.section, "Which texts are no user's id."),
      .section(
        "join", \.join, JoinPolicy.section,
        "How a purchase finds its context, and how long it waits for what is missing."),
      .section("delivery", \.delivery, DeliveryPolicy.section, "How receipts are delivered."),
      .section(
        "claims", \.claims, ClaimPolicy.section,
        "How customers give paid purchases that name no user to their accounts."),
      .optional(
        "links", \.links, .section(Links.section),
        "The way to the checkout page and back into the app. Without it, the relay serves no links and no "
          + "pages for the app."
      ).then { app, _, _ in
        if app.links?.returnPage?.name.isEmpty == true { app.links?.returnPage?.name = app.slug.text }
      },
    ]
    return ConfigurationSection(
      AppConfiguration(slug: "", client: .open, processors: []),
      rules: processors.count > 1 ? ["anyOf": oneOf] : [:], [client, origins] + processors + rest)
  }
}

extension UserIDRules {
  fileprivate static let section = ConfigurationSection(
    Self(),
    [
      .key(
        "refuse", \.refuse, .set(of: .userIDText, count: KeyRanges.userIDTexts, "texts"),
        example: ["test-user"],
        "Texts that are no user's id, besides placeholders such as \"undefined\", \"null\" and "
          + "\"anonymous\". Case does not matter."),
      .key(
        "allow", \.allow, .set(of: .userIDText, count: KeyRanges.userIDTexts, "texts"),
        example: ["guest"], "Placeholders that are the ids of users of this app after all."),
    ])
}

extension ValueForm<String> {
  fileprivate static var userIDText: ValueForm {
    text(
      "a text that may be sent as a user's id", words: "a text", bytesMax: UntrustedText.identifierBytesMax)
  }
}

extension AppConfiguration {
  /// Reports what is wrong with a section only in this app.
  fileprivate func reportFaultsOfProcessors(_ reader: ObjectReader) {
    if claims.announces, webhook == nil {
      reader.collector.fault(
        "\(reader.path(of: "claims")).announce", "needs the app's webhook; add webhook: { … }, or remove it")
    }
    for processor in processors {
      let path = reader.path(of: processor.name.text)
      if processor.section.startsPayments, client == .open, reader.has("client") {
        reader.collector.fault(
          path,
          "needs client keys or tokens, because anyone could start payments for any user; write client: "
            + "{ keys: [\"env:NAME\"] } or { jwt: { … } }")
      }
      for fault in processor.section.faults(in: self) {
        reader.collector.fault(JSON5Reader.path(path, fault.key), fault.message)
      }
    }
  }
}

extension ValueShape {
  /// Objects of this shape by the app's name.
  fileprivate static func byName(_ object: ValueShape, count: ClosedRange<Int>) -> Self {
    var shape = object
    shape.infix = ".NAME"
    shape.schema = [
      "type": "object", "propertyNames": .pattern(AppConfiguration.slugPattern),
      "minProperties": .integer(Int64(count.lowerBound)), "maxProperties": .integer(Int64(count.upperBound)),
      "additionalProperties": object.schema,
    ]
    return shape
  }
}

extension ValueForm<[AppConfiguration]> {
  /// The apps by slug.
  static func apps(_ registry: ProcessorRegistry) -> ValueForm {
    let section = AppConfiguration.section(registry)
    let range = KeyRanges.apps
    return ValueForm(
      shape: .byName(section.shape, count: range),
      read: { value, path, context in
        let reader = ObjectReader(value, path: path, collector: context.collector)
        if case .object = value, !range.contains(reader.names.count) {
          let bounds = "from \(range.lowerBound) to \(range.upperBound) apps"
          context.collector.fault(path, "must have \(bounds), but has \(reader.names.count)")
        }
        let apps = reader.names.compactMap { slug -> AppConfiguration? in
          guard AppConfiguration.isSlug(slug) else {
            context.collector.fault(
              reader.path(of: slug),
              "is not a valid name for an app; write 1 to 63 lower-case letters, digits and hyphens, not "
                + "beginning with a hyphen")
            return nil
          }
          var app = section.initial
          app.slug = AppSlug(slug)
          app.destinations = context.destinations
          let own = reader.object(slug)
          let isComplete = section.read(&app, own, context)
          app.reportFaultsOfProcessors(own)
          return isComplete ? app : nil
        }
        return apps.sorted { $0.slug < $1.slug }
      },
      show: { .object($0.map { JSONValue.Member(name: $0.slug.text, value: section.show($0)) }) },
      secrets: { apps, path in
        apps.flatMap { section.secrets($0, JSON5Reader.path(path, $0.slug.text)) }
      })
  }
}
