// The result of one reload, for the log, receiptctl and the dashboard. A value. It names keys and sources,
// never a secret (R7).

public import Config
public import Domain
public import Formats
public import Platform
internal import Reports

/// The result of one reload.
public struct ReloadReport: Sendable, Equatable {
  /// When it ended.
  public var at: Timestamp
  /// When it began, before the file was read (CLOCK_MONOTONIC). The report answers every reload request sent
  /// before that.
  public var began: MonotonicInstant
  /// Counts the configurations that this process applied; the start's is 1.
  public var generation: Int64
  /// Why it was refused; empty if it was applied.
  public var faults: [Fault] = []
  public var warnings: [Fault] = []
  /// The changed keys that the reload applied.
  public var changed: [String] = []
  /// Keys that differ from the configuration of the start, and that only a restart applies.
  public var needsRestart: [String] = []
  /// Secrets that a reload cannot read again, each as `key (source)`.
  public var keptSecrets: [String] = []

  public init(at: Timestamp, began: MonotonicInstant, generation: Int64) {
    self.at = at
    self.began = began
    self.generation = generation
  }

  public var isRefused: Bool { !faults.isEmpty }

  /// The command that restarts receiptd under systemd.
  public static let restartCommand = "systemctl restart receiptd"
}

extension ReloadReport {
  public var json: JSONValue {
    func list(_ faults: [Fault]) -> JSONValue {
      .array(faults.map { ["key": .string($0.path), "message": .string($0.message)] })
    }
    return [
      "result": isRefused ? "refused" : "applied", "generation": .integer(generation),
      "at": .time(at),
      "changed": .array(changed.map(JSONValue.string)),
      "needs_restart": .array(needsRestart.map(JSONValue.string)),
      "kept_secrets": .array(keptSecrets.map(JSONValue.string)),
      "faults": list(faults), "warnings": list(warnings),
    ]
  }

  /// The form in the database, which includes `began`.
  public var stored: String { json.adding("began_ns", .integer(began.nanoseconds)).text }

  /// Parses the output of `stored`; nil for anything else.
  public init?(stored text: String, at: Timestamp) {
    guard let value = try? JSONValue(parsing: Array(text.utf8)),
      case .integer(let generation)? = value["generation"], case .integer(let began)? = value["began_ns"]
    else { return nil }
    func texts(_ name: String) -> [String] { value[name]?.elements.compactMap(\.stringValue) ?? [] }
    func faults(_ name: String) -> [Fault] {
      value[name]?.elements.map {
        Fault(path: $0["key"]?.stringValue ?? "", message: $0["message"]?.stringValue ?? "")
      } ?? []
    }
    self.init(at: at, began: MonotonicInstant(nanoseconds: began), generation: generation)
    (changed, needsRestart, keptSecrets) = (texts("changed"), texts("needs_restart"), texts("kept_secrets"))
    (self.faults, warnings) = (faults("faults"), faults("warnings"))
  }
}

extension JSONValue {
  /// The elements of an array; empty for any other value.
  var elements: [JSONValue] {
    if case .array(let elements) = self { return elements }
    return []
  }
}
