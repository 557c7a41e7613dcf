// Made-up ids in the forms of the simulated services. Pure.

internal import Cryptography

enum SandboxIDs {
  private static let alphabet = Array("0123456789abcdefghijklmnopqrstuvwxyz".utf8)

  /// A version 4 UUID (RFC 9562 §5.4) in lower case.
  static func uuid(_ random: inout some RandomNumberGenerator) -> String {
    var bytes = bytes(16, &random)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = Array(Hex.encode(bytes).utf8)
    let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
    return parts.map { String(decoding: digits[$0], as: UTF8.self) }.joined(separator: "-")
  }

  /// Letters in lower case and digits.
  static func word(_ length: Int, _ random: inout some RandomNumberGenerator) -> String {
    let letters = (0..<length).map { _ in alphabet[Int.random(in: alphabet.indices, using: &random)] }
    return String(decoding: letters, as: UTF8.self)
  }

  static func bytes(_ count: Int, _ random: inout some RandomNumberGenerator) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
  }
}
