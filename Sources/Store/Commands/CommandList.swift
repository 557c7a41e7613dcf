// Many changes of one kind in one transaction, so that an operator's bulk change is synced once.

/// Applies several commands as one: all are on disk, or none.
public struct CommandList<Command: StoreCommand>: StoreCommand {
  public var commands: [Command]

  public init(_ commands: [Command]) { self.commands = commands }

  public var reads: [ReadKey] { Array(commands.map(\.reads).joined()) }
  public var scope: CommandScope { commands.reduce(.none) { $0.union($1.scope) } }

  /// The outcome of each command, in order.
  public func apply(to store: StoreSession) throws(StoreFault) -> [Command.Outcome] {
    var outcomes: [Command.Outcome] = []
    outcomes.reserveCapacity(commands.count)
    for command in commands { outcomes.append(try command.apply(to: store)) }
    return outcomes
  }
}
