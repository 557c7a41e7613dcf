// Faults and oddities of an association file. A value; thread-safe.

/// A problem in a file, for the operator.
public struct LinkFinding: Sendable, Equatable {
  public enum Severity: String, Sendable {
    /// Devices do not do what the file says, or reject the whole file.
    case fault
    /// Devices accept it, but it may be unintended.
    case note
  }

  public let severity: Severity
  /// The position, such as `applinks.details[0].components[2]`; empty for the whole file.
  public let place: String
  /// The predicate of a sentence whose subject is the place. Contains no text of the file.
  public let message: String

  public static func fault(_ place: String, _ message: String) -> LinkFinding {
    LinkFinding(severity: .fault, place: place, message: message)
  }

  public static func note(_ place: String, _ message: String) -> LinkFinding {
    LinkFinding(severity: .note, place: place, message: message)
  }
}

/// Why a file cannot be read.
public struct AssociationFault: Error, Sendable, Equatable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}
