// Checks of a posted context before its body is read.

import Testing

@testable import Config
@testable import Daemon
@testable import HTTPServer
@testable import Service

@Suite("The head of a posted context") struct ContextHeadTests {
  private static func mediaType(_ value: String) -> MediaType? {
    RequestSamples.head("POST", "/", [("Content-Type", value)]).mediaType
  }

  private static func key(_ fields: [(name: String, value: String)]) -> String? {
    ContextPost.clientKey(RequestSamples.head("POST", "/", fields)).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  @Test(
    "The parameters of a media type do not matter",
    arguments: [
      ("application/json", .json), ("application/json; charset=utf-8", .json), ("APPLICATION/JSON", .json),
      ("application/json;charset=\"UTF-8\"; x=y", .json), ("application/json ;charset=latin1", .json),
      ("application/json;", .json), ("application/x-www-form-urlencoded", .form),
      ("application/x-www-form-urlencoded; charset=UTF-8", .form), ("text/plain", nil), ("", nil),
      ("application/jsonp", nil), ("application/json, text/plain", nil), ("application/problem+json", nil),
      ("multipart/form-data; boundary=x", nil), (";application/json", nil), ("application", nil),
    ] as [(String, MediaType?)])
  func mediaTypes(value: String, type: MediaType?) { #expect(Self.mediaType(value) == type) }

  @Test func `Without a media type there is none`() {
    #expect(RequestSamples.head("POST", "/").mediaType == nil)
    #expect(RequestSamples.rawHead("POST", "/", [("Content-Type", [0xFF])]).mediaType == nil)
  }

  @Test func `A client key is read from either place`() {
    #expect(Self.key([]) == nil)
    #expect(Self.key([("X-API-KEY", "k1")]) == "k1")
    #expect(Self.key([("x-api-key", "k1")]) == "k1")
    for value in ["Bearer k1", "bearer k1", "BEARER k1", "Bearer   k1"] {
      #expect(Self.key([("Authorization", value)]) == "k1")
    }
    #expect(Self.key([("Authorization", "Bearer k 1 ")]) == "k 1")
  }

  @Test func `SW31: A client key is also read from the app's own header fields, after the standard ones`() {
    func key(_ fields: [(name: String, value: String)], or headers: [String]) -> String? {
      ContextPost.clientKey(RequestSamples.head("POST", "/", fields), or: headers)
        .map { String(decoding: $0, as: UTF8.self) }
    }
    let own = ["x-payex-sample-apikey", "X-Other"]
    #expect(key([("X-Payex-Sample-ApiKey", "k1")], or: own) == "k1")
    #expect(key([("x-other", "k2"), ("x-payex-sample-apikey", "k1")], or: own) == "k1")
    #expect(key([("x-other", "k2")], or: own) == "k2")
    #expect(key([("x-other", "k2"), ("X-API-KEY", "k3")], or: own) == "k3")
    #expect(key([("x-other", "k2"), ("Authorization", "Bearer k4")], or: own) == "k4")
    #expect(key([("x-other", "k2"), ("Authorization", "Basic azE=")], or: own) == nil)
    #expect(key([("x-other", "k2")], or: []) == nil)
  }

  @Test(arguments: ["Basic azE=", "Bearer", "", "k1", "Bearerk1", "Token k1"])
  func `An authorization of another kind is not a key, and hides the other header's key`(value: String) {
    #expect(Self.key([("Authorization", value)]) == nil)
    #expect(Self.key([("Authorization", value), ("X-API-KEY", "k1")]) == nil)
  }

  @Test func `Only the app's own keys are accepted, whole and to the byte`() throws {
    let app = try App(Bench.app(client: .keys([Secret("first-key"), Secret("second-key")])))
    for key in ["first-key", "second-key"] { #expect(app.accepts(clientKey: Array(key.utf8))) }
    for key in ["", "first", "first-key ", "First-key", "first-keysecond-key", "first-key\u{0}"] {
      #expect(!app.accepts(clientKey: Array(key.utf8)))
    }
    #expect(!app.accepts(clientKey: nil))
    let open = try App(Bench.app(client: .open))
    #expect(open.accepts(clientKey: nil))
    #expect(open.accepts(clientKey: [1, 2, 3]))
  }
}
