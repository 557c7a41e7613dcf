// The hash that replaces an erased user's ids. It uses a key of this database: an id that comes again is
// recognized, but cannot be derived from the hash. Any thread.

internal import Cryptography
internal import Domain

struct ErasureHash {
  /// The stored length of a hash; a collision by chance is practically impossible.
  private static let tokenBytes = 16
  static let readingKeySQL = "SELECT key FROM erasure_key WHERE row_id = 1"

  private let code: HMACSHA256

  init(key: [UInt8]) throws(StoreFault) {
    do throws(CryptographyError) {
      code = try HMACSHA256(key: key)
    } catch {
      throw StoreFault(.outOfMemory, operation: "hash", reason: "out of memory")
    }
  }

  func bytes(of id: String, app: AppSlug) -> [UInt8] {
    // An app's name contains no NUL, so no two pairs hash the same bytes.
    code.authenticationCode(for: Array(app.text.utf8), [0], Array(id.utf8))
  }

  /// The text that is stored instead of an id.
  func token(_ id: String, app: AppSlug) -> String {
    Purchase.erasedPrefix + Self.text(bytes(of: id, app: app).prefix(Self.tokenBytes))
  }

  /// Lower-case hexadecimal digits.
  static func text(_ bytes: some Sequence<UInt8>) -> String { Hex.encode(Array(bytes)) }
}
