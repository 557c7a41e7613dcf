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

// MARK: - HostName

// The name of this machine (gethostname(2)). Thread-safe.

/// Reads the name of this machine.
public enum HostName {
  /// The host name; `localhost` when it cannot be read.
  public static func current() -> String {
    var buffer = [UInt8](repeating: 0, count: 256)
    let isKnown = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { text in
        unsafe text.baseAddress.map { unsafe gethostname($0, text.count - 1) == 0 } ?? false
      }
    }
    let name = String(validating: buffer.prefix { $0 != 0 }, as: UTF8.self)
    return isKnown ? name.flatMap { $0.isEmpty ? nil : $0 } ?? "localhost" : "localhost"
  }
}

// MARK: - LoginUser

// The user who started this process, for the audit. getpwuid(3) uses a static buffer, so call it once, at the
// start of a command.

/// The user of a process, from the operating system.
public enum LoginUser {
  /// The user's name; under sudo(8) also the calling user, as `root (anna)`. A user without a name is shown
  /// by number.
  public static func name(environment: Environment = .process) -> String {
    let identifier = geteuid()
    var name = "uid \(identifier)"
    if let entry = unsafe getpwuid(identifier),
      let text = unsafe String(validatingCString: entry.pointee.pw_name)
    {
      name = text
    }
    // Any process can set SUDO_USER, so it is added to the name and never replaces it.
    guard let caller = environment["SUDO_USER"], caller != name, caller.utf8.count <= 64,
      caller.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { return name }
    return "\(name) (\(caller))"
  }
}
