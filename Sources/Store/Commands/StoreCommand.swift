// A change of the database as a value. Every change by receiptd, and every write by receiptctl, is one of
// these.

public import Domain

/// One change. It is applied inside a transaction that may contain many, and rolled back with it. It must not
/// keep a reference to the session.
public protocol StoreCommand: Sendable {
  associatedtype Outcome: Sendable

  /// The keys by which it finds rows, known before it reads any. Rows that those rows refer to are included:
  /// the user that a context names, the context that a purchase has. Empty for a command that reads nothing
  /// or that searches.
  var reads: [ReadKey] { get }
  /// Whose rows it may change. On a database with several programs these apps are locked for its batch.
  var scope: CommandScope { get }

  /// Makes the change. Called on the writer's thread; may be called again after a rollback.
  func apply(to store: StoreSession) throws(StoreFault) -> Outcome
}

extension StoreCommand {
  public var reads: [ReadKey] { [] }
  public var scope: CommandScope { CommandScope(reads) }
}

/// The apps whose rows a command may change.
public enum CommandScope: Sendable, Equatable {
  case apps(Set<AppSlug>)
  /// Any app: the command searches.
  case all

  /// Rows that belong to no app.
  public static let none = CommandScope.apps([])

  /// The apps of declared reads; all for a command that declares none.
  init(_ reads: [ReadKey]) { self = reads.isEmpty ? .all : .apps(Set(reads.compactMap(\.app))) }

  func union(_ other: Self) -> Self {
    guard case .apps(let mine) = self, case .apps(let theirs) = other else { return .all }
    return .apps(mine.union(theirs))
  }
}

/// A command with its completion, ready to be queued.
public struct Submission: Sendable {
  private let pending: any PendingCommand

  /// - Parameter completion: called once, on the writer's thread: with the outcome once it is on disk (R1),
  ///   or with the reason why it was not stored.
  public init<Command: StoreCommand>(
    _ command: Command, completion: @escaping @Sendable (Result<Command.Outcome, StoreFault>) -> Void
  ) {
    pending = Pending(command: command, completion: completion)
  }

  /// Applies the command.
  /// - Returns: the closure to call once the change is on disk.
  func apply(to store: StoreSession) throws(StoreFault) -> @Sendable () -> Void {
    try pending.apply(to: store)
  }

  /// Completes the command with a fault: it was not stored.
  public func fail(_ fault: StoreFault) { pending.fail(fault) }

  var reads: [ReadKey] { pending.reads }
  var scope: CommandScope { pending.scope }
}

/// A submission with its command's type erased.
private protocol PendingCommand: AnyObject, Sendable {
  var reads: [ReadKey] { get }
  var scope: CommandScope { get }
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
  var scope: CommandScope { command.scope }

  func apply(to store: StoreSession) throws(StoreFault) -> @Sendable () -> Void {
    let outcome = try command.apply(to: store)
    return { [completion] in completion(.success(outcome)) }
  }

  func fail(_ fault: StoreFault) { completion(.failure(fault)) }
}

// MARK: - CommandList

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

// MARK: - Fenced

// Refuses what the previous owner of an app did after another program became its owner.

/// Applies a command only while its program owns the app.
///
/// The new owner may send a receipt again as soon as the previous owner's time has ended. An outcome of the
/// previous owner that arrives later would decide about a receipt that is under way.
public struct Fenced<Command: StoreCommand>: StoreCommand {
  /// Nil if the program has no rivals.
  public var fence: Fence?
  public var command: Command

  public init(_ fence: Fence?, _ command: Command) {
    self.fence = fence
    self.command = command
  }

  public var reads: [ReadKey] { command.reads + (fence.map { [.lease(app: $0.app)] } ?? []) }
  public var scope: CommandScope { command.scope }

  /// The command's outcome; nil if the app has another owner, and nothing was stored.
  public func apply(to store: StoreSession) throws(StoreFault) -> Command.Outcome? {
    if let fence, !store.leases.isCurrent(fence) { return nil }
    return try command.apply(to: store)
  }
}

/// Changes nothing. When it is stored, every earlier transaction that locked the app has ended, and every
/// later one sees the app's present owner.
public struct SettleApp: StoreCommand {
  public var app: AppSlug

  public init(_ app: AppSlug) { self.app = app }

  public var scope: CommandScope { .apps([app]) }

  public func apply(to store: StoreSession) throws(StoreFault) {}
}

// MARK: - WhileConfigured

// Refuses requests whose app was removed from the configuration.

/// Applies a command only while its app is configured.
///
/// Without the app's rules nothing can decide about a purchase, and nothing decides about it again when the
/// app returns. So the change is not stored: the sender gets a refusal and retries.
public struct WhileConfigured<Command: StoreCommand>: StoreCommand {
  public var app: AppSlug
  public var command: Command

  public init(_ app: AppSlug, _ command: Command) {
    self.app = app
    self.command = command
  }

  public var reads: [ReadKey] { command.reads }
  public var scope: CommandScope { command.scope }

  /// The command's outcome; nil if the app is not configured and nothing was stored.
  public func apply(to store: StoreSession) throws(StoreFault) -> Command.Outcome? {
    guard store.rules(of: app) != nil else { return nil }
    return try command.apply(to: store)
  }
}
