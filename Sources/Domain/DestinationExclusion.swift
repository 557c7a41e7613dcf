// Types of objects whose receipts a destination does not get, although it gets the other receipts of their
// processor. Pure; any thread.

/// A type of object whose receipts do not go to the destination of their processor.
public struct DestinationExclusion: Sendable, Equatable {
  public var destination: DestinationName
  public var type: PurchaseKey.ObjectType
  /// The destination that gets the receipts; nil if they wait.
  public var instead: DestinationName?
  /// The key of the destination's section that decides this, for messages.
  public var key: String

  public init(
    from destination: DestinationName, _ type: PurchaseKey.ObjectType, instead: DestinationName?, key: String
  ) {
    self.destination = destination
    self.type = type
    self.instead = instead
    self.key = key
  }
}

extension [DestinationExclusion] {
  /// The exclusion of a purchase from a destination; nil if its receipt goes there.
  public func exclusion(of key: PurchaseKey, from destination: DestinationName?) -> DestinationExclusion? {
    first { $0.destination == destination && $0.type == key.type }
  }
}
