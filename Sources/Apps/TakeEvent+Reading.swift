// How an event that was read becomes a command, wherever it came from. Pure; any thread.

internal import Cryptography
internal import Destinations
public import Domain
public import Processors
public import Store

extension TakeEvent {
  /// What is to be stored of an event that was read.
  /// - Parameter isHint: whether it is not known who sent it.
  public init(
    _ reading: EventReading, app: String, processor: ProcessorName, body: [UInt8], isHint: Bool = false
  ) {
    // An event without an id is known by its bytes, so that it, too, is kept once.
    let id = reading.id ?? "sha256_" + Hex.encode(SHA256.digest(body))
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
  }
}

extension PurchaseReport {
  /// A blob in the metadata counts only if it is one; anything else there is the merchant's own.
  public var readingContext: PurchaseReport {
    var report = self
    // What is no blob is none of ours.
    report.context = context.flatMap { try? PlyContext.read($0.text) }
    return report
  }
}
