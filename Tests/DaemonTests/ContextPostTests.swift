// Valid and invalid posts of contexts.

import Domain
import Testing

@testable import Daemon
@testable import HTTPServer
@testable import Partners
@testable import Service

@Suite("A posted context") struct ContextPostTests {
  private static func read(
    _ request: Request, pathUser: String? = nil, rules: UserIDRules = UserIDRules()
  ) throws(ContextPost.Fault) -> ContextPost {
    try ContextPost.read(request, pathUser: pathUser, rules: rules)
  }

  private static func fault(
    _ request: Request, pathUser: String? = nil, rules: UserIDRules = UserIDRules()
  ) -> ContextPost.Fault? {
    do throws(ContextPost.Fault) {
      _ = try read(request, pathUser: pathUser, rules: rules)
      return nil
    } catch {
      return error
    }
  }

  private static let form = "application/x-www-form-urlencoded"
  /// `{"stripe_price_id":"price_1"}`, and three bytes whose base64 has a plus.
  private static let blob = "eyJzdHJpcGVfcHJpY2VfaWQiOiJwcmljZV8xIn0="
  private static let plusBlob = "++++"

  @Test func `JSON and forms are read the same`() throws {
    let expected = ContextPost(userID: "u1", blob: ContextBlob(text: Self.blob, priceID: "price_1"))
    let json = RequestSamples.post(#"{"ply_context":"\#(Self.blob)","user_id":"u1"}"#)
    let form = RequestSamples.post("user_id=u1&ply_context=\(Self.blob)", type: Self.form)
    #expect(try Self.read(json) == expected)
    #expect(try Self.read(form) == expected)
  }

  @Test func `The user may be in the path, in the body or in the header`() throws {
    let body = #"{"ply_context":"YQ=="}"#
    #expect(try Self.read(RequestSamples.post(body), pathUser: "é/1").userID == "é/1")
    #expect(try Self.read(RequestSamples.post(body, [("x-user-id", "u2")])).userID == "u2")
    let everywhere = RequestSamples.post(#"{"ply_context":"YQ==","user_id":"u"}"#, [("X-User-Id", "u")])
    #expect(try Self.read(everywhere, pathUser: "u").userID == "u")
  }

  @Test func `Users that differ are refused in any place, also when they only look alike (R5)`() {
    let body = #"{"ply_context":"YQ==","user_id":"u"}"#
    #expect(Self.fault(RequestSamples.post(body), pathUser: "v") == .usersDiffer)
    #expect(Self.fault(RequestSamples.post(body, [("X-User-Id", "U")])) == .usersDiffer)
    let onlyBlob = #"{"ply_context":"YQ=="}"#
    #expect(Self.fault(RequestSamples.post(onlyBlob, [("X-User-Id", "v")]), pathUser: "u") == .usersDiffer)
    let composed = RequestSamples.post(onlyBlob, [("X-User-Id", "\u{E9}")])
    #expect(Self.fault(composed, pathUser: "e\u{301}") == .usersDiffer)
    #expect(Self.fault(RequestSamples.post(body), pathUser: "") == .usersDiffer)
  }

  @Test func `A user that is missing, empty, too long or not a string is refused`() {
    #expect(Self.fault(RequestSamples.post(#"{"ply_context":"YQ=="}"#)) == .userMissing)
    #expect(Self.fault(RequestSamples.post(#"{"ply_context":"YQ==","user_id":null}"#)) == .userMissing)
    for user in ["", "a\u{0}b", "\n", "\u{7F}", "\u{85}", String(repeating: "x", count: 256)] {
      #expect(Self.fault(RequestSamples.post(#"{"ply_context":"YQ=="}"#), pathUser: user) == .userNotText)
    }
    #expect(Self.fault(RequestSamples.post(#"{"ply_context":"YQ==","user_id":"a\u0000"}"#)) == .userNotText)
    let form = RequestSamples.post("ply_context=YQ==&user_id=a%00", type: Self.form)
    #expect(Self.fault(form) == .userNotText)
    let head = RequestSamples.rawHead(
      "POST", "/", [("Content-Type", Array("application/json".utf8)), ("X-User-Id", [0xFF])])
    let request = Request(head: head, body: Array(#"{"ply_context":"YQ=="}"#.utf8))
    #expect(Self.fault(request, pathUser: "u") == .userNotText)
  }

  @Test func `Whitespace around a user is no part of it, in any place, and places may differ in it`() throws {
    let body = #"{"ply_context":"YQ==","user_id":" jdo-1\n"}"#
    #expect(try Self.read(RequestSamples.post(body)).userID == "jdo-1")
    #expect(try Self.read(RequestSamples.post(body), pathUser: "jdo-1 ").userID == "jdo-1")
  }

  @Test(
    "A placeholder is no user, and the answer names the likely cause",
    arguments: [
      ("undefined", .missingValue, "read the id before it was known"),
      ("[object Object]", .missingValue, "read the id before it was known"),
      ("Anonymous", .signedOut, "has not signed in"), ("0", .signedOut, "has not signed in"),
      ("ctx_1", .contextID, "id of a context"), ("tester", .configured, "`user_ids.refuse`"),
    ] as [(String, UserIDRules.Cause, String)])
  func placeholders(user: String, cause: UserIDRules.Cause, words: String) throws {
    let request = RequestSamples.post(#"{"ply_context":"YQ=="}"#)
    let fault = try #require(Self.fault(request, pathUser: user, rules: UserIDRules(refuse: ["tester"])))
    #expect(fault == .placeholder(cause))
    #expect(fault.problem.status == 422)
    #expect(fault.problem.slug == "placeholder-user")
    #expect(fault.problem.detail.contains(words))
  }

  @Test func `A token's user is checked like one that the request names`() throws {
    #expect(throws: ContextPost.Fault.placeholder(.missingValue)) {
      try ContextPost.user(among: [], tokenUser: "null", UserIDRules())
    }
    #expect(try ContextPost.user(among: [], tokenUser: " u ", UserIDRules()) == "u")
    #expect(try ContextPost.user(among: ["u"], tokenUser: "u", UserIDRules()) == "u")
    #expect(throws: ContextPost.Fault.wrongUser) {
      try ContextPost.user(among: ["v"], tokenUser: "u", UserIDRules())
    }
    #expect(try ContextPost.user(among: ["null"], tokenUser: nil, UserIDRules(allow: ["null"])) == "null")
  }

  @Test func `A user of 255 bytes is accepted`() throws {
    let user = String(repeating: "é", count: 127) + "x"
    let post = try Self.read(RequestSamples.post(#"{"ply_context":"YQ=="}"#), pathUser: user)
    #expect(post.userID.text == user)
  }

  @Test func `The id may be the client's: one id, in its form`() throws {
    let id = "ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD"
    let body = #"{"ply_context":"YQ==","id":"\#(id)"}"#
    #expect(try Self.read(RequestSamples.post(body), pathUser: "u").id == ContextID(id))
    let form = RequestSamples.post("ply_context=YQ==&user_id=u&id=\(id)&id=\(id)", type: Self.form)
    #expect(try Self.read(form).id == ContextID(id))
    for body in [#"{"ply_context":"YQ=="}"#, #"{"ply_context":"YQ==","id":null}"#] {
      #expect(try Self.read(RequestSamples.post(body), pathUser: "u").id == nil)
    }
    for bad in [
      "", "1", id.lowercased(), "\(id)0", "rcp_01KAGFN8X2M5R7QZ3C6V9WJ4TD", "ctx_8\(id.dropFirst(5))",
    ] {
      let body = #"{"ply_context":"YQ==","id":"\#(bad)"}"#
      #expect(Self.fault(RequestSamples.post(body), pathUser: "u") == .idMalformed, "\(bad)")
    }
    #expect(
      Self.fault(RequestSamples.post(#"{"ply_context":"YQ==","id":7}"#), pathUser: "u") == .wrongType("id"))
    let twice = #"{"ply_context":"YQ==","id":"\#(id)","id":"ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TE"}"#
    #expect(Self.fault(RequestSamples.post(twice), pathUser: "u") == .idsDiffer)
  }

  @Test func `Unknown members of any kind are ignored`() throws {
    let strange = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
    let body = #"{"x":\#(strange),"":null,"ply_context":"YQ==","user_id":"u","n":1e400}"#
    #expect(try Self.read(RequestSamples.post(body)).userID == "u")
    let form = RequestSamples.post("x=1&ply_context=YQ%3D%3D&&user_id=u&=&x", type: Self.form)
    #expect(try Self.read(form) == ContextPost(userID: "u", blob: ContextBlob(text: "YQ==", priceID: nil)))
  }

  @Test("A user that is given twice with different values is refused, in one place or in several (R5)")
  func repeatedUsers() throws {
    let blob = #""ply_context":"YQ==""#
    let bodies = [
      RequestSamples.post(#"{\#(blob),"user_id":"a","user_id":"b"}"#),
      RequestSamples.post(#"{"user_id":"a",\#(blob),"user\u005fid":"b"}"#),
      RequestSamples.post("ply_context=YQ&user_id=a&user_id=b", type: Self.form),
      RequestSamples.post("ply_context=YQ&user_id=a&user%5Fid=b", type: Self.form),
      RequestSamples.post("{\(blob)}", [("X-User-Id", "a"), ("X-User-Id", "b")]),
      RequestSamples.post(#"{\#(blob),"user_id":"a"}"#, [("X-User-Id", "a"), ("x-user-id", "b")]),
      RequestSamples.post(#"{\#(blob),"user_id":"a","user_id":"b"}"#, [("X-User-Id", "a")]),
    ]
    for body in bodies { #expect(Self.fault(body) == .usersDiffer, "\(body.head.fields) \(body.body)") }
    let last = RequestSamples.post(#"{\#(blob),"user_id":"a","user_id":"b"}"#)
    #expect(Self.fault(last, pathUser: "a") == .usersDiffer)
    #expect(Self.fault(last, pathUser: "b") == .usersDiffer)
    let typed = RequestSamples.post(#"{\#(blob),"user_id":"a","user_id":1}"#)
    #expect(Self.fault(typed) == .wrongType("user_id"))
    let agreeing = RequestSamples.post(
      #"{\#(blob),"user_id":"a","user_id":null,"user_id":"\u0061"}"#,
      [("X-User-Id", "a"), ("X-User-Id", "a")])
    #expect(try Self.read(agreeing, pathUser: "a").userID == "a")
    let form = RequestSamples.post("ply_context=YQ&user_id=a&user_id=%61", type: Self.form)
    #expect(try Self.read(form).userID == "a")
  }

  @Test func `A blob that is given twice must have equal values`() throws {
    let json = RequestSamples.post(#"{"ply_context":"YQ==","user_id":"u","ply_context":"Yg=="}"#)
    #expect(Self.fault(json) == .blobsDiffer)
    #expect(
      Self.fault(RequestSamples.post("ply_context=YQ&ply_context=Yg&user_id=u", type: Self.form))
        == .blobsDiffer)
    #expect(ContextPost.Fault.blobsDiffer.problem.slug == "ply-contexts-differ")
    let same = RequestSamples.post(#"{"ply_context":"YQ==","user_id":"u","ply_context":"YQ=="}"#)
    #expect(try Self.read(same).blob.text == "YQ==")
  }

  @Test(arguments: ["1", "true", "[]", "{}", "1.5", "[\"YQ==\"]"])
  func `A member of the wrong type is named`(value: String) {
    let blob = RequestSamples.post(#"{"ply_context":\#(value),"user_id":"u"}"#)
    #expect(Self.fault(blob) == .wrongType("ply_context"))
    let user = RequestSamples.post(#"{"ply_context":"YQ==","user_id":\#(value)}"#)
    #expect(Self.fault(user) == .wrongType("user_id"))
    #expect(ContextPost.Fault.wrongType("user_id").problem.slug == "invalid-user")
    #expect(ContextPost.Fault.wrongType("ply_context").problem.detail == "`ply_context` must be text.")
  }

  @Test(arguments: ["[]", "\"x\"", "1", "null", "true"])
  func `A body that is not an object is refused`(body: String) {
    let fault = Self.fault(RequestSamples.post(body), pathUser: "u")
    #expect(fault.map { [.wrongType(""), .notJSON, .blobMissing].contains($0) } == true)
    #expect(fault?.problem.status == 400)
  }

  @Test(
    "A body that is not JSON is refused",
    arguments: [
      "", " ", "{", "{\"ply_context\":\"YQ==\"", "ply_context=YQ==", "{'ply_context':'YQ=='}", "\u{0}",
    ])
  func noJSON(body: String) { #expect(Self.fault(RequestSamples.post(body), pathUser: "u") == .notJSON) }

  @Test func `Bytes that are not UTF-8 are refused in both types`() {
    let json = Array(#"{"ply_context":"YQ==","user_id":""#.utf8) + [0xFF] + Array(#""}"#.utf8)
    #expect(Self.fault(RequestSamples.post(json)) == .notJSON)
    let form = Array("ply_context=YQ==&user_id=".utf8) + [0xFF]
    #expect(Self.fault(RequestSamples.post(form, type: Self.form)) == .notForm)
    let escaped = RequestSamples.post("ply_context=YQ==&user_id=%FF", type: Self.form)
    #expect(Self.fault(escaped) == .notForm)
  }

  @Test func `A form with an unescaped plus still gives the right blob`() throws {
    for body in ["ply_context=++++&user_id=u", "ply_context=%2B%2B%2B%2B&user_id=u"] {
      #expect(try Self.read(RequestSamples.post(body, type: Self.form)).blob.text == Self.plusBlob)
    }
    // A plus in a user is a space, as in any form.
    let user = RequestSamples.post("ply_context=YQ==&user_id=a+b%2B", type: Self.form)
    #expect(try Self.read(user).userID == "a b+")
  }

  @Test(
    "A blob has one byte to 16 KiB in base64 of either alphabet, padded or not",
    arguments: [
      ("", .blob(.empty)), ("=", .blob(.notBase64)), ("====", .blob(.notBase64)), ("a", .blob(.notBase64)),
      ("YQ", nil), ("YQ==", nil), ("YQ=", .blob(.notBase64)), ("YQ===", .blob(.notBase64)), ("-_-_", nil),
      ("+/+/", nil),
      ("Y Q==", .blob(.notBase64)), ("YQ==\n", .blob(.notBase64)), ("YQ==YQ==", .blob(.notBase64)),
      ("é", .blob(.notBase64)), (String(repeating: "A", count: 21_846), nil),
      (String(repeating: "A", count: 21_847), .blob(.tooLong)),
      (String(repeating: "A", count: 21_848), .blob(.tooLong)),
      (String(repeating: "A", count: 60_000), .blob(.tooLong)),
    ] as [(String, ContextPost.Fault?)])
  func blobs(blob: String, expected: ContextPost.Fault?) {
    let escaped = blob.replacing("\n", with: "\\n")
    #expect(Self.fault(RequestSamples.post(#"{"ply_context":"\#(escaped)"}"#), pathUser: "u") == expected)
  }

  @Test func `A missing blob is reported before a fault of the user`() {
    for body in ["{}", #"{"ply_context":null}"#, #"{"PLY_CONTEXT":"YQ=="}"#] {
      #expect(Self.fault(RequestSamples.post(body)) == .blobMissing)
    }
    #expect(Self.fault(RequestSamples.post("user_id=u", type: Self.form)) == .blobMissing)
    #expect(Self.fault(RequestSamples.post("", type: Self.form)) == .blobMissing)
  }
}
