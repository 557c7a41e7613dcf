// Keys as JSON (RFC 7517, RFC 7518 §6). Other members, such as a private part, are ignored. Total; pure;
// thread-safe.

internal import Formats

/// A key, or why it cannot be used.
typealias KeyResult = Result<VerificationKey, KeyFlaw>

/// Parses a JWK Set or a JWK.
enum JWK {
  static func keys(in bytes: [UInt8]) throws(KeySetFault) -> [KeyResult] {
    let results = try JSONDocument.read(bytes) { root throws(KeySetFault) -> [KeyResult] in
      guard root.isStrictObject else { throw .malformed }
      guard let list = root.member("keys") else {
        guard root.member("kty") != nil else { throw .malformed }
        return [result(root)]
      }
      guard list.isArray else { throw .malformed }
      var results: [KeyResult] = []
      var areStrict = true
      list.forEachElement { element in
        areStrict = areStrict && element.isStrictObject
        // One more than the maximum is enough to refuse the set.
        if areStrict, results.count <= KeySet.keysMax { results.append(result(element)) }
      }
      guard areStrict else { throw .malformed }
      return results
    }
    guard let results else { throw .malformed }
    return results
  }

  private static func result(_ node: JSONNode) -> KeyResult {
    do throws(KeyFlaw) {
      return .success(try key(node))
    } catch {
      return .failure(error)
    }
  }

  private static func key(_ node: JSONNode) throws(KeyFlaw) -> VerificationKey {
    let keyID = try text("kid", of: node)
    if let keyID, keyID.utf8.count > SignedToken.keyIDBytesMax { throw .malformed }
    try checkUse(node)
    let key: VerificationKey
    switch try text("kty", of: node) {
    case "RSA": key = VerificationKey(try rsa(node), keyID: keyID)
    case "EC": key = VerificationKey(try p256(node), keyID: keyID)
    case "oct": key = try VerificationKey(secret: bytes("k", of: node), keyID: keyID)
    case nil: throw .malformed
    default: throw .unsupported
    }
    if let algorithm = try text("alg", of: node), algorithm != key.algorithm.rawValue { throw .otherUse }
    return key
  }

  /// RFC 7517 §4.2, §4.3.
  private static func checkUse(_ node: JSONNode) throws(KeyFlaw) {
    if let use = try text("use", of: node), use != "sig" { throw .otherUse }
    guard let operations = node.member("key_ops") else { return }
    guard operations.isArray else { throw .malformed }
    var mayVerify = false
    operations.forEachElement { if $0.isString("verify") { mayVerify = true } }
    guard mayVerify else { throw .otherUse }
  }

  private static func rsa(_ node: JSONNode) throws(KeyFlaw) -> PublicKey {
    let (modulus, exponent) = (try bytes("n", of: node), try bytes("e", of: node))
    do throws(PublicKeyFault) {
      return try PublicKey(rsaModulus: modulus, exponent: exponent)
    } catch {
      throw KeyFlaw(error)
    }
  }

  private static func p256(_ node: JSONNode) throws(KeyFlaw) -> PublicKey {
    guard try text("crv", of: node) == "P-256" else { throw .unsupported }
    let (x, y) = (try bytes("x", of: node), try bytes("y", of: node))
    do throws(PublicKeyFault) {
      return try PublicKey(p256X: x, y: y)
    } catch {
      throw KeyFlaw(error)
    }
  }

  /// Nil when the member is absent.
  private static func text(_ name: StaticString, of node: JSONNode) throws(KeyFlaw) -> String? {
    guard let member = node.member(name) else { return nil }
    guard let text = member.string else { throw .malformed }
    return text
  }

  private static func bytes(_ name: StaticString, of node: JSONNode) throws(KeyFlaw) -> [UInt8] {
    guard let text = try text(name, of: node), let bytes = Base64.decode(text.utf8.span, .url), !bytes.isEmpty
    else {
      throw .malformed
    }
    return bytes
  }
}

// MARK: - StrictObject

// Checks JSON objects strictly, so that two readers cannot disagree: a duplicate name makes the object
// invalid (RFC 7515 §4, RFC 7517 §4, RFC 7519 §4). Pure; thread-safe.

extension JSONNode {
  /// Whether it is an object without duplicate names, in which each name is valid Unicode.
  var isStrictObject: Bool {
    guard isObject else { return false }
    var names: Set<[UInt8]> = []
    var isStrict = true
    forEachMember { name, _ in
      guard let text = name.string else { return isStrict = false }
      // As bytes: Swift treats canonically equivalent names as equal.
      if !names.insert(Array(text.utf8)).inserted { isStrict = false }
    }
    return isStrict
  }
}
