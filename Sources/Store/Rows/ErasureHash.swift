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

  func bytes(of id: String, app: AppSlug) -> [UInt8] { bytes(of: id, in: app.text) }

  /// - Parameter scope: an app's name, or a text that is none. It contains no NUL, so no two pairs hash the
  ///   same bytes.
  private func bytes(of id: String, in scope: String) -> [UInt8] {
    code.authenticationCode(for: Array(scope.utf8), [0], Array(id.utf8))
  }

  /// The text that is stored instead of an id.
  func token(_ id: String, app: AppSlug) -> String { token(id, in: app.text) }

  /// The text that is stored instead of an id that several apps share.
  func token(_ id: String, in scope: String) -> String {
    Purchase.erasedPrefix + Self.text(bytes(of: id, in: scope).prefix(Self.tokenBytes))
  }

  /// Lower-case hexadecimal digits.
  static func text(_ bytes: some Sequence<UInt8>) -> String { Hex.encode(Array(bytes)) }
}
