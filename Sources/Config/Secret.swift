// A secret of the configuration that cannot be printed by accident (R7). Pure; any thread. No description,
// dump, log line or error may contain its value; only `reveal()` returns it, to the code that compares or
// sends it.

/// A secret and its source.
public struct Secret: Sendable, Equatable {
  /// Where a secret was read from.
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

  /// A secret that could not be read, and why; only `SecretPolicy.whereAvailable` creates these.
  init(unavailable fault: Fault, source: Source) {
    self.source = source
    content = .unavailable(fault)
  }

  /// The value: never empty. A one-line secret has no padding and no control characters.
  /// - Throws: why it could not be read; never after loading with `SecretPolicy.required`.
  public func reveal() throws(Fault) -> String {
    switch content {
    case .value(let value): return value
    case .unavailable(let fault): throw fault
    }
  }

  /// Whether both values are known and equal, regardless of their sources.
  func hasValue(of other: Secret) -> Bool {
    guard case .value(let left) = content, case .value(let right) = other.content else { return false }
    return left == right
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The source: `env:NAME`, `file:/path` or `(set in place)`; never the value.
  public var description: String {
    switch source {
    case .environment(let name): "env:\(name)"
    case .file(let path): "file:\(path)"
    case .inPlace: "(set in place)"
    }
  }

  public var debugDescription: String { "Secret(\(description))" }

  /// Without this, `dump` and `String(reflecting:)` of a type that contains a secret would show the stored
  /// properties.
  public var customMirror: Mirror { Mirror(self, children: ["source": description]) }
}
