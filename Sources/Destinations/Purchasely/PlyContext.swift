// `ply_context`: what the Purchasely SDK hands to the app before a web checkout. Base64 of what usually is a
// small JSON object. The relay keeps and forwards it exactly as it came and reads one field of it. Pure; any
// thread.

public import Domain
internal import FoundationEssentials

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

  private struct Fields: Decodable {
    let priceID: String?

    private enum Key: String, CodingKey { case stripe_price_id }

    init(from decoder: any Decoder) throws {
      // A price of another type is no reason to lose the context.
      priceID = try? decoder.container(keyedBy: Key.self).decode(String.self, forKey: .stripe_price_id)
    }
  }

  /// Checks a blob and reads the price it names. What decodes to something else than JSON stays opaque.
  /// - Parameter text: base64 in the standard or the URL-safe alphabet (RFC 4648 §4, §5), padded or not.
  public static func read(_ text: String) throws(Fault) -> ContextBlob {
    guard !text.isEmpty else { throw .empty }
    guard text.utf8.count <= encodedBytesMax else { throw .tooLong }
    guard let decoded = data(of: text), !decoded.isEmpty else { throw .notBase64 }
    guard decoded.count <= decodedBytesMax else { throw .tooLong }
    // Opaque blobs are allowed, so what cannot be read simply names no price.
    let fields = try? JSONDecoder().decode(Fields.self, from: decoded)
    return ContextBlob(text: text, priceID: OutsideText.identifier(fields?.priceID))
  }

  /// What a blob says, for people; nil when it is no base64.
  public static func bytes(of text: String) -> [UInt8]? { data(of: text).map(Array.init) }

  /// Checks every character itself: `Data(base64Encoded:)` takes padding in the middle of a text.
  private static func data(of text: String) -> Data? {
    let paddingCount = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    var standard: [UInt8] = []
    standard.reserveCapacity(text.utf8.count + 2)
    for byte in text.utf8.dropLast(paddingCount) {
      switch byte {
      case UInt8(ascii: "-"): standard.append(UInt8(ascii: "+"))
      case UInt8(ascii: "_"): standard.append(UInt8(ascii: "/"))
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
        standard.append(byte)
      default: return nil
      }
    }
    // Padding completes the last group or is left out; one character alone cannot carry a byte.
    let missing = (4 - standard.count % 4) % 4
    guard missing < 3, paddingCount == 0 || paddingCount == missing else { return nil }
    standard.append(contentsOf: repeatElement(UInt8(ascii: "="), count: missing))
    return Data(base64Encoded: Data(standard))
  }
}
