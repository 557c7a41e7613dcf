// Environment variables as a value, so that whoever reads them can be handed others. Any thread, as long as
// nothing calls setenv(3), which this project never does.

internal import Glibc

/// Where environment variables are looked up.
public struct Environment: Sendable {
  private let lookUp: @Sendable (String) -> String?

  /// The variables of this process (getenv(3)). A value that is not UTF-8 counts as not set.
  public static let process = Environment { name in
    // getenv ends a name at a NUL and never finds one with `=`; an empty name names nothing.
    guard !name.isEmpty, !name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "=") }) else {
      return nil
    }
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(validatingCString: value)
  }

  /// These variables and no others.
  public init(_ values: [String: String]) { lookUp = { values[$0] } }

  private init(_ lookUp: @escaping @Sendable (String) -> String?) { self.lookUp = lookUp }

  /// The value of a variable, or nil when it is not set.
  public subscript(name: String) -> String? { lookUp(name) }
}
