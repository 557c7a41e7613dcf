// What a replay of a receipt sends, or why it is refused. The store decides it in the replay's transaction;
// receiptctl and the dashboard offer only the replays that this allows. Pure; called from any thread.

/// The destinations that an app has for a purchase.
public struct PurchaseDestinations: Sendable, Equatable {
  /// All destinations of the app.
  public var all: Set<DestinationName>
  /// The one that gets the purchase's receipt; nil if there is none now.
  public var present: DestinationName?
  /// The one that gets a copy; nil if there is none now.
  public var second: DestinationName?
  /// Why `present` is not the destination of the purchase's processor; nil if it is.
  public var exclusion: DestinationExclusion?
  /// Those of `all` that may get the purchase.
  private var allowed: Set<DestinationName>

  /// - Parameters:
  ///   - all: all destinations of the app.
  ///   - present: the one that gets the purchase's receipt; nil if there is none now.
  ///   - second: the one that gets a copy; nil if there is none now.
  public init(all: Set<DestinationName>, present: DestinationName?, second: DestinationName? = nil) {
    self.all = all
    self.present = present
    self.second = second
    allowed = all
  }

  /// Those of one receipt of the purchase. No destination gets both a receipt and its copy: a copy has its
  /// own destination only, and a receipt with a copy never goes to the copy's.
  /// - Parameter receipt: nil for one that is not made yet.
  public func of(_ receipt: Receipt?) -> PurchaseDestinations {
    guard let receipt else { return self }
    var own = self
    if let place = receipt.copyOf?.destination {
      own.present = allowed.contains(place) ? place : nil
    } else if let taken = receipt.copy?.destination, present == taken {
      own.present = second == taken ? nil : second
    }
    own.second = nil
    return own
  }

  /// - Parameters:
  ///   - usual: the destination of the purchase's processor; nil if there is none now.
  ///   - second: the one that gets a copy; nil if there is none now.
  ///   - all: all destinations of the app.
  public init(
    of key: PurchaseKey, usual: DestinationName?, second: DestinationName? = nil, all: Set<DestinationName>,
    exclusions: [DestinationExclusion]
  ) {
    let exclusion = exclusions.exclusion(of: key, from: usual)
    let present = exclusion == nil ? usual : exclusion?.instead.flatMap { all.contains($0) ? $0 : nil }
    let allowed = exclusions.isEmpty ? all : all.filter { exclusions.exclusion(of: key, from: $0) == nil }
    self.init(all: all, present: present, second: second.flatMap { allowed.contains($0) ? $0 : nil })
    self.exclusion = exclusion
    self.allowed = allowed
  }

  /// Those of an app that is not configured.
  public static let none = PurchaseDestinations(all: [], present: nil)
}

/// Why a receipt cannot be sent.
public enum SendingObstacle: Error, Sendable, Equatable {
  /// Its user's data was erased.
  case erased
  /// Another receipt corrects it.
  case corrected
  /// There is no value for this, or no destination.
  case lacks(Reason)
}

/// What a replay sends.
public enum ReplayContent: Sendable {
  /// The bytes that the receipt has.
  case made
  /// New bytes, for the present destination.
  case new(ReceiptContent, priceMismatch: Bool)
}

extension Purchase {
  /// The content of new bytes for the present destination, from what is known now, even if more may come.
  /// - Parameter processor: the rules of its processor.
  public func contentToSend(
    to destinations: PurchaseDestinations, _ processor: ProcessorRules
  ) throws(SendingObstacle) -> (content: ReceiptContent, priceMismatch: Bool) {
    if isErased { throw .erased }
    if awaitsObject { throw .lacks(.subscription) }
    switch Join.content(of: self, processor) {
    case .failure(let lack): throw .lacks(lack.reason)
    case .success(let ready):
      if destinations.present == nil { throw .lacks(.destination) }
      return ready
    }
  }

  /// What a replay of the purchase's receipt sends.
  /// - Parameters:
  ///   - named: the destinations of the purchase.
  ///   - processor: the rules of its processor.
  public func contentToReplay(
    _ receipt: Receipt, to named: PurchaseDestinations, _ processor: ProcessorRules
  ) throws(SendingObstacle) -> ReplayContent {
    let destinations = named.of(receipt)
    if receipt.correctedBy != nil { throw .corrected }
    if receipt.body == nil, isErased { throw .erased }
    if receipt.isReversal, receipt.state != .delivered {
      // Only the destination that accepted the purchase is to know of its reversal, in the bytes made for it.
      guard let own = receipt.destination, destinations.all.contains(own) else { throw .lacks(.destination) }
      return .made
    }
    if receipt.body != nil, receipt.destination == destinations.present { return .made }
    // It never became ready, or its bytes are for another destination than the present one. If nothing is
    // missing, an operator may send it as it is.
    let ready = try contentToSend(to: destinations, processor)
    return .new(ready.content, priceMismatch: ready.priceMismatch)
  }
}
