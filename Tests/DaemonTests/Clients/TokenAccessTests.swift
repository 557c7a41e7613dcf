// Authorization of posted contexts, over real connections.

import Cryptography
import Domain
import Formats
import Platform
import Store
import TestSupport
import Testing

@testable import Config
@testable import HTTPServer
@testable import Service

@Suite("Access by token") struct TokenAccessTests {
  static let issuer = Result { try TokenIssuer(.p256) }

  static func claims(_ user: String, _ more: [JSONValue.Member] = []) -> JSONValue {
    let now = SystemClock().wallMilliseconds / 1000
    return .object(
      [
        .init(name: "iss", value: "https://id/"), .init(name: "aud", value: "relay"),
        .init(name: "sub", value: .string(user)), .init(name: "exp", value: .integer(now + 600)),
      ].filter { member in !more.contains { $0.name == member.name } } + more)
  }

  static func token(_ user: String) throws -> String { try issuer.get().token(claims(user)) }

  static func client(keys: [String] = [], _ source: AppConfiguration.Tokens.Keys)
    -> AppConfiguration.ClientAccess
  {
    .restricted(
      keys: keys.map { Secret($0) },
      tokens: .init(rules: TokenRules(issuer: "https://id/", audiences: ["relay"]), keys: source))
  }

  /// A relay whose apps accept tokens: `shop` only tokens, `both` also keys.
  private final class Bed {
    let bench: Bench
    let server: Server

    init() throws {
      let keys = AppConfiguration.Tokens.Keys.given(Secret(try TokenAccessTests.issuer.get().jwk().text))
      bench = try Bench([
        Bench.app(client: TokenAccessTests.client(keys)),
        Bench.app("both", client: TokenAccessTests.client(keys: ["a.key.too"], keys)),
      ])
      server = try bench.serve()
    }

    deinit { server.stop(grace: .seconds(5)) }

