// The fingerprint of an Android app's signing certificate. A value; thread-safe.

/// The SHA-256 of a signing certificate: 32 bytes.
///
/// Tools print it in several formats: keytool in upper case with colons, apksigner in lower case without
/// colons. assetlinks.json accepts only `AA:BB:…` (developers.google.com, "Digital Asset Links", statement
/// list syntax), and Android rejects other formats without an error message.
public struct CertificateFingerprint: Sendable, Hashable, CustomStringConvertible {
  /// Bytes of a SHA-256.
  public static let byteCount = 32

  /// Android's format: 32 pairs of upper-case hexadecimal digits, separated by colons.
  public let text: String

  public var description: String { text }

  /// Parses pairs of hexadecimal digits in either case, with or without colons or blanks between them.
  /// - Throws: `NameFault` for any other text, or when there are not exactly 32 bytes.
  public init(_ text: String) throws(NameFault) {
    var pairs: [String] = []
    var high: UInt8?
    for byte in text.utf8 {
      if let digit = HexDigit.value(byte) {
        if let first = high {
          pairs.append(Self.pair(first << 4 | digit))
          high = nil
        } else {
          high = digit
        }
      } else if high != nil || !":\t ".utf8.contains(byte) {
        throw NameFault("is not a fingerprint: \(Self.shape)")
      }
      guard pairs.count <= Self.byteCount else { break }
    }
    guard pairs.count == Self.byteCount, high == nil else {
      throw NameFault(Self.wrongCount(pairs.count, isHalf: high != nil))
    }
    self.text = pairs.joined(separator: ":")
  }

  private static let shape =
    "it must be the \(byteCount) bytes of the certificate's SHA-256 in hexadecimal, AA:BB:…"

  private static func wrongCount(_ count: Int, isHalf: Bool) -> String {
    if count == 20, !isHalf { return "is a SHA-1, of 20 bytes; \(shape)" }
    if count > byteCount { return "has more than \(byteCount) bytes; \(shape)" }
    return "has \(count)\(isHalf ? " and a half" : "") bytes; \(shape)"
  }

  private static func pair(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return digits.utf8.count == 2 ? digits : "0" + digits
  }
}
