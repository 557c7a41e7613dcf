// A sign of life.

/// Changes nothing. When it is answered, the writer moves.
public struct Pulse: StoreCommand {
  public init() {}

  public func apply(to store: StoreSession) throws(StoreFault) {}
}
