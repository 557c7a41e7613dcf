// The body of a notice: one JSON object for programs, with a `text` that Slack and similar services show.
// Pure; called from any thread.

internal import Config
internal import Cryptography
internal import Domain
internal import Formats
internal import Reports
internal import Service

/// One notice to an alert address.
public struct AlertNotice: Sendable, Equatable {
  /// The state of the trouble.
  public enum State: String, Sendable {
    case firing, resolved
    /// No trouble: an operator tests whether notices arrive.
    case test
  }

  /// How urgent it is, as PagerDuty distinguishes it.
  enum Severity: String {
    case critical, error, warning, info
  }

  /// The condition with its limit.
  let alert: String
  /// The condition without its limit.
  let name: String
  let severity: Severity
  /// The same for each attempt to send this notice, and for no other notice.
  let id: String
  let state: State
  let app: AppSlug?
  let since: Timestamp
  let at: Timestamp
  let value: Double?
  let reasons: [String: Int64]
  let summary: String
  let advice: String
  let commands: [String]
  let processors: [ProcessorName]

  /// Reports a trouble that exists.
  /// - Parameter id: see the property.
  init(_ key: Finding.Key, _ finding: Finding, since: Timestamp, id: String, now: Timestamp) {
    alert = key.condition.text
    name = key.condition.name
    severity = key.condition.severity
    self.id = id
    state = .firing
    app = key.app
    self.since = since
    at = now
    value = finding.value
    reasons = finding.reasons
    summary = finding.what
    advice = finding.next ?? "Nothing"
    commands = finding.commands
    processors = finding.processors
  }

  /// Reports that a trouble is over.
  /// - Parameter id: see the property.
  init(endOf condition: AlertCondition, app: AppSlug?, since: Timestamp, id: String, now: Timestamp) {
    alert = condition.text
    name = condition.name
    severity = condition.severity
    self.id = id
    state = .resolved
    self.app = app
    self.since = since
    at = now
    value = nil
    reasons = [:]
    let lasted = Finding.words(seconds: max(.zero, now.duration(since: since)).inSeconds)
    let head = app.map { "\($0): " } ?? ""
    if case .receiptFailed = condition {
      summary =
        "\(head)no failure is new any more, after \(lasted); what is still failed: receiptctl failures list"
    } else {
      summary = "\(head)\(condition.name) is over after \(lasted)"
    }
    advice = "Nothing"
    commands = []
    processors = []
  }

  /// Makes a test notice, without a trouble.
  /// - Parameter milliseconds: the time now, in Unix milliseconds.
  public init(testAt milliseconds: Int64) {
    alert = "test"
    name = "test"
    severity = .info
    id = "msg_" + Self.digest(of: "test \(milliseconds)")
    state = .test
    app = nil
    since = Timestamp(unixMilliseconds: milliseconds)
    at = since
    value = nil
    reasons = [:]
    summary = "this is a test notice; nothing is wrong"
    advice = "Nothing"
    commands = []
    processors = []
  }

  /// Identifies an address in the database: a prefix of its SHA-256, because the address may be a secret.
  public static func digest(of url: String) -> String {
    Hex.encode(Array(SHA256.digest(Array(url.utf8)).prefix(8)))
  }

  /// The body of the POST.
  /// - Parameter host: of this machine.
  public func body(host: String) -> [UInt8] { json(host: host).serialized() }

  /// The state, as people read it first.
  var mark: String { state.rawValue.uppercased() }

  /// The advice as a sentence; it may end with its full stop.
  var whatToDo: String { "What to do: \(advice.ended)" }

  /// The whole notice in one line.
  func text(host: String) -> String {
    let tail = state == .firing ? " \(whatToDo)" : ""
    return "[\(mark)] receiptd on \(host): \(summary.ended)\(tail)"
  }

  func json(host: String) -> JSONValue {
    [
      "text": .string(text(host: host)),
      "alert": .string(alert), "state": .string(state.rawValue), "app": .optional(app?.text),
      "processors": .array(processors.map { .string($0.text) }),
      "since": .time(since), "at": .time(at), "value": value.map(JSONValue.number) ?? .null,
      "reasons": .object(
        reasons.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: .integer($0.value)) }),
      "summary": .string(summary), "what_to_do": .string(advice),
      "commands": .array(commands.map(JSONValue.string)), "host": .string(host),
      "version": .string(Version.number),
    ]
  }
}

extension AlertCondition {
  /// `critical` loses data or refuses requests; `error` leaves receipts undelivered; `warning` will.
  var severity: AlertNotice.Severity {
    switch self {
    case .database, .diskLow, .corruption: .critical
    case .breakerOpen, .receiptFailed, .oldestPending, .captureUnknown, .backlogGrowing, .noEvents,
      .unreadableEvents:
      .error
    case .signatureFailures, .contextsRefused, .processorFailures, .callbacksMissing, .reloadRefused,
      .backupOld, .certificateExpires, .clock, .appPaused, .contextsUnjoined, .userConflict,
      .unmatchedPurchases, .associationFiles, .unknown:
      .warning
    }
  }
}