    func post(
      _ bearer: String?, user: String? = nil, app: String = "shop", path: String? = nil, _ more: String = ""
    ) throws -> RawClient.Reply {
      let client = try RawClient(port: server.port)
      let named = user.map { #","user_id":"\#($0)""# } ?? ""
      let target = path.map { "users/\($0)/contexts" } ?? "contexts"
      let fields = (bearer.map { "Authorization: Bearer \($0)\r\n" } ?? "") + more
      try client.post("/v1/\(app)/\(target)", #"{"ply_context":"YQ=="\#(named)}"#, fields)
      return try client.reply()
    }
  }

  private func problem(_ reply: RawClient.Reply) throws -> JSONValue { try JSONValue(parsing: reply.body) }

  @Test func `The token's user is used, and the request may name the same user`() throws {
    let bed = try Bed()
    let token = try Self.token("u-1")
    for reply in [
      try bed.post(token), try bed.post(token, user: "u-1"), try bed.post(token, path: "u-1"),
      try bed.post(token, "X-User-Id: u-1\r\n"), try bed.post(token, app: "both"),
    ] {
      #expect([200, 201].contains(reply.status))
      #expect(try problem(reply)["user_id"] == "u-1")
    }
    let all = try bed.bench.reader.contexts(ContextFilter(), now: bed.bench.now, limit: 10)
    #expect(all.map(\.userID) == ["u-1", "u-1"])
  }

  @Test func `A request that names another user in any place is 403, and nothing is stored`() throws {
    let bed = try Bed()
    let token = try Self.token("u-1")
    for reply in [
      try bed.post(token, user: "u-2"), try bed.post(token, path: "U-1"),
      try bed.post(token, "X-User-Id: x\r\n"),
    ] {
      #expect(reply.status == 403)
      #expect(try problem(reply)["type"] == "urn:receiptd:problem:wrong-user")
    }
    #expect(try bed.post(token, user: "u-1", path: "u-2").status == 400)
    #expect(try bed.bench.reader.contexts(ContextFilter(), now: bed.bench.now, limit: 10).isEmpty)
    let metrics = bed.bench.metricsText
    #expect(metrics.contains(#"receiptd_client_refusals_total{app="shop",reason="wrong_user"} 3"#))
  }

  @Test("A refusal says what is wrong with the token, also in the header, and reflects nothing of it")
  func refusals() throws {
    let bed = try Bed()
    let (issuer, token) = (try Self.issuer.get(), try Self.token("u-1"))
    let parts = token.split(separator: ".")
    func with(_ name: String, _ value: JSONValue) throws -> String {
      try issuer.token(Self.claims("u-1", [.init(name: name, value: value)]))
    }
    let cases: [(String, String)] = [
      ("rubbish", "malformed"), (token + "x", "malformed"),
      ("\(parts[0]).\(parts[1]).\(String(repeating: "A", count: 86))", "signature"),
      (try issuer.token(Self.claims("u-1"), header: #"{"alg":"none"}"#), "algorithm"),
      (try issuer.token(Self.claims("u-1"), header: #"{"alg":"ES256","kid":"k2"}"#), "unknown_key"),
      (try with("exp", 1), "expired"), (try with("nbf", 4_000_000_000), "not_yet_valid"),
      (try with("aud", "other"), "audience"), (try with("iss", "other"), "issuer"),
      (try with("sub", ""), "user"),
    ]
    for (token, reason) in cases {
      let reply = try bed.post(token, user: "u-1")
      let problem = try problem(reply)
      #expect(reply.status == 401)
      #expect(problem["reason"] == .string(reason))
      #expect(problem["type"] == "urn:receiptd:problem:invalid-token")
      let words = try #require(TokenRefusal(rawValue: reason)?.words)
      #expect(
        reply.header("WWW-Authenticate")
          == "Bearer error=\"invalid_token\", error_description=\"\(words)\"")
      #expect(!String(decoding: reply.body, as: UTF8.self).contains(token))
    }
    let none = try bed.post(nil)
    #expect(none.status == 401)
    #expect(none.header("WWW-Authenticate") == "Bearer")
    #expect(try problem(none)["type"] == "urn:receiptd:problem:unauthorized")
    #expect(!bed.bench.logText.contains(String(parts[1])))
  }

  @Test("Beside a token, a key of the app lets post for anyone, also one that looks like a token")
  func keysBesideTokens() throws {
    let bed = try Bed()
    #expect(try bed.post("a.key.too", user: "u-9", app: "both").status == 201)
    #expect(try bed.post(nil, user: "u-8", app: "both", "X-API-KEY: a.key.too\r\n").status == 201)
    #expect(try problem(try bed.post("a-key", app: "both"))["type"] == "urn:receiptd:problem:unauthorized")
    #expect(try problem(try bed.post("a.key.t", app: "both"))["reason"] == "malformed")
    #expect(try bed.post(nil, user: "u-1", "X-API-KEY: \(try Self.token("u-1"))\r\n").status == 401)
  }

  @Test("The state of a checkout is its app's and, with a token, its user's: all others get 404 (PL25)")
  func status() throws {
    let bed = try Bed()
    let reply = try bed.post(try Self.token("u-1"))
    let id = try #require(try problem(reply)["context_id"]?.stringValue)
    func ask(_ id: String, app: String = "shop", token: String? = nil) throws -> Int {
      let client = try RawClient(port: bed.server.port)
      let field = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
      try client.send("GET /v1/\(app)/contexts/\(id) HTTP/1.1\r\nHost: test\r\n\(field)\r\n")
      return try client.reply().status
    }
    #expect(try ask(id) == 200)
    #expect(try ask(id, token: try Self.token("u-1")) == 200)
    #expect(try ask(id, token: try Self.token("u-2")) == 404)
    #expect(try ask(id, token: try Self.token("U-1")) == 404)
    #expect(try ask(id, app: "both") == 404)
    let last = id.last == "0" ? "1" : "0"
    #expect(try ask(String(id.dropLast()) + last) == 404)
    #expect(try ask(id.lowercased()) == 404)
    let expired = try Self.issuer.get().token(Self.claims("u-1", [.init(name: "exp", value: 1)]))
    #expect(try ask(id, token: expired) == 401)
    // A credential without the form of a token is ignored, because the id is the secret.
    #expect(try ask(id, token: "anything") == 200)
  }
}

extension Bench {
  var metricsText: String {
    var text = MetricsText()
    metrics.write(to: &text)
    return text.text
  }
}
