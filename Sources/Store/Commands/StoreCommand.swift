// A change of the database as a value. Everything that receiptd changes, and every write of receiptctl, is
// one of these.

/// One change. Applied inside a transaction that may hold many; undone with it. It must not keep anything of
/// the session.
public protocol StoreCommand: Sendable {
  associatedtype Outcome: Sendable

  /// What it finds rows by, known before it has read any. What those rows refer to belongs to it: the user
  /// that a context names, the context that a purchase has. Empty for a command that reads nothing, or that
  /// searches.
  var reads: [ReadKey] { get }

  /// Makes the change. Runs on the writer's thread; may run again after a transaction that was undone.
  func apply(to store: StoreSession) throws(StoreFault) -> Outcome
}

extension StoreCommand {
  public var reads: [ReadKey] { [] }
}

/// A command with what is to be told about it, ready to be queued.
public struct Submission: Sendable {
  private let pending: any PendingCommand

  /// - Parameter completion: called once, on the writer's thread: with the outcome when it is on disk (R1),
  ///   or with why it is not there.
  public init<Command: StoreCommand>(
    _ command: Command, completion: @escaping @Sendable (Result<Command.Outcome, StoreFault>) -> Void
  ) {
    pending = Pending(command: command, completion: completion)
  }

  /// Applies the command.
  /// - Returns: what to call once it is on disk.
  func apply(to store: StoreSession) throws(StoreFault) -> @Sendable () -> Void {
    try pending.apply(to: store)
  }

  /// Reports that the command was not stored.
  public func fail(_ fault: StoreFault) { pending.fail(fault) }

  var reads: [ReadKey] { pending.reads }
}

/// A submission without the type of its command.
private protocol PendingCommand: Sendable {
  var reads: [ReadKey] { get }
  func apply(to store: StoreSession) throws(StoreFault) -> @Sendable () -> Void
  func fail(_ fault: StoreFault)
}

private final class Pending<Command: StoreCommand>: PendingCommand {
  private let command: Command
  private let completion: @Sendable (Result<Command.Outcome, StoreFault>) -> Void

  init(command: Command, completion: @escaping @Sendable (Result<Command.Outcome, StoreFault>) -> Void) {
    self.command = command
    self.completion = completion
  }

  var reads: [ReadKey] { command.reads }

  func apply(to store: StoreSession) throws(StoreFault) -> @Sendable () -> Void {
    let outcome = try command.apply(to: store)
    return { [completion] in completion(.success(outcome)) }
  }

  func fail(_ fault: StoreFault) { completion(.failure(fault)) }
}
