// Environment variables as a value, so that tests can inject others. Thread-safe as long as nothing calls
// setenv(3), which this project never does.

internal import Glibc

/// A source of environment variables.
public struct Environment: Sendable {
  private let lookUp: @Sendable (String) -> String?

  /// The variables of this process (getenv(3)). A value that is not UTF-8 counts as not set.
  public static let process = Environment { name in
    // getenv ends a name at a NUL and never finds a name with `=`; an empty name is not a variable.
    guard !name.isEmpty, !name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "=") }) else {
      return nil
    }
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(validatingCString: value)
  }

  /// Only these variables.
  public init(_ values: [String: String]) { lookUp = { values[$0] } }

  private init(_ lookUp: @escaping @Sendable (String) -> String?) { self.lookUp = lookUp }

  /// The value of a variable, or nil when it is not set.
  public subscript(name: String) -> String? { lookUp(name) }
}
