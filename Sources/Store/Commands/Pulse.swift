// A command that tests whether the writer responds.

/// Changes nothing. Its answer shows that the writer is running.
public struct Pulse: StoreCommand {
  public init() {}

  public var scope: CommandScope { .none }

  public func apply(to store: StoreSession) throws(StoreFault) {}
}
