// The result of one reload of the configuration: what the log, receiptctl and the dashboard say about it. A
// value; any thread. It names keys and sources, never a secret (R7).

public import Configuration
public import Domain
public import JSON
public import Platform

/// What one reload did.
public struct ReloadReport: Sendable, Equatable {
  /// When it ended.
  public var at: Timestamp
  /// When it began, before the file was read (CLOCK_MONOTONIC): a request that was sent no later than that is
  /// answered by this reload.
  public var began: MonotonicInstant
  /// Counts the configurations that this process applied; the start's is the first.
  public var generation: Int64
  /// Why it was refused; empty when it was applied.
  public var faults: [Fault] = []
  public var warnings: [Fault] = []
  /// The keys that changed with it.
  public var changed: [String] = []
  /// Keys that differ from what the process was started with, and that only a restart applies.
  public var needsRestart: [String] = []
  /// Secrets that a reload cannot read again, each as `key (source)`.
  public var keptSecrets: [String] = []

  public init(at: Timestamp, began: MonotonicInstant, generation: Int64) {
    self.at = at
    self.began = began
    self.generation = generation
  }

  public var isRefused: Bool { !faults.isEmpty }

  /// How a restart is asked for, where systemd runs receiptd.
  public static let restartCommand = "systemctl restart receiptd"
}

extension ReloadReport {
  public var json: JSONValue {
    func list(_ faults: [Fault]) -> JSONValue {
      .array(faults.map { ["key": .string($0.path), "message": .string($0.message)] })
    }
    return [
      "result": isRefused ? "refused" : "applied", "generation": .integer(generation),
      "at": .string(RFC3339.string(unixMilliseconds: at.unixMilliseconds)),
      "changed": .array(changed.map(JSONValue.string)),
      "needs_restart": .array(needsRestart.map(JSONValue.string)),
      "kept_secrets": .array(keptSecrets.map(JSONValue.string)),
      "faults": list(faults), "warnings": list(warnings),
    ]
  }

  /// The form in the database: with the moment that it began.
  public var stored: String { json.adding("began_ns", .integer(began.nanoseconds)).text }

  /// Reads what `stored` wrote; nil for anything else.
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
  /// Of an array; nothing of anything else.
  var elements: [JSONValue] {
    if case .array(let elements) = self { return elements }
    return []
  }
}
