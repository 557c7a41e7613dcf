// Audited changes: the change and its audit entry are on disk together, or neither is.

public import Domain

/// Who changed what, and why.
public struct AuditEntry: Sendable, Equatable {
  public var at: Timestamp
  /// The operating system's user, or another source of the change.
  public var actor: String
  /// The command, such as `receipts cancel`.
  public var action: String
  public var app: AppSlug?
  /// The id of the receipt, event or job that was changed, or of the purchase that was fetched.
  public var subject: String?
  /// The operator's reason.
  public var reason: String?
  /// A JSON object with further details. Never contains a secret, nor any data of a user except ids of rows.
  public var details: String

  public init(
    at: Timestamp, actor: String, action: String, app: AppSlug? = nil, subject: String? = nil,
    reason: String? = nil, details: String = "{}"
  ) {
    self.at = at
    self.actor = actor
    self.action = action
    self.app = app
    self.subject = subject
    self.reason = reason
    self.details = details
  }
}

/// A command with its audit entry.
public struct Audited<Command: StoreCommand>: StoreCommand {
  public var command: Command
  /// Makes the entry from the command's outcome; nil if the command changed nothing.
  public var entry: @Sendable (Command.Outcome) -> AuditEntry?

  public init(_ command: Command, entry: @escaping @Sendable (Command.Outcome) -> AuditEntry?) {
    self.command = command
    self.entry = entry
  }

  public var reads: [ReadKey] { command.reads }
  public var scope: CommandScope { command.scope }

  public func apply(to store: StoreSession) throws(StoreFault) -> Command.Outcome {
    let outcome = try command.apply(to: store)
    if let entry = entry(outcome) { try store.audit.insert(entry) }
    return outcome
  }
}

/// Writes the audit entry of a change that took several transactions.
public struct WriteAudit: StoreCommand {
  public var entry: AuditEntry

  public init(_ entry: AuditEntry) { self.entry = entry }

  public func apply(to store: StoreSession) throws(StoreFault) { try store.audit.insert(entry) }
}
