// Tokens of users, and the key sets that verify them.

import Cryptography
import Formats

extension FuzzTarget {
  private static let secret = Array("a secret of more than 32 bytes, for tests".utf8)
  private static let keys = Result {
    try KeySet(reading: Array("{\"kty\":\"oct\",\"kid\":\"k\",\"k\":\"\(Base64.encodeURL(secret))\"}".utf8))
  }
  private static let now: Duration = .seconds(1_795_168_800)
  private static let rules = TokenRules(issuer: "https://id/", audiences: ["relay"])

  private static func outcome(_ token: [UInt8]) throws -> Result<String, TokenRefusal> {
    let keys = try keys.get()
    do throws(TokenRefusal) {
      return .success(try rules.user(of: try SignedToken(parsing: token), keys: keys, now: now))
    } catch {
      return .failure(error)
    }
  }

  /// A header up to a NUL, then claims, with a valid signature, which no mutation could produce; and the
  /// bytes as they are.
  static let token = FuzzTarget("token", bytesMax: 5000) { bytes in
    if case .success = try outcome(bytes) { throw FuzzFinding(description: "an unsigned token counts") }
    let (header, claims) = halves(bytes, at: 0)
    let message = Array("\(Base64.encodeURL(header)).\(Base64.encodeURL(claims))".utf8)
    let code = try HMACSHA256(key: secret).authenticationCode(for: message)
    let token = message + [UInt8(ascii: ".")] + Base64.encodeURL(code).utf8
    try hold(
      SignedToken.hasForm(token) || header.isEmpty || claims.isEmpty, "a token has not the form of one")
    guard case .success(let user) = try outcome(token) else { return }
    try hold(UntrustedText.identifier(user) == user, "its user cannot be one")
    // Unknown header members may have any value, even an unrepresentable one.
    let head = JSONReference.read(header)
    try hold(head?["alg"]?.value == "HS256" && head?["crit"] == nil, "its header says something else")
    try hold(JSONReference.read(claims)?["sub"]?.value == .string(user), "its user is another one")
    for index in [0, message.count / 2, token.count - 1] {
      var other = token
      other[index] = other[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      if case .success = try outcome(other) { throw FuzzFinding(description: "altered, it counts as well") }
    }
  }

  /// A key set stays within its limits, and a fetched one keeps no symmetric key.
  static let keySet = FuzzTarget("key-set", bytesMax: 20_000) { bytes in
    let set: KeySet
    do throws(KeySetFault) {
      set = try KeySet(reading: bytes)
    } catch {
      return try hold(!error.words.isEmpty, "a fault without words")
    }
    try hold(set.keys.count + set.flaws.count <= KeySet.keysMax, "more keys than may be")
    try hold(set.withoutSecrets.keys.allSatisfy { !$0.isSecret }, "a secret is left")
    try hold(set.keys.allSatisfy { ($0.algorithm == .hs256) == $0.isSecret }, "a key for another algorithm")
  }
}
