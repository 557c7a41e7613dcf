// Every path and every method of the public listener.

import HTTPServer
import Testing

@testable import Relay

@Suite("The public paths") struct PublicRouteTests {
  private static func find(_ method: String, _ target: String) -> Result<PublicRoute, PublicRoute.Refusal> {
    PublicRoute.find(RequestSamples.head(method, target))
  }

  static let routes: [(method: String, target: String, route: PublicRoute)] = [
    ("POST", "/v1/ios/contexts", .postContext(app: "ios", user: nil)),
    ("POST", "/v1/ios/contexts?x=1", .postContext(app: "ios", user: nil)),
    ("POST", "http://host:80/v1/ios/contexts", .postContext(app: "ios", user: nil)),
    ("POST", "/v1/ios/users/u1/contexts", .postContext(app: "ios", user: "u1")),
    ("POST", "/v1/ios/users/a%2Fb/contexts", .postContext(app: "ios", user: "a/b")),
    ("POST", "/v1/ios/users/%C3%A9+%20/contexts", .postContext(app: "ios", user: "é+ ")),
    ("POST", "/v1/ios/users/../contexts", .postContext(app: "ios", user: "..")),
    ("POST", "/v1/ios/users/%2e%2e/contexts", .postContext(app: "ios", user: "..")),
    ("POST", "/v1/ios/users/contexts/contexts", .postContext(app: "ios", user: "contexts")),
    ("POST", "/v1/ios/users/%00/contexts", .postContext(app: "ios", user: "\u{0}")),
    ("POST", "/v1/%69os/contexts", .postContext(app: "ios", user: nil)),
    ("POST", "/%76%31/ios/contexts", .postContext(app: "ios", user: nil)),
    ("GET", "/v1/ios/contexts/ctx_1", .contextStatus(app: "ios", contextID: "ctx_1")),
    ("HEAD", "/v1/ios/contexts/ctx_1", .contextStatus(app: "ios", contextID: "ctx_1")),
    ("GET", "/v1/ios/contexts/ctx_1?wait=5", .contextStatus(app: "ios", contextID: "ctx_1")),
    ("GET", "/v1/ios/contexts/..", .contextStatus(app: "ios", contextID: "..")),
    ("POST", "/v1/ios/webhooks/stripe", .webhook(app: "ios", processor: "stripe")),
  ]

  @Test("A path leads where it should", arguments: routes)
  func found(method: String, target: String, route: PublicRoute) {
    #expect(Self.find(method, target) == .success(route))
  }

  @Test(
    "An unknown path is not found, whatever the method",
    arguments: [
      "/", "", "*", "v1/ios/contexts", "/v1", "/v1/", "/v1/ios", "/v1/ios/", "/v2/ios/contexts",
      "/V1/ios/contexts", "/v1/ios/Contexts", "/v1/ios/context", "/v1/ios/users", "/v1/ios/users/u1",
      "/v1/ios/users/u1/contexts/ctx_1", "/v1/ios/users/u1/receipts", "/v1/ios/webhooks",
      "/v1/ios/webhooks/paypal",
      "/v1/ios/webhooks/stripe/x", "/v1/ios/contexts/ctx_1/x", "//v1/ios/contexts", "/v1//contexts",
      "/v1/ios//contexts", "/v1/ios/contexts/", "/v1/ios/contexts//", "/v1/ios/users//contexts",
      "/v1/ios/users/u1//contexts", "/v1/ios/users/u1/contexts/", "/v1/ios/webhooks/stripe/",
      "/v1/ios/webhooks/",
      "/../v1/ios/contexts", "/v1/../v1/ios/contexts", "/v1/ios/./contexts", "/v1%2Fios/contexts",
      "/v1/ios%2Fcontexts", "/healthz", "/metrics", "/?/v1/ios/contexts", "http://host", "https://host/",
    ])
  func notFound(target: String) {
    for method in ["GET", "POST", "DELETE"] { #expect(Self.find(method, target) == .failure(.notFound)) }
  }

  @Test(
    "Another method is refused with those that are allowed",
    arguments: ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "post", "Post", "POST ", ""])
  func otherMethod(method: String) {
    for target in ["/v1/ios/contexts", "/v1/ios/users/u/contexts", "/v1/ios/webhooks/stripe"] {
      #expect(Self.find(method, target) == .failure(.method("POST")))
    }
    guard method != "GET", method != "HEAD" else { return }
    #expect(Self.find(method, "/v1/ios/contexts/ctx_1") == .failure(.method("GET, HEAD")))
  }

  @Test("A post to a checkout's state is refused with GET and HEAD, and the answer carries Allow")
  func allow() {
    guard case .failure(let refusal) = Self.find("POST", "/v1/ios/contexts/ctx_1") else {
      Issue.record("there is a route")
      return
    }
    #expect(refusal.problem.status == 405 && refusal.problem.headers == ["Allow": "GET, HEAD"])
    let response = refusal.problem.response(requestID: "r")
    #expect(response.headers.contains { $0.name == "Allow" && $0.value == "GET, HEAD" })
  }

  @Test(
    "A path that cannot be decoded is malformed",
    arguments: [
      "/v1/ios/users/%/contexts", "/v1/ios/users/%zz/contexts", "/v1/ios/users/%FF/contexts", "/%C3",
    ])
  func malformed(target: String) {
    #expect(Self.find("POST", target) == .failure(.malformed))
    #expect(PublicRoute.Refusal.malformed.problem.status == 400)
  }

  @Test(
    "A slash is one, whatever combines with it",
    arguments: ["/\u{338}v1/ios/contexts", "/v1/ios/\u{301}contexts", "/v1/ios\u{338}/\u{338}contexts"])
  func slashWithAMark(target: String) {
    #expect(Self.find("POST", target) == .failure(.notFound))
    let route = PublicRoute.postContext(app: "\u{338}ios", user: nil)
    #expect(Self.find("POST", "/v1/\u{338}ios/contexts") == .success(route))
  }

  @Test("A label in the metrics names nothing that came from outside (R7)")
  func labels() {
    #expect(Set(Self.routes.map(\.route.label)) == ["contexts", "context_status", "webhooks_stripe"])
    #expect(Self.routes.allSatisfy { $0.route.app == "ios" })
  }
}
