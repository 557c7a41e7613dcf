// A change through a person's hands: the change and who made it are on disk together, or neither is.

public import Domain

/// Who changed what, and why.
public struct AuditEntry: Sendable, Equatable {
  public var at: Timestamp
  /// The operating system's user, or where else the change came from.
  public var actor: String
  /// The command, such as `receipts cancel`.
  public var action: String
  public var app: String?
  /// What was changed: the id of a receipt, an event, a job.
  public var subject: String?
  /// The person's words.
  public var reason: String?
  /// A JSON object with what else is worth knowing. Never a secret, and nothing of a user but ids of rows.
  public var details: String

  public init(
    at: Timestamp, actor: String, action: String, app: String? = nil, subject: String? = nil,
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

/// A command with what is written down about it.
public struct Audited<Command: StoreCommand>: StoreCommand {
  public var command: Command
  /// What to write down, once it is known what came of the command; nothing when it changed nothing.
  public var entry: @Sendable (Command.Outcome) -> AuditEntry?

  public init(_ command: Command, entry: @escaping @Sendable (Command.Outcome) -> AuditEntry?) {
    self.command = command
    self.entry = entry
  }

  public var reads: [ReadKey] { command.reads }

  public func apply(to store: StoreSession) throws(StoreFault) -> Command.Outcome {
    let outcome = try command.apply(to: store)
    if let entry = entry(outcome) { try store.audit.insert(entry) }
    return outcome
  }
}

/// Writes down what was done in several transactions.
public struct WriteAudit: StoreCommand {
  public var entry: AuditEntry

  public init(_ entry: AuditEntry) { self.entry = entry }

  public func apply(to store: StoreSession) throws(StoreFault) { try store.audit.insert(entry) }
}
