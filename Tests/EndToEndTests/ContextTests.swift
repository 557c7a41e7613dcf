// Posts of contexts: refusals, ids that clients make, and many at once.

import Domain
import Formats
import FoundationEssentials
import Store
import Testing

@Suite(.withDaemonLog) struct ContextTests {
  private static let json = "application/json; charset=utf-8"
  private static let plain = "/v1/shop/contexts"

  private static func post(
    _ relay: Relay, _ path: String, _ body: String, _ type: String = json, _ more: [String: String] = [:]
  ) throws -> Reply {
    let headers = ["Content-Type": type, "X-API-KEY": Secrets.clientKey]
    return try relay.outside.api.request(
      "POST", path, body: Array(body.utf8), headers: headers.merging(more) { $1 })
  }

  @Test func `A bad post is a 400 that says what to do, and leaves nothing behind (R8)`() throws {
    try withRelay { relay, _ in
      let good = blob(price: nil)
      let long = String(repeating: "u", count: 256)
      let cases: [(String, String, String, [String: String])] = [
        ("invalid-json", Self.plain, "{", [:]), ("invalid-json", Self.plain, "[]", [:]),
        ("missing-ply-context", "/v1/shop/users/u/contexts", "{}", [:]),
        ("invalid-ply-context", "/v1/shop/users/u/contexts", #"{"ply_context":7}"#, [:]),
        ("invalid-ply-context", "/v1/shop/users/u/contexts", #"{"ply_context":""}"#, [:]),
        ("invalid-ply-context", "/v1/shop/users/u/contexts", #"{"ply_context":"%%%"}"#, [:]),
        (
          "ply-context-too-long", "/v1/shop/users/u/contexts",
          #"{"ply_context":"\#(String(repeating: "A", count: 22_000))"}"#, [:]
        ),
        ("missing-user", Self.plain, #"{"ply_context":"\#(good)"}"#, [:]),
        ("users-differ", "/v1/shop/users/u/contexts", #"{"ply_context":"\#(good)","user_id":"v"}"#, [:]),
        ("users-differ", "/v1/shop/users/u/contexts", #"{"ply_context":"\#(good)"}"#, ["X-User-Id": "v"]),
        ("invalid-user", "/v1/shop/users/\(long)/contexts", #"{"ply_context":"\#(good)"}"#, [:]),
        ("invalid-user", "/v1/shop/users/a%00b/contexts", #"{"ply_context":"\#(good)"}"#, [:]),
        ("invalid-user", Self.plain, #"{"ply_context":"\#(good)","user_id":"a\nb"}"#, [:]),
      ]
      for (slug, path, body, headers) in cases {
        let reply = try Self.post(relay, path, body, Self.json, headers)
        #expect(reply.status == 400, "\(slug): \(reply.text)")
        #expect(reply["type"] == "urn:receiptd:problem:\(slug)", "\(slug): \(reply.text)")
        #expect(reply.header("Content-Type") == "application/problem+json")
        #expect(reply["detail"]?.isEmpty == false)
        #expect(reply["request_id"] == reply.header("X-Request-Id"))
      }
      #expect(try relay.count("contexts") == 0)
    }
  }

  @Test func `A client may make the id: its post may be repeated, and nobody else gets the id`() throws {
    try withRelay { relay, _ in
      let checkout = Checkout("own-id")
      var random = SystemRandomNumberGenerator()
      func post(_ id: ContextID, user: String, blob: String = checkout.context) throws -> Reply {
        let body = #"{"id":"\#(id)","ply_context":"\#(blob)","user_id":"\#(user)"}"#
        return try Self.post(relay, Self.plain, body)
      }
      func id(after duration: Duration) -> ContextID {
        let now = Timestamp(unixMilliseconds: Stripe.unixSeconds * 1000)
        return ContextID.make(now: now + duration, random: &random)
      }
      let own = id(after: .zero)
      let first = try post(own, user: checkout.user)
      #expect(first.status == 201, "\(first.text)")
      #expect(first["context_id"] == own.text)
      #expect(first.header("Location") == "/v1/shop/contexts/\(own)")
      let again = try post(own, user: checkout.user)
      #expect(again.status == 200)
      #expect(again.text == first.text)
      let other = blob(price: "price_of_another")
      for reply in [try post(own, user: "mallory"), try post(own, user: checkout.user, blob: other)] {
        #expect(reply.status == 409)
        #expect(reply["type"] == "urn:receiptd:problem:context-id-taken")
        #expect(reply["request_id"] == reply.header("X-Request-Id"))
      }
      for offset in [Duration.days(-8), .hours(2)] {
        let reply = try post(id(after: offset), user: checkout.user)
        #expect(reply.status == 422)
        #expect(reply["type"] == "urn:receiptd:problem:context-id-time")
        #expect(reply["detail"]?.contains("7d ago") == true)
      }
      let malformed = try Self.post(
        relay, Self.plain, #"{"id":"ctx_1","ply_context":"\#(checkout.context)","user_id":"u"}"#)
      #expect(malformed.status == 400)
      #expect(malformed["type"] == "urn:receiptd:problem:invalid-id")
      #expect(try relay.count("contexts") == 1)
      #expect(try relay.metric(#"receiptd_contexts_total{app="shop",result="refused"}"#) == 5)
    }
  }

  @Test func `Two hundred concurrent users get separate contexts (R5)`() throws {
    try withRelay { relay, _ in
      let outside = relay.outside
      let replies = try onThreads(20) { thread in
        try (0..<10).map { number in
          let checkout = Checkout("user-\(thread)-\(number)")
          let reply = try outside.postContext(checkout.user, checkout.context)
          return (checkout, reply.status, reply["context_id"] ?? "")
        }
      }.flatMap(\.self)
      #expect(replies.count == 200)
      #expect(replies.allSatisfy { $0.1 == 201 })
      #expect(Set(replies.map { $0.2 }).count == 200)
      let now = Timestamp(unixMilliseconds: 0)
      let stored = try relay.read { try $0.contexts(ContextFilter(), now: now, limit: 1000) }
      let byID = Dictionary(uniqueKeysWithValues: stored.map { ($0.id.text, $0) })
      for (checkout, _, id) in replies {
        #expect(byID[id]?.userID.text == checkout.user)
        #expect(byID[id]?.blob.text == checkout.context)
      }
      #expect(try relay.metric(#"receiptd_contexts_total{app="shop",result="stored"}"#) == 200)
    }
  }
}
