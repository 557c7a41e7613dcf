// `ply_context`: the Purchasely SDK gives it to the app before a web checkout. It is Base64, usually of a
// small JSON object. The relay stores and forwards it unchanged and reads one field of it. Pure; any thread.

public import Domain
internal import Formats

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
    guard let decoded = bytes(of: text), !decoded.isEmpty else { throw .notBase64 }
    guard decoded.count <= decodedBytesMax else { throw .tooLong }
    // Opaque blobs are allowed, so an unreadable blob has no price.
    let price = JSONDocument.read(decoded) { $0.member("stripe_price_id")?.string }
    return ContextBlob(text: text, priceID: UntrustedText.identifier(price ?? nil).map(PriceID.init))
  }

  /// The decoded content, for display; nil when the text is not base64.
  public static func bytes(of text: String) -> [UInt8]? {
    Base64.decode(text.utf8.span, .lenient)
  }
}
