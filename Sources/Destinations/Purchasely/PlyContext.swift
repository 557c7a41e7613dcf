// `ply_context`: what the Purchasely SDK hands to the app before a web checkout. Base64 of what usually is a
// small JSON object. The relay keeps and forwards it exactly as it came and reads one field of it. Pure; any
// thread.

public import Domain
internal import JSON

/// The rules of a `ply_context` blob (Purchasely: Implementing web payment for US customers).
public enum PlyContext {
  public static let decodedBytesMax = 16 * 1024
  /// Base64 makes four characters of three bytes.
  static let encodedBytesMax = (decodedBytesMax + 2) / 3 * 4

  /// Why a text is no `ply_context`.
  public enum Fault: Error, Sendable, Equatable {
    case empty
    case notBase64
    case tooLong
  }

  /// Checks a blob and reads the price it names. What decodes to something else than JSON stays opaque.
  /// - Parameter text: base64 in the standard or the URL-safe alphabet (RFC 4648 §4, §5), padded or not.
  public static func read(_ text: String) throws(Fault) -> ContextBlob {
    guard !text.isEmpty else { throw .empty }
    guard text.utf8.count <= encodedBytesMax else { throw .tooLong }
    guard let decoded = decoded(text), !decoded.isEmpty else { throw .notBase64 }
    guard decoded.count <= decodedBytesMax else { throw .tooLong }
    // Opaque blobs are allowed, so what cannot be read simply names no price.
    let price = JSONDocument.read(decoded) { $0.member("stripe_price_id")?.string }
    return ContextBlob(text: text, priceID: OutsideText.identifier(price ?? nil))
  }

  /// What a blob says, for people; nil when it is no base64.
  public static func bytes(of text: String) -> [UInt8]? { decoded(text) }

  /// - Returns: nil when it is no base64 of either alphabet. What a last character says beyond the last byte
  ///   is not looked at.
  private static func decoded(_ text: String) -> [UInt8]? {
    let characters = text.utf8.span
    var count = characters.count
    while count > 0, characters[count - 1] == UInt8(ascii: "=") { count -= 1 }
    let paddingCount = characters.count - count
    // Padding completes the last group or is left out; one character alone cannot carry a byte.
    let missing = (4 - count % 4) % 4
    guard missing < 3, paddingCount == 0 || paddingCount == missing else { return nil }
    let values = sextets.span
    // What is of no alphabet has a bit that no value has.
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

  /// What each character stands for in either alphabet; 64 where it is of none.
  private static let sextets: [UInt8] = {
    var sextets = [UInt8](repeating: 64, count: 256)
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for (value, character) in alphabet.utf8.enumerated() { sextets[Int(character)] = UInt8(value) }
    sextets[Int(UInt8(ascii: "-"))] = 62
    sextets[Int(UInt8(ascii: "_"))] = 63
    return sextets
  }()
}
