// What is known to be wrong, or well, with the relay, an app or a processor: the one value behind stats, top,
// doctor, alerts list, the dashboard and the notices, so that they cannot disagree. Each kind is one function
// of a file in this folder. Pure; called from any thread.

public import Config
public import Domain
public import Formats
internal import Platform
internal import Reports

/// One thing that was found. It names no user, object or secret (R7).
public struct Finding: Sendable, Equatable {
  /// How bad it is.
  public enum Level: String, Sendable, CaseIterable {
    case ok
    /// Nothing is lost yet.
    case warning
    /// Something does not work, or soon will not.
    case failure

    /// The most urgent first.
    fileprivate var rank: Int {
      switch self {
      case .failure: 0
      case .warning: 1
      case .ok: 2
      }
    }
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
    _ level: Level, _ check: Check, _ what: String, next: String? = nil, app: AppSlug? = nil,
    since: Timestamp? = nil, alert: AlertCondition? = nil, value: Double = 0,
    reasons: [String: Int64] = [:], commands: [String] = [], processors: [ProcessorName] = []
  ) {
    (self.level, self.check, self.what, self.next) = (level, check, what, next)
    (self.app, self.since, self.alert, self.value) = (app, since, alert, value)
    (self.reasons, self.commands, self.processors) = (reasons, commands, processors)
  }

  /// Nil if no alert reports it.
  public var key: Key? { alert.map { Key(condition: $0, app: app) } }

  /// Both sentences in one line.
  public var line: String {
    sentence + (sentence.hasSuffix(".") ? "" : ".") + (next.map { " \($0)" } ?? "")
  }

  /// Names of programs, apps and processors stay as they are.
  private var sentence: String { what.hasPrefix("the ") ? what.capitalizedFirst : what }

  /// The first clause of the sentence, for a list.
  public var title: String {
    let sentence = sentence
    let ends = [" (", ": ", "; "].compactMap { sentence.firstRange(of: $0)?.lowerBound }
    return String(sentence[..<(ends.min() ?? sentence.endIndex)])
  }

  /// An element of the array `findings` of `receiptctl --json`.
  public var json: JSONValue {
    [
      "check": .string(check.rawValue), "severity": .string(level.rawValue), "title": .string(title),
      "detail": .string(what), "remedy": .optional(next), "app": .optional(app?.text),
      "since": .optional(since?.rfc3339), "alert": .optional(alert?.text),
      "commands": .array(commands.map(JSONValue.string)),
    ]
  }

  /// In the order in which operators should act: failures first, those that have lasted longest before
  /// newer ones.
  public static func byUrgency(_ findings: [Finding], now: Timestamp) -> [Finding] {
    let keys = findings.enumerated().map { ($1.level.rank, $1.since ?? now, $1.app?.text ?? "", $0) }
    return keys.sorted(by: <).map { findings[$0.3] }
  }

  /// Several findings of one kind as one, with what to do about the worst of them; nil without findings.
  static func joined(_ findings: [Finding], alert: AlertCondition) -> Finding? {
    guard var whole = findings.first else { return nil }
    let failures = findings.filter { $0.level == .failure }
    let worst = failures.isEmpty ? findings : failures
    (whole.level, whole.alert) = (worst[0].level, alert)
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
