// Reads an app's stored events again, with its configuration but without its secrets. A value.

public import Config
internal import Cryptography
public import Domain
public import Partners
public import Store

/// Reads stored events of one app.
public struct EventReader: Sendable {
  private let app: AppSlug
  private let processors: [ProcessorName: any PaymentProcessor]

  /// - Throws: an error if libcrypto cannot be used.
  public init(_ configuration: AppConfiguration) throws {
    app = configuration.slug
    processors = try Dictionary(
      uniqueKeysWithValues: configuration.processors.map {
        (
          $0.name,
          try $0.section.makeProcessor(for: .reading, in: configuration, userAgent: Version.userAgent)
        )
      })
  }

  /// Whether the app still has the processor.
  public func reads(_ processor: ProcessorName) -> Bool { processors[processor] != nil }

  /// The rule by which the sale of an event is not the app's; nil if the event does not decide it.
  public func foreignRule(_ body: [UInt8], of processor: ProcessorName) -> String? {
    processors[processor]?.foreignRule(in: body)
  }

  /// Reads an event's bytes like those of a webhook; nil if the app does not have the processor any more.
  public func event(_ body: [UInt8], of processor: ProcessorName, now: Timestamp) -> IngestEvent? {
    processors[processor].map { reader in
      IngestEvent(
        reader.read(body, now: now), app: app, processor: processor, body: body,
        mentions: type(of: reader).mentions)
    }
  }
}

// MARK: - Reading

// Makes a command from a parsed event, for webhooks and fetched events alike. Pure; called from any thread.

extension IngestEvent {
  /// The command that stores a parsed event.
  /// - Parameters:
  ///   - isHint: whether the sender is not authenticated.
  ///   - mentions: reads what an event names that may belong to no purchase.
  public init(
    _ reading: EventReading, app: AppSlug, processor: ProcessorName, body: [UInt8], isHint: Bool = false,
    mentions: (_ body: [UInt8]) -> Mentions = { _ in Mentions() }
  ) {
    // An event without an id is identified by its bytes, so that it is also stored only once.
    let id = reading.id ?? EventID("sha256_" + Hex.encode(SHA256.digest(body)))
    let content = Content(reading.content)
    self.init(
      app: app, processor: processor, eventID: id, type: reading.type, body: body, content: content,
      isHint: isHint)
    if !isHint, !content.belongsToPurchase { self.mentions = mentions(body) }
  }
}

extension IngestEvent.Content {
  /// What an event says, with a parsed context.
  public init(_ content: EventReading.Content) {
    switch content {
    case .nothing(let outcome): self = .nothing(outcome)
    case .customer(let facts): self = .customer(facts)
    case .purchase(let report, let isWorthKeeping):
      self = .report(report.readingContext, keep: isWorthKeeping)
    case .fetchFirst(let key, let sessionID, let isWorthKeeping):
      self = .fetch(key, sessionID: sessionID, keep: isWorthKeeping)
    }
  }
}

extension PurchaseReport {
  /// The report with a parsed context. A metadata value that is not a valid blob belongs to the merchant and
  /// is ignored.
  public var readingContext: PurchaseReport {
    var report = self
    // An invalid blob means that the key belongs to the merchant: ignore it.
    report.context = context.flatMap { try? PlyContext.read($0.text) }
    return report
  }
}
