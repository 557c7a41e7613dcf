// The name of an Android app: its application id in the form of a Java package name. A value; thread-safe.

/// An Android application id, such as `com.example.app`.
///
/// Two or more segments separated by dots; each begins with a letter, followed by letters, digits and
/// underscores (developer.android.com, "Set the application ID"). It needs no escaping in an `intent:` URL,
/// in JSON or in HTML.
public struct PackageName: Sendable, Hashable, CustomStringConvertible {
  /// The maximum length in characters.
  public static let countMax = 255

  /// The text that was parsed; ASCII.
  public let text: String

  public var description: String { text }

  /// - Throws: `NameFault` when the text is not such a name.
  public init(_ text: String) throws(NameFault) {
    guard text.utf8.count <= Self.countMax else {
      throw NameFault("is longer than the \(Self.countMax) characters that a package name can have")
    }
    let segments = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard segments.count > 1, segments.allSatisfy(Self.isSegment) else {
      throw NameFault(
        "is not the name of an Android package, such as com.example.app (two parts or more between dots, "
          + "each a letter followed by letters, digits and _)")
    }
    self.text = text
  }

  private init() { text = "" }

  /// Stands in for a name that could not be read.
  package static let placeholder = PackageName()

  private static func isSegment(_ bytes: Substring.UTF8View) -> Bool {
    guard let first = bytes.first, ASCII.isLetter(first) else { return false }
    return bytes.allSatisfy { ASCII.isLetterOrDigit($0) || $0 == UInt8(ascii: "_") }
  }
}
