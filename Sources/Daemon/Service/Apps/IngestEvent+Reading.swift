// Makes a command from a parsed event, for webhooks and fetched events alike. Pure; called from any thread.

internal import Cryptography
public import Domain
public import Partners
public import Store

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
    let content: Content =
      switch reading.content {
      case .nothing(let outcome): .nothing(outcome)
      case .purchase(let report, let isWorthKeeping):
        .report(report.readingContext, keep: isWorthKeeping)
      case .fetchFirst(let key, let sessionID, let isWorthKeeping):
        .fetch(key, sessionID: sessionID, keep: isWorthKeeping)
      }
    self.init(
      app: app, processor: processor, eventID: id, type: reading.type, body: body, content: content,
      isHint: isHint)
    if !isHint, !content.belongsToPurchase { self.mentions = mentions(body) }
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
