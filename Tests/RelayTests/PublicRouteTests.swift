// Every path and every method of the public listener.

import HTTPServer
import Testing

@testable import Relay

@Suite("The public paths") struct PublicRouteTests {
  private static func find(_ method: String, _ target: String) -> Result<PublicRoute, PublicRoute.Refusal> {
    PublicRoute.find(RequestSamples.head(method, target))
  }

  static let routes: [(method: String, target: String, route: PublicRoute)] = [
    ("POST", "/v1/ios/contexts", .app("ios", .postContext(user: nil, .context))),
    ("POST", "/v1/ios/contexts?x=1", .app("ios", .postContext(user: nil, .context))),
    ("POST", "http://host:80/v1/ios/contexts", .app("ios", .postContext(user: nil, .context))),
    ("POST", "/v1/ios/users/u1/contexts", .app("ios", .postContext(user: "u1", .context))),
    ("POST", "/v1/ios/users/a%2Fb/contexts", .app("ios", .postContext(user: "a/b", .context))),
    ("POST", "/v1/ios/users/%C3%A9+%20/contexts", .app("ios", .postContext(user: "é+ ", .context))),
    ("POST", "/v1/ios/users/../contexts", .app("ios", .postContext(user: "..", .context))),
    ("POST", "/v1/ios/users/%2e%2e/contexts", .app("ios", .postContext(user: "..", .context))),
    ("POST", "/v1/ios/users/contexts/contexts", .app("ios", .postContext(user: "contexts", .context))),
    ("POST", "/v1/ios/users/%00/contexts", .app("ios", .postContext(user: "\u{0}", .context))),
    ("POST", "/v1/%69os/contexts", .app("ios", .postContext(user: nil, .context))),
    ("POST", "/%76%31/ios/contexts", .app("ios", .postContext(user: nil, .context))),
    ("GET", "/v1/ios/contexts/ctx_1", .app("ios", .contextStatus(contextID: "ctx_1"))),
    ("HEAD", "/v1/ios/contexts/ctx_1", .app("ios", .contextStatus(contextID: "ctx_1"))),
    ("GET", "/v1/ios/contexts/ctx_1?wait=5", .app("ios", .contextStatus(contextID: "ctx_1"))),
    ("GET", "/v1/ios/contexts/..", .app("ios", .contextStatus(contextID: ".."))),
    ("POST", "/v1/ios/checkout", .app("ios", .postContext(user: nil, .checkout))),
    ("POST", "/v1/ios/users/a%2Fb/checkout", .app("ios", .postContext(user: "a/b", .checkout))),
    ("GET", "/v1/ios/return?context_id=ctx_1", .app("ios", .returnPage)),
    ("HEAD", "/v1/ios/trampoline?target=x", .app("ios", .trampoline)),
    ("GET", "/v1/ios/swedbank/complete", .app("ios", .swedbank(.complete))),
    ("GET", "/v1/ios/swedbank/cancel", .app("ios", .swedbank(.cancel))),
    (
      "GET", "/v1/ios/swedbank/sdk-callback/android-intent?package=a.b",
      .app("ios", .swedbank(.androidIntent))
    ),
    (
      "HEAD", "/v1/ios/swedbank/sdk-callback/ios-universal-link",
      .app("ios", .swedbank(.iosUniversalLink))
    ),
    ("GET", "/.well-known/apple-app-site-association", .associationFile(.apple)),
    ("GET", "/apple-app-site-association", .associationFile(.apple)),
    ("HEAD", "/.well-known/assetlinks.json", .associationFile(.android)),
    ("POST", "/v1/ios/webhooks/stripe", .app("ios", .webhook(processor: "stripe"))),
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
      "/v1/ios/checkout/", "/v1/ios/users/u1/return", "/v1/ios/return/x", "/v1/ios/swedbank",
      "/v1/ios/swedbank/", "/v1/ios/swedbank/complete/", "/v1/ios/swedbank/Complete",
      "/v1/ios/swedbank/sdk-callback", "/v1/ios/swedbank/sdk-callback%2Fandroid-intent",
      "/v1/ios/swedbank/%73dk-callback/android-intent",
      "/v1/ios/swedbank/sdk-callback/reload", "/assetlinks.json", "/.well-known", "/.well-known/",
      "/.well-known/assetlinks.json/", "/.well-known/security.txt",
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
    let route = PublicRoute.app("\u{338}ios", .postContext(user: nil, .context))
    #expect(Self.find("POST", "/v1/\u{338}ios/contexts") == .success(route))
  }

  @Test("A label in the metrics names nothing that came from outside (R7)")
  func labels() {
    let labels: Set = [
      "contexts", "checkout", "context_status", "webhooks_stripe", "return", "swedbank", "trampoline",
      "association_files",
    ]
    #expect(Set(Self.routes.map(\.route.label)) == labels)
  }
}
