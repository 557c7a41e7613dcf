// A request that arrives while its app leaves the configuration.

/// Applies a command only while its app is configured.
///
/// Without the app's rules nothing decides what becomes of a purchase, and nothing looks at it again when the
/// app returns. So what cannot be decided is not stored: the sender is refused and sends it again.
public struct WhileConfigured<Command: StoreCommand>: StoreCommand {
  public var app: String
  public var command: Command

  public init(_ app: String, _ command: Command) {
    self.app = app
    self.command = command
  }

  public var reads: [ReadKey] { command.reads }

  /// The command's outcome; nil when the app is not configured and nothing was stored.
  public func apply(to store: StoreSession) throws(StoreFault) -> Command.Outcome? {
    guard store.rules(of: app) != nil else { return nil }
    return try command.apply(to: store)
  }
}
