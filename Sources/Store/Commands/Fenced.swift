// Refuses what the previous owner of an app did after another program became its owner.

public import Domain

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
