// The rules of an app, as its configuration sets them. Values; any thread.

public import Domain

/// The parts of an app's configuration that the store needs.
public struct AppRules: Sendable {
  public var join: JoinPolicy
  /// The app's payment processors.
  public var processors: [ProcessorName: ProcessorRules]
  /// How many replays of the app may be due at once before jobs release no more.
  public var replayWindow: Int
  /// The app's destinations. A receipt that is still to be delivered to another is redirected.
  public var destinations: Set<DestinationName>
  /// The destination of a processor's purchases, besides `exclusions`; nil if there is none now.
  public var destination: @Sendable (ProcessorName) -> DestinationName?
  /// The second destination of a processor's purchases, which gets a copy of each receipt, besides
  /// `exclusions`; nil if there is none now.
  public var secondDestination: @Sendable (ProcessorName) -> DestinationName? = { _ in nil }
  /// Which receipts do not go to the destination of their processor.
  public var exclusions: [DestinationExclusion] = []
  /// Makes the body that a destination receives; nil if the app does not have the destination.
  public var compose: @Sendable (ReceiptContent, DestinationName) -> [UInt8]?
  /// Makes the body that reports a reversal to a destination; nil if the app does not have the destination,
  /// or it has no form for that.
  public var composeReversal: @Sendable (ReceiptContent, DestinationName) -> [UInt8]?
  /// Whether the app's webhook learns of each purchase that lacks a user.
  public var announcesClaims = false

  public init(
    join: JoinPolicy, processors: [ProcessorName: ProcessorRules], replayWindow: Int = JobWork.windowDefault,
    destinations: Set<DestinationName>,
    destination: @escaping @Sendable (ProcessorName) -> DestinationName?,
    compose: @escaping @Sendable (ReceiptContent, DestinationName) -> [UInt8]?,
    composeReversal: @escaping @Sendable (ReceiptContent, DestinationName) -> [UInt8]? = { _, _ in nil }
  ) {
    self.join = join
    self.processors = processors
    self.replayWindow = max(1, replayWindow)
    self.destinations = destinations
    self.destination = destination
    self.compose = compose
    self.composeReversal = composeReversal
  }

  /// The processor of a purchase.
  func processor(of purchase: Purchase) -> ProcessorRules {
    processors[purchase.key.processor] ?? ProcessorRules()
  }

  /// The destinations that the app has for a purchase's receipt.
  /// - Parameter receipt: nil if it has none yet.
  func destinations(of purchase: Purchase, _ receipt: Receipt?) -> PurchaseDestinations {
    let processor = purchase.key.processor
    return PurchaseDestinations(
      of: purchase.key, usual: destination(processor), second: secondDestination(processor),
      all: destinations, exclusions: exclusions
    ).of(receipt)
  }

  /// Whether a receipt may be sent to a destination. A reversal goes where the purchase went.
  func allows(_ record: PurchaseRecord, to destination: DestinationName) -> Bool {
    destinations.contains(destination)
      && (record.receipt?.isReversal == true
        || exclusions.exclusion(of: record.purchase.key, from: destination) == nil)
  }

  /// The content in the format of a destination; nil if there is no destination now.
  func payload(
    _ content: ReceiptContent, _ priceMismatch: Bool, to name: DestinationName?
  ) -> ReceiptPayload? {
    guard let name, let body = compose(content, name) else { return nil }
    return ReceiptPayload(
      destination: name, priceID: content.priceID, priceMismatch: priceMismatch, body: body)
  }

  /// The content in the format of a destination, for an operator who sends it.
  func payloadToSend(
    _ content: ReceiptContent, _ priceMismatch: Bool, to name: DestinationName?
  ) throws(SendingObstacle) -> ReceiptPayload {
    guard let payload = payload(content, priceMismatch, to: name) else { throw .lacks(.destination) }
    return payload
  }
}

/// Applies the rules of `Join` to a purchase of the app.
extension AppRules {
  func resolve(_ purchase: Purchase, now: Timestamp) -> Join.Resolution {
    Join.resolve(purchase, policy: join, processor: processor(of: purchase), now: now)
  }

  func mayGuess(for purchase: Purchase, now: Timestamp) -> Bool {
    Join.mayGuess(for: purchase, policy: join, processor: processor(of: purchase), now: now)
  }

  func choose(
    from candidates: [Join.Candidate], for purchase: Purchase, now: Timestamp
  ) -> Join.Choice? {
    Join.choose(from: candidates, for: purchase, policy: join, processor: processor(of: purchase), now: now)
  }
}
