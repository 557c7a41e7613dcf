// Refuses requests whose app was removed from the configuration.

public import Domain

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
