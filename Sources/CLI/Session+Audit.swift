// What a command writes to the audit about its changes. One thread.

internal import Domain
internal import Formats
internal import Platform
internal import Store
internal import Terminal

extension CommandTable {
  static let reasonCharactersMax = 1000

  /// `--reason`, for every command that changes something and does not filter receipts by reason.
  static let reason = OptionSpec(
    "reason", placeholder: "TEXT", help: "Why; kept in the audit")
  /// `--why`, for the commands in which `--reason` filters receipts.
  static let why = OptionSpec("why", placeholder: "TEXT", help: "Why; kept in the audit")
}

extension Session {
  /// The reason that the operator gave.
  func reason(option name: String = "reason") throws(UsageError) -> String? {
    guard let text = command.options[name] else { return nil }
    guard !text.allSatisfy(\.isWhitespace) else { throw usage("--\(name) needs a few words") }
    guard text.count <= CommandTable.reasonCharactersMax else {
      throw usage("--\(name) has at most \(CommandTable.reasonCharactersMax) characters")
    }
    return text
  }

  /// An audit entry for this command, with the time now.
  func auditEntry(
    app: AppSlug? = nil, subject: String? = nil, reason: String? = nil, details: JSONValue = [:]
  ) -> AuditEntry {
    AuditEntry(
      at: moment, actor: dependencies.actor, action: command.path.joined(separator: " "), app: app,
      subject: subject, reason: reason, details: details.text)
  }
}
