// Many changes of one kind in one transaction: what an operator does to many receipts is synced once, not
// each time.

/// Several commands as one: all of them are on disk, or none.
public struct CommandList<Command: StoreCommand>: StoreCommand {
  public var commands: [Command]

  public init(_ commands: [Command]) { self.commands = commands }

  public var reads: [ReadKey] { commands.flatMap(\.reads) }

  /// What came of each, in their order.
  public func apply(to store: StoreSession) throws(StoreFault) -> [Command.Outcome] {
    var outcomes: [Command.Outcome] = []
    outcomes.reserveCapacity(commands.count)
    for command in commands { outcomes.append(try command.apply(to: store)) }
    return outcomes
  }
}
