// A change of the database as a value. Everything that receiptd changes, and every write of receiptctl, is
// one of these.

/// One change. Applied inside a transaction that may hold many; undone with it. It must not keep anything of
/// the session.
public protocol StoreCommand: Sendable {
  associatedtype Outcome: Sendable

  /// Makes the change. Runs on the writer's thread; may run again after a transaction that was undone.
  func apply(to store: StoreSession) throws(StoreFault) -> Outcome
}

/// A command with what is to be told about it, ready to be queued.
public struct Submission: Sendable {
  /// Applies the command and gives what to call once it is on disk.
  let apply: @Sendable (StoreSession) throws(StoreFault) -> @Sendable () -> Void
  /// Tells that the command was not stored.
  public let fail: @Sendable (StoreFault) -> Void

  /// - Parameter completion: called once, on the writer's thread: with the outcome when it is on disk (R1),
  ///   or with why it is not there.
  public init<Command: StoreCommand>(
    _ command: Command, completion: @escaping @Sendable (Result<Command.Outcome, StoreFault>) -> Void
  ) {
    apply = { session throws(StoreFault) in
      let outcome = try command.apply(to: session)
      return { completion(.success(outcome)) }
    }
    fail = { completion(.failure($0)) }
  }
}
