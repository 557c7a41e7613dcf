// A configuration fault in words for the operator. A message says what, why and what to do. It repeats
// nothing from the file but names of keys: a secret may be in the wrong place (R7). Pure; any thread.

/// One fault or warning and the key that it concerns.
public struct Fault: Error, Sendable, Equatable, CustomStringConvertible {
  /// The key, such as `apps.ios.purchasely.api_key`; empty for the whole file.
  public let path: String
  /// The fault and its fix, as the end of a sentence that begins with the key.
  public let message: String

  public init(path: String, message: String) {
    self.path = path
    self.message = message
  }

  public var description: String { path.isEmpty ? message : "\(path): \(message)" }
}

/// Why a configuration was rejected: every fault, in the order of the manual page.
public struct ConfigurationFaults: Error, Sendable, Equatable, CustomStringConvertible {
  /// Never empty.
  public let faults: [Fault]
  /// Warnings that were found as well.
  public let warnings: [Fault]

  public init(faults: [Fault], warnings: [Fault] = []) {
    self.faults = faults
    self.warnings = warnings
  }

  /// One line for each fault.
  public var description: String { faults.map(\.description).joined(separator: "\n") }

  /// A line for each fault of an error; nil for an error that is not about the configuration.
  public static func lines(of error: any Error) -> [String]? {
    if let fault = error as? Fault { return [fault.description] }
    return (error as? ConfigurationFaults)?.faults.map(\.description)
  }
}
