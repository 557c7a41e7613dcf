// What is wrong or odd in an association file. A value; any thread.

/// Something in a file that a person should know.
public struct Finding: Sendable, Equatable {
  public enum Severity: String, Sendable {
    /// A device does not do what the file says, or takes no file at all.
    case fault
    /// Devices take it; it may still not be what was meant.
    case note
  }

  public let severity: Severity
  /// Where, such as `applinks.details[0].components[2]`; empty for the whole file.
  public let place: String
  /// What, reading well behind the place. Holds nothing of the file's text.
  public let message: String

  public static func fault(_ place: String, _ message: String) -> Finding {
    Finding(severity: .fault, place: place, message: message)
  }

  public static func note(_ place: String, _ message: String) -> Finding {
    Finding(severity: .note, place: place, message: message)
  }
}

/// Why a file can be read not at all.
public struct AssociationFault: Error, Sendable, Equatable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}
