// What is known to be wrong, or well, with the relay, an app or a processor: the one value behind status,
// status, doctor, alerts list, the dashboard and the notices, so that they cannot disagree. Each kind is
// one function of a file in this folder, with its title, urgency and act. Pure; called from any thread.

public import Config
public import Domain
public import Formats
public import Reports

/// One thing that was found. It names no user, object or secret (R7).
public struct Finding: Sendable, Equatable {
  /// How bad it is.
  public enum Level: String, Sendable, CaseIterable {
    case ok
    /// Nothing is lost yet.
    case warning
    /// Something does not work, or soon will not.
    case failure
  }

  /// What helps: a button of the dashboard.
  public enum Act: Sendable, Equatable {
    /// Open a list of the dashboard, such as `receipts`, of the app, with these filters.
    case open(String, [String: String] = [:])
    case replayFailures
    /// Deliver the app's receipts without waiting for the next probe.
    case retryNow
    /// End the operator's pause of the app.
    case resume
  }

  /// The check of `receiptctl doctor` that shows it; its name is that on the page and in `--only`.
  public enum Check: String, Sendable, CaseIterable {
    case configuration, applied, secrets, receiptd, clock, disk, database, work, backup, certificate, address
    case destination, processor, webhooks, contexts, associations, alerts
  }

  /// Identifies a finding among the alerts.
  public struct Key: Hashable, Sendable {
    public var condition: AlertCondition
    public var app: AppSlug?

    public init(condition: AlertCondition, app: AppSlug?) { (self.condition, self.app) = (condition, app) }
  }

  public var level: Level
  public var check: Check
  /// At most eight words, without app and numbers; empty for a line that no list of problems has.
  public var title: String
  public var urgency: Urgency
  /// Nil if nothing on a page helps.
  public var act: Act?
  /// What was found: one sentence without its full stop. May contain text of a server.
  public var what: String
  /// What to do: sentences with a command in them, or the command alone; nil if there is nothing to do.
  public var next: String?
  /// Nil if it concerns the whole relay.
  public var app: AppSlug?
  /// Since when, as far as known.
  public var since: Timestamp?
  /// The condition of the alert that reports it; nil if none does.
  public var alert: AlertCondition?
  /// The severity in seconds, bytes or a count, depending on the kind.
  public var value: Double
  /// How often each reason occurred, where there are reasons.
  public var reasons: [String: Int64]
  /// The commands of `next`, ready to paste into a shell.
  public var commands: [String]
  /// The payment processors that it is about; empty if it is not about one.
  public var processors: [ProcessorName]

  /// - Parameters: see the properties.
  public init(
    _ level: Level, _ check: Check, _ title: String, _ urgency: Urgency, act: Act? = nil, _ what: String,
    next: String? = nil, app: AppSlug? = nil, since: Timestamp? = nil, alert: AlertCondition? = nil,
    value: Double = 0, reasons: [String: Int64] = [:], commands: [String] = [],
    processors: [ProcessorName] = []
  ) {
    assert(title.split(separator: " ").count <= 8, "the title is too long for a list: \(title)")
    (self.level, self.check, self.title, self.urgency, self.act) = (level, check, title, urgency, act)
    (self.what, self.next) = (what, next)
    (self.app, self.since, self.alert, self.value) = (app, since, alert, value)
    (self.reasons, self.commands, self.processors) = (reasons, commands, processors)
  }

  /// A line that no list of problems has: what is well, or what only `receiptctl doctor` checks.
  public init(
    line level: Level, _ check: Check, _ what: String, next: String? = nil, app: AppSlug? = nil,
    processors: [ProcessorName] = []
  ) {
    self.init(level, check, "", .intended, what, next: next, app: app, processors: processors)
  }

  /// Nil if no alert reports it.
  public var key: Key? { alert.map { Key(condition: $0, app: app) } }

  /// Both sentences in one line.
  public var line: String { sentence.ended + (next.map { " \($0)" } ?? "") }

  /// Names of programs, apps and processors stay as they are.
  private var sentence: String { what.hasPrefix("the ") ? what.capitalizedFirst : what }

  /// An element of the array `findings` of `receiptctl --json` and of the API.
  public static let list = Resource<Finding>(
    "findings", one: "finding",
    [
      .text("check") { $0.check.rawValue }, .text("severity") { $0.level.rawValue },
      .text("title") { $0.title }, .text("detail") { $0.what }, .text("remedy") { $0.next }, .app { $0.app },
      .time("since") { $0.since }, .text("alert") { $0.alert?.text },
      .json("commands") { .array($0.commands.map(JSONValue.string)) },
    ], table: [])

  public var json: JSONValue { Self.list.object(of: self) }

  /// Several findings of one kind as one, with what to do about the worst of them; nil without findings.
  static func joined(_ findings: [Finding], alert: AlertCondition) -> Finding? {
    let failures = findings.filter { $0.level == .failure }
    let worst = failures.isEmpty ? findings : failures
    guard var whole = worst.first else { return nil }
    whole.alert = alert
    whole.what = findings.map(\.what).joined(separator: "; ")
    whole.next = worst.compactMap(\.next).withoutRepeats.joined(separator: ". ")
    whole.commands = worst.flatMap(\.commands).withoutRepeats
    whole.since = findings.compactMap(\.since).min()
    whole.value = findings.reduce(0) { $0 + $1.value }
    whole.reasons = findings.reduce(into: [:]) { $0.merge($1.reasons, uniquingKeysWith: +) }
    whole.processors = findings.flatMap(\.processors).withoutRepeats
    return whole
  }

  static func seconds(from start: Timestamp, to end: Timestamp) -> Double {
    max(.zero, end.duration(since: start)).inSeconds
  }

  /// `within 10m`
  public static func within(_ window: Duration) -> String { "within \(words(seconds: window.inSeconds))" }

  /// `45s`, `12m`, `5h`, `3d`: in the largest unit with a value of at least 2.
  public static func words(seconds: Double) -> String {
    let seconds = Int64(exactly: max(0, seconds).rounded()) ?? .max
    for (unit, size) in [("d", Int64(86_400)), ("h", 3600), ("m", 60)] where seconds >= 2 * size {
      return "\(seconds / size)\(unit)"
    }
    return "\(seconds)s"
  }
}

extension Array where Element: Hashable {
  /// The elements in their order, each once.
  fileprivate var withoutRepeats: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}

extension String {
  /// With a full stop, unless it ends as a sentence already.
  public var ended: String { hasSuffix(".") || hasSuffix("?") ? self : self + "." }
}
