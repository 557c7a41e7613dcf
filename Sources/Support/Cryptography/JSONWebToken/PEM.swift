// Public keys in PEM (RFC 7468 §13), one or several in a text. Total; pure; thread-safe.

internal import Formats

/// Parses PEM.
enum PEM {
  private static let dashes = "-----"
  private static let begin = "-----BEGIN "
  private static let end = "-----END "
  private static let label = "PUBLIC KEY"

  /// The keys of all blocks; nil when there is no block. Skips text around the blocks (RFC 7468 §2).
  static func keys(in bytes: [UInt8]) throws(KeySetFault) -> [KeyResult]? {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    var results: [KeyResult] = []
    var body: [UInt8]?
    // As scalars: CR LF is one character.
    for line in text.unicodeScalars.split(whereSeparator: { $0 == "\n" || $0 == "\r" }) {
      let line = String(line)
      if line.hasPrefix(begin) {
        guard body == nil else { throw .malformed }
        guard line == "\(begin)\(label)\(dashes)" else { throw .otherBlock }
        body = []
      } else if let content = body {
        guard line.hasPrefix(end) else {
          body = content + line.utf8.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
          continue
        }
        guard line == "\(end)\(label)\(dashes)" else { throw .malformed }
        results.append(key(content))
        guard results.count <= KeySet.keysMax else { throw .tooMany }
        body = nil
      }
    }
    guard body == nil else { throw .malformed }
    return results.isEmpty ? nil : results
  }

  private static func key(_ base64: [UInt8]) -> KeyResult {
    guard let der = Base64.decode(base64.span, .standard) else { return .failure(.malformed) }
    do throws(PublicKeyFault) {
      return .success(VerificationKey(try PublicKey(subjectPublicKeyInfo: der), keyID: nil))
    } catch {
      return .failure(KeyFlaw(error))
    }
  }
}
