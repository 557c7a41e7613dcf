// What a command writes down about the changes that it makes. One thread.

internal import Domain
internal import JSON
internal import Platform
internal import Relay
internal import Store
internal import Terminal

extension CommandTable {
  static let reasonCharactersMax = 1000

  /// `--reason`, of every command that changes something and does not choose receipts by that word.
  static let reason = OptionSpec(
    "reason", placeholder: "TEXT", help: "Why; kept in the audit")
  /// `--why`, of the commands in which `--reason` chooses receipts.
  static let why = OptionSpec("why", placeholder: "TEXT", help: "Why; kept in the audit")
}

extension Session {
  /// The words that the person gave as reason.
  func reason(option name: String = "reason") throws(UsageError) -> String? {
    guard let text = command.options[name] else { return nil }
    guard !text.allSatisfy(\.isWhitespace) else { throw usage("--\(name) needs a few words") }
    guard text.count <= CommandTable.reasonCharactersMax else {
      throw usage("--\(name) has at most \(CommandTable.reasonCharactersMax) characters")
    }
    return text
  }

  /// A line of the audit about what this command does now.
  func auditEntry(
    app: String? = nil, subject: String? = nil, reason: String? = nil, details: JSONValue = [:]
  ) -> AuditEntry {
    AuditEntry(
      at: moment, actor: surroundings.actor, action: command.path.joined(separator: " "), app: app,
      subject: subject, reason: reason, details: details.text)
  }
}
