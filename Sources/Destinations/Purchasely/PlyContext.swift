// `ply_context`: the Purchasely SDK gives it to the app before a web checkout. It is Base64, usually of a
// small JSON object. The relay stores and forwards it unchanged and reads one field of it. Pure; any thread.

public import Domain
internal import JSON

/// The rules of a `ply_context` blob (Purchasely: Implementing web payment for US customers).
public enum PlyContext {
  public static let decodedBytesMax = 16 * 1024
  /// Base64 encodes three bytes as four characters.
  static let encodedBytesMax = (decodedBytesMax + 2) / 3 * 4

  /// Why a text is not a `ply_context`.
  public enum Fault: Error, Sendable, Equatable {
    case empty
    case notBase64
    case tooLong
  }

  /// Validates a blob and reads its price. A blob whose content is not JSON stays opaque.
  /// - Parameter text: base64 in the standard or the URL-safe alphabet (RFC 4648 §4, §5), padded or not.
  public static func read(_ text: String) throws(Fault) -> ContextBlob {
    guard !text.isEmpty else { throw .empty }
    guard text.utf8.count <= encodedBytesMax else { throw .tooLong }
    guard let decoded = decoded(text), !decoded.isEmpty else { throw .notBase64 }
    guard decoded.count <= decodedBytesMax else { throw .tooLong }
    // Opaque blobs are allowed, so an unreadable blob has no price.
    let price = JSONDocument.read(decoded) { $0.member("stripe_price_id")?.string }
    return ContextBlob(text: text, priceID: UntrustedText.identifier(price ?? nil))
  }

  /// The decoded content, for display; nil when the text is not base64.
  public static func bytes(of text: String) -> [UInt8]? { decoded(text) }

  /// - Returns: nil unless the text is base64 of one of the alphabets. Excess bits of the last character are
  ///   ignored.
  private static func decoded(_ text: String) -> [UInt8]? {
    let characters = text.utf8.span
    var count = characters.count
    while count > 0, characters[count - 1] == UInt8(ascii: "=") { count -= 1 }
    let paddingCount = characters.count - count
    // Padding completes the last group or is left out; a single character cannot encode a byte.
    let missing = (4 - count % 4) % 4
    guard missing < 3, paddingCount == 0 || paddingCount == missing else { return nil }
    let values = sextets.span
    // The value of an invalid character has a bit that no valid value has.
    var seen: UInt8 = 0
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count * 3 / 4 + 3)
    for start in stride(from: 0, to: count, by: 4) {
      var group: UInt32 = 0
      for index in start..<start + 4 {
        let value = index < count ? values[Int(characters[index])] : 0
        seen |= value
        group = group << 6 | UInt32(value & 63)
      }
      bytes.append(UInt8(truncatingIfNeeded: group >> 16))
      bytes.append(UInt8(truncatingIfNeeded: group >> 8))
      bytes.append(UInt8(truncatingIfNeeded: group))
    }
    bytes.removeLast(bytes.count - count * 3 / 4)
    return seen < 64 ? bytes : nil
  }

  /// The value of each character in either alphabet; 64 for an invalid character.
  private static let sextets: [UInt8] = {
    var sextets = [UInt8](repeating: 64, count: 256)
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for (value, character) in alphabet.utf8.enumerated() { sextets[Int(character)] = UInt8(value) }
    sextets[Int(UInt8(ascii: "-"))] = 62
    sextets[Int(UInt8(ascii: "_"))] = 63
    return sextets
  }()
}
