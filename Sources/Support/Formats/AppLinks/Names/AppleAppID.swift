// The id of an iOS app in Apple's association files. A value; thread-safe.

/// An application identifier: a prefix of ten characters (usually the team's id), a dot, and the bundle id.
///
/// Apple, "Supporting associated domains": `<Application Identifier Prefix>.<Bundle Identifier>`. A bundle id
/// has letters, digits, hyphens and dots (Apple, "CFBundleIdentifier").
public struct AppleAppID: Sendable, Hashable, CustomStringConvertible {
  /// The maximum length with the prefix, in characters.
  public static let countMax = 255

  private static let prefixCount = 10

  /// The text that was parsed, such as `ABCDE12345.com.example.app`; ASCII.
  public let text: String

  public var description: String { text }

  /// The part after the prefix and its dot.
  public var bundleID: Substring { text.dropFirst(Self.prefixCount + 1) }

  /// - Throws: `NameFault` when the text is not such an id.
  public init(_ text: String) throws(NameFault) {
    guard text.utf8.count <= Self.countMax else {
      throw NameFault("is longer than the \(Self.countMax) characters that an app id can have")
    }
    let segments = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard segments.count > 1, let prefix = segments.first, prefix.count == Self.prefixCount,
      prefix.allSatisfy({ ASCII.isUpper($0) || ASCII.isDigit($0) })
    else {
      throw NameFault(
        "is not an app id, such as ABCDE12345.com.example.app (the ten capital letters and digits of the "
          + "team or app id prefix, a dot, and the bundle id)")
    }
    guard segments.dropFirst().allSatisfy(Self.isSegment) else {
      throw NameFault("has no usable bundle id after its prefix, such as com.example.app")
    }
    self.text = text
  }

  private static func isSegment(_ bytes: Substring.UTF8View) -> Bool {
    !bytes.isEmpty && bytes.allSatisfy { ASCII.isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
  }
}
