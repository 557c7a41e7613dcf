// What is wrong with a configuration, in words for the operator. A message says what, why and what to do, and
// repeats nothing that the file says but names of keys: a secret may stand where it does not belong (R7).
// Pure; any thread.

/// One fault or warning and the key it is about.
public struct Fault: Error, Sendable, Equatable, CustomStringConvertible {
  /// The key, such as `apps.ios.purchasely.api_key`; empty when the whole file is meant.
  public let path: String
  /// What is wrong and what to do, as the end of a sentence that begins with the key.
  public let message: String

  public init(path: String, message: String) {
    self.path = path
    self.message = message
  }

  public var description: String { path.isEmpty ? message : "\(path): \(message)" }
}

/// Why a configuration was refused: every fault of it, in the order of the keys as the manual lists them.
public struct ConfigurationFaults: Error, Sendable, Equatable, CustomStringConvertible {
  /// Never empty.
  public let faults: [Fault]
  /// What would have been worth a remark besides.
  public let warnings: [Fault]

  public init(faults: [Fault], warnings: [Fault] = []) {
    self.faults = faults
    self.warnings = warnings
  }

  /// One line for each fault.
  public var description: String { faults.map(\.description).joined(separator: "\n") }
}
