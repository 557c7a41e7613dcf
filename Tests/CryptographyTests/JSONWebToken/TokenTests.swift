// Which tokens are accepted and which are refused.

import Formats
import TestSupport
import Testing

@testable import Cryptography

/// Keys are expensive to create, so all tests share them.
enum Issuers {
  static let rsa = Result { try TokenIssuer(.rsa, keyID: "r") }
  static let p256 = Result { try TokenIssuer(.p256, keyID: "e") }
  static let secret = Result { try TokenIssuer(.secret, keyID: "s") }

  static func all() throws -> [TokenIssuer] { [try rsa.get(), try p256.get(), try secret.get()] }
}

@Suite("Tokens") struct TokenTests {
  private static let now: Int64 = 1_790_000_000
  private let rules = TokenRules(issuer: "https://id.example.com/", audiences: ["relay", "other"])
  private let claims: JSONValue = [
    "iss": "https://id.example.com/", "aud": "relay", "sub": "u-1", "exp": .integer(now + 600),
    "iat": .integer(now),
  ]

  private func with(_ name: String, _ value: JSONValue?) -> JSONValue {
    guard case .object(let members) = claims else { return claims }
    let others = members.filter { $0.name != name }
    return .object(others + (value.map { [JSONValue.Member(name: name, value: $0)] } ?? []))
  }

  private func outcome(
    _ token: String, _ keys: KeySet, _ rules: TokenRules? = nil, now: Int64 = now
  ) -> String {
    do throws(TokenRefusal) {
      return try (rules ?? self.rules).user(
        of: try SignedToken(parsing: Array(token.utf8)), keys: keys, now: .seconds(now))
    } catch {
      return error.rawValue
    }
  }

