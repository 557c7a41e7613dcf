// A token issuer for tests. The `openssl` program makes its keys and signatures, so the relay's own code does
// not verify itself. The issuer owns a directory with its keys and deletes it. One thread.

import Cryptography
public import Formats
import Glibc

/// One signing key, and tokens signed with it.
public final class TokenIssuer: @unchecked Sendable {
  public enum KeyType: String, Sendable, CaseIterable {
    case rsa = "RS256"
    case p256 = "ES256"
    case secret = "HS256"
  }

  /// A command of `openssl` that failed.
  struct Failure: Error { let output: String }

  public let type: KeyType
  public let keyID: String?
  /// The secret of a key of the type `secret`.
  public let secret: [UInt8]
  private let directory: String
  private var keyFile: String { directory + "/key.pem" }

  /// - Parameter rsaBits: a small number, for a key that must be refused.
  public init(
    _ type: KeyType, keyID: String? = "k1", rsaBits: Int = 2048, curve: String = "prime256v1",
    secret: [UInt8] = Array("a secret of more than 32 bytes, for tests".utf8)
  ) throws {
    self.type = type
    self.keyID = keyID
    self.secret = secret
    directory = try Self.run("mktemp -d")
    switch type {
    case .rsa: try Self.run("openssl genrsa -traditional -out \(directory)/key.pem \(rsaBits) 2>/dev/null")
    case .p256: try Self.run("openssl ecparam -name \(curve) -genkey -noout -out \(directory)/key.pem")
    case .secret: break
    }
  }

  deinit { _ = try? Self.run("rm -r \(directory)") /* what is left is in the temporary directory */ }

  @discardableResult private static func run(_ command: String) throws -> String {
    let run = try ShellRun(["sh", "-c", command])
    guard run.code == 0 else { throw Failure(output: run.output) }
    return String(run.output.prefix { $0 != "\n" })
  }

  /// The public key as PEM.
  public func pem() throws -> String {
    try ShellRun(["openssl", "pkey", "-in", keyFile, "-pubout"]).output
  }

  /// The key as a JWK.
  public func jwk(_ more: [JSONValue.Member] = []) throws -> JSONValue {
    var members: [JSONValue.Member]
    switch type {
    case .secret:
      members = [
        .init(name: "kty", value: "oct"), .init(name: "k", value: .string(Base64.encodeURL(secret))),
      ]
    case .rsa:
      let digits = try Self.run("openssl rsa -in \(keyFile) -noout -modulus").dropFirst("Modulus=".count)
      let modulus = Hex.decodeLowercase(digits.lowercased()) ?? []
      members = [
        .init(name: "kty", value: "RSA"), .init(name: "n", value: .string(Base64.encodeURL(modulus))),
        .init(name: "e", value: "AQAB"),
      ]
    case .p256:
      let der = try Self.run("openssl pkey -in \(keyFile) -pubout -outform DER | base64 -w0")
      let point = (Base64.decode(der.utf8.span, .standard) ?? []).suffix(64)
      members = [
        .init(name: "kty", value: "EC"), .init(name: "crv", value: "P-256"),
        .init(name: "x", value: .string(Base64.encodeURL(Array(point.prefix(32))))),
        .init(name: "y", value: .string(Base64.encodeURL(Array(point.suffix(32))))),
      ]
    }
    if let keyID { members.append(.init(name: "kid", value: .string(keyID))) }
    return .object(members + more)
  }

  /// A JWK Set with the keys of these issuers.
  public static func keySet(_ issuers: [TokenIssuer]) throws -> String {
    let set: JSONValue = ["keys": .array(try issuers.map { try $0.jwk() })]
    return set.text
  }

  /// A token with these claims.
  /// - Parameter header: replaces the default header.
  public func token(_ claims: JSONValue, header: String? = nil) throws -> String {
    try token(claims: claims.text, header: header)
  }

  /// A token with these claims as JSON text.
  public func token(claims: String, header: String? = nil) throws -> String {
    var usual: [JSONValue.Member] = [
      .init(name: "alg", value: .string(type.rawValue)), .init(name: "typ", value: "JWT"),
    ]
    if let keyID { usual.append(.init(name: "kid", value: .string(keyID))) }
    let head = header ?? JSONValue.object(usual).text
    let message = Base64.encodeURL(Array(head.utf8)) + "." + Base64.encodeURL(Array(claims.utf8))
    return message + "." + Base64.encodeURL(try signature(of: Array(message.utf8)))
  }

  /// Signs a message, in the format of the key's algorithm (RFC 7518 §3).
  public func signature(of message: [UInt8]) throws -> [UInt8] {
    if type == .secret { return try HMACSHA256(key: secret).authenticationCode(for: message) }
    let text = String(decoding: message, as: UTF8.self)
    let base64 = try Self.run(
      "printf %s '\(text)' | openssl dgst -sha256 -sign \(keyFile) -binary | base64 -w0")
    let bytes = Base64.decode(base64.utf8.span, .standard) ?? []
    return type == .rsa ? bytes : Self.rawSignature(bytes)
  }

  /// r and s of a DER signature, 32 bytes each.
  private static func rawSignature(_ der: [UInt8]) -> [UInt8] {
    var rest = der.dropFirst(2)
    var raw: [UInt8] = []
    for _ in 0..<2 {
      let length = Int(rest.dropFirst().first ?? 0)
      let number = rest.dropFirst(2).prefix(length).drop { $0 == 0 }
      raw += [UInt8](repeating: 0, count: max(0, 32 - number.count)) + number
      rest = rest.dropFirst(2 + length)
    }
    return raw
  }
}
