// A secret of the configuration that cannot be printed by accident (R7). Pure; any thread. It must never show
// its value in a description, a dump, a log line or an error; only `reveal()` gives it, to what compares or
// sends it.

/// A secret and where it came from.
public struct Secret: Sendable, Equatable {
  /// Where a secret was found.
  public enum Source: Sendable, Equatable {
    /// An environment variable, by name.
    case environment(String)
    /// A file, by absolute path.
    case file(String)
    /// The configuration file itself.
    case inPlace
  }

  public let source: Source
  private let content: Content

  private enum Content: Sendable, Equatable {
    case value(String)
    case unavailable(Fault)
  }

  public init(_ value: String, source: Source = .inPlace) {
    self.source = source
    content = .value(value)
  }

  /// A secret that could not be read, and why; only `SecretPolicy.whereAvailable` makes such ones.
  init(unavailable fault: Fault, source: Source) {
    self.source = source
    content = .unavailable(fault)
  }

  /// The value: never empty; a secret of one line never padded, and without control characters.
  /// - Throws: why it could not be read. After loading with `SecretPolicy.required` it always could.
  public func reveal() throws(Fault) -> String {
    switch content {
    case .value(let value): return value
    case .unavailable(let fault): throw fault
    }
  }

  /// Whether both are known and the same, wherever they came from.
  func hasValue(of other: Secret) -> Bool {
    guard case .value(let left) = content, case .value(let right) = other.content else { return false }
    return left == right
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Where it came from: `env:NAME`, `file:/path` or `(set in place)`; never what it is.
  public var description: String {
    switch source {
    case .environment(let name): "env:\(name)"
    case .file(let path): "file:\(path)"
    case .inPlace: "(set in place)"
    }
  }

  public var debugDescription: String { "Secret(\(description))" }

  /// Without this, `dump` and `String(reflecting:)` of whatever holds a secret would show its stored
  /// properties.
  public var customMirror: Mirror { Mirror(self, children: ["source": description]) }
}