  @Test("An e-mail address is known only if its issuer has verified it, and no value makes a token invalid")
  func email() throws {
    let issuer = try Issuers.p256.get()
    let keys = try allKeys()
    func email(_ address: JSONValue?, _ isVerified: JSONValue?) throws -> String? {
      let more = [("email", address), ("email_verified", isVerified)].compactMap { name, value in
        value.map { JSONValue.Member(name: name, value: $0) }
      }
      guard case .object(let members) = claims else { return nil }
      let token = try SignedToken(parsing: Array(issuer.token(.object(members + more)).utf8))
      let identity = try rules.identity(of: token, keys: keys, now: .seconds(Self.now))
      #expect(identity.user == "u-1")
      return identity.email
    }
    #expect(try email("jane@example.com", true) == "jane@example.com")
    let unverified: [JSONValue?] = [nil, false, .null, "true", 1, "false"]
    for value in unverified { #expect(try email("jane@example.com", value) == nil) }
    let invalid: [JSONValue?] = [
      nil, .null, 5, "", "jane", "@example.com", "jane@", "a@b@c", "jane doe@example.com",
      "jane@example.com\n",
      ["jane@example.com"],
    ]
    for address in invalid { #expect(try email(address, true) == nil) }
  }

  private func allKeys() throws -> KeySet {
    try KeySet(reading: Array(TokenIssuer.keySet(try Issuers.all()).utf8))
  }

  @Test("A token of each kind of key names its user, with keys as a set, as one JWK and as PEM")
  func kinds() throws {
    let keys = try allKeys()
    #expect(keys.keys.map(\.algorithm) == [.rs256, .es256, .hs256])
    #expect(keys.flaws.isEmpty)
    for issuer in try Issuers.all() {
      let token = try issuer.token(claims)
      #expect(outcome(token, keys) == "u-1")
      #expect(outcome(token, try KeySet(reading: Array(try issuer.jwk().text.utf8))) == "u-1")
      if issuer.type != .secret {
        #expect(outcome(token, try KeySet(reading: Array(try issuer.pem().utf8))) == "u-1")
      }
    }
    let both = try Issuers.rsa.get().pem() + "some words\r\n" + Issuers.p256.get().pem()
    #expect(outcome(try Issuers.p256.get().token(claims), try KeySet(reading: Array(both.utf8))) == "u-1")
  }

  @Test func `Each invalid claim has its own reason, and a clock may be a minute off`() throws {
    let (now, keys, issuer) = (Self.now, try allKeys(), try Issuers.secret.get())
    let cases: [(String, JSONValue?, String)] = [
      ("iss", nil, "issuer"), ("iss", "https://id.example.com", "issuer"), ("iss", 7, "issuer"),
      ("aud", nil, "audience"), ("aud", "Relay", "audience"), ("aud", ["a", 1], "audience"),
      ("aud", [], "audience"), ("aud", ["a", "other"], "u-1"), ("aud", ["relay": true], "audience"),
      ("exp", nil, "no_expiry"), ("exp", .integer(now - 60), "expired"), ("exp", .integer(now - 59), "u-1"),
      ("exp", .number(Double(now) - 59.5), "u-1"), ("exp", 0, "expired"), ("exp", -1, "malformed"),
      ("exp", "1900000000", "malformed"), ("exp", .number(1e300), "malformed"), ("exp", .null, "malformed"),
      ("exp", .integer(.max), "malformed"), ("exp", true, "malformed"),
      ("nbf", .integer(now + 60), "u-1"), ("nbf", .integer(now + 61), "not_yet_valid"),
      ("nbf", "soon", "malformed"), ("iat", .integer(now + 61), "not_yet_valid"),
      ("iat", .number(Double(now) + 60.5), "not_yet_valid"), ("iat", nil, "u-1"),
      ("sub", nil, "user"), ("sub", "", "user"), ("sub", 1, "user"), ("sub", "a\u{7}b", "user"),
      ("sub", .string(String(repeating: "x", count: 256)), "user"), ("sub", "ü 1", "ü 1"),
      ("sub", ["u-1"], "user"),
    ]
    for (name, value, expected) in cases {
      let token = try issuer.token(with(name, value))
      #expect(outcome(token, keys) == expected, "\(name): \(value?.text ?? "none")")
    }
    let huge = try issuer.token(claims: claims.text.replacing("\"exp\":", with: "\"exp\":1e999,\"e\":"))
    #expect(outcome(huge, keys) == "malformed")
    for now in [Int64.min, -1, .max] {
      #expect(["expired", "not_yet_valid"].contains(outcome(try issuer.token(claims), keys, now: now)))
    }
  }

  @Test func `Another claim may name the user, by any claim name`() throws {
    var rules = rules
    rules.userClaim = "https://example.com/claims.uid"
    let token = try Issuers.p256.get().token(with(rules.userClaim, "u-2"))
    #expect(outcome(token, try allKeys(), rules) == "u-2")
    #expect(outcome(try Issuers.p256.get().token(claims), try allKeys(), rules) == "user")
  }

  @Test("`none` is refused in any case, with a signature and without")
  func none() throws {
    let issuer = try Issuers.rsa.get()
    for name in ["none", "None", "NONE", "nOnE", "", "rs256", "RS256 ", "RS512", "PS256", "HS384", "EdDSA"] {
      let header = #"{"alg":"\#(name)","kid":"r"}"#
      let token = try issuer.token(claims.text.isEmpty ? [:] : claims, header: header)
      let parts = token.split(separator: ".")
      #expect(outcome(token, try allKeys()) == "algorithm", "\(name)")
      #expect(outcome("\(parts[0]).\(parts[1]).", try allKeys()) == "algorithm", "\(name)")
      #expect(outcome("\(parts[0]).\(parts[1])", try allKeys()) == "malformed")
    }
  }

  @Test func `A public key is never the secret of an HMAC: the key's type decides (RFC 8725 §2.1)`() throws {
    for issuer in [try Issuers.rsa.get(), try Issuers.p256.get()] {
      let pem = try issuer.pem()
      let keys = [
        try KeySet(reading: Array(pem.utf8)), try KeySet(reading: Array(try issuer.jwk().text.utf8)),
        try allKeys(),
      ]
      for secret in [pem, String(pem.dropLast()), try issuer.jwk().text] {
        let forger = try TokenIssuer(.secret, keyID: issuer.keyID, secret: Array(secret.utf8))
        for keys in keys {
          #expect(["algorithm", "unknown_key"].contains(outcome(try forger.token(claims), keys)))
        }
        // Also under the name of the key's own algorithm.
        let header = #"{"alg":"\#(issuer.type.rawValue)","kid":"\#(issuer.keyID ?? "")"}"#
        for keys in keys { #expect(outcome(try forger.token(claims, header: header), keys) == "signature") }
      }
    }
    // A token that contains its own key, or says where to get it (RFC 8725 §3.10).
    let stranger = try TokenIssuer(.p256, keyID: "x")
    for member in [
      #""jwk":\#(try stranger.jwk().text)"#, #""jku":"http://127.0.0.1/""#, #""x5u":"file:///""#,
    ] {
      let own = try stranger.token(claims, header: #"{"alg":"ES256","kid":"x",\#(member)}"#)
      #expect(outcome(own, try allKeys()) == "unknown_key")
      let known = try stranger.token(claims, header: #"{"alg":"ES256","kid":"e",\#(member)}"#)
      #expect(outcome(known, try allKeys()) == "signature")
    }
    // A signature with the id of another key.
    let swapped = try Issuers.rsa.get().token(claims, header: #"{"alg":"RS256","kid":"e"}"#)
    #expect(outcome(swapped, try allKeys()) == "algorithm")
  }

  @Test func `Only algorithms that are configured count`() throws {
    for issuer in try Issuers.all() {
      for algorithm in TokenAlgorithm.allCases {
        var rules = rules
        rules.algorithms = [algorithm]
        let expected = algorithm.rawValue == issuer.type.rawValue ? "u-1" : "algorithm"
        #expect(outcome(try issuer.token(claims), try allKeys(), rules) == expected)
      }
    }
  }

  @Test func `A key is found by its kid; without one a few keys of the type are tried`() throws {
    let (keys, issuer) = (try allKeys(), try Issuers.p256.get())
    #expect(outcome(try issuer.token(claims, header: #"{"alg":"ES256"}"#), keys) == "u-1")
    #expect(outcome(try issuer.token(claims, header: #"{"alg":"ES256","kid":"new"}"#), keys) == "unknown_key")
    #expect(outcome(try issuer.token(claims, header: #"{"alg":"ES256","kid":7}"#), keys) == "malformed")
    let other = try TokenIssuer(.p256, keyID: "e")
    #expect(outcome(try other.token(claims), keys) == "signature")
    #expect(outcome(try other.token(claims, header: #"{"alg":"ES256"}"#), keys) == "signature")
    let many = JSONValue.object([
      .init(name: "keys", value: .array(Array(repeating: try other.jwk(), count: 99) + [try issuer.jwk()]))
    ])
    let crowd = try KeySet(reading: Array(many.text.utf8))
    let token = try SignedToken(parsing: Array(try issuer.token(claims, header: #"{"alg":"ES256"}"#).utf8))
    #expect(crowd.candidates(token, .es256).count == KeySet.candidatesMax)
  }

  @Test func `Text that is not exactly a token in compact form is refused`() throws {
    let keys = try allKeys()
    let token = try Issuers.secret.get().token(claims)
    let parts = token.split(separator: ".").map(String.init)
    let bad = [
      "", ".", "..", "...", "a.b.c", token + ".", "." + token, token + ".x", token + "=", " " + token,
      token + "\n", "\(parts[0]).\(parts[1])", "\(parts[0])=.\(parts[1]).\(parts[2])",
      "\(parts[0])..\(parts[2])", token.replacing("-", with: "+").replacing("_", with: "/") + "+",
      String(repeating: "a", count: 9000),
    ]
    for text in bad {
      #expect(outcome(text, keys) == "malformed", "\(text.prefix(40))")
    }
    let headers = [
      "", "[]", "null", "{}", #"{"alg":7}"#, #"{"alg":"HS256","crit":["b64"],"b64":false}"#,
      #"{"alg":"HS256","alg":"HS256"}"#, #"{"alg":"HS256","\u0061lg":"none"}"#,
      #"{"alg":"HS256","kid":"\#(String(repeating: "k", count: 257))"}"#,
    ]
    for header in headers {
      let token = try Issuers.secret.get().token(claims, header: header)
      #expect(outcome(token, keys) == "malformed", "\(header.prefix(60))")
    }
    for text in [#"{"sub":"a","sub":"b"}"#, "[]", "{", "", "\"text\""] {
      let token = try Issuers.secret.get().token(claims: text)
      #expect(outcome(token, keys) == "malformed", "\(text)")
    }
  }

  @Test func `A refusal fits into a header, and reflects nothing of the token`() {
    for refusal in TokenRefusal.allCases {
      #expect(refusal.words.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C })
      #expect(refusal.rawValue.utf8.allSatisfy { $0 == UInt8(ascii: "_") || ($0 > 0x60 && $0 < 0x7B) })
    }
  }
}
