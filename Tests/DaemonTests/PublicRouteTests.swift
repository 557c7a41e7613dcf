// Every path and every method of the public listener.

import Domain
import HTTPServer
import Partners
import Testing

@testable import Config
@testable import Service

@Suite("The public paths") struct PublicRouteTests {
  /// The route of a path, with its parameters.
  enum Found: Equatable {
    case route(String, [String: String])
    case none, malformed
    case allowed([String])
  }

  private static let table = Result {
    let bench = try Bench([Bench.app()], isStarted: false)
    return bench.listener().table
  }

  private static func match(_ method: String, _ target: String) throws -> RouteTable.Match {
    let head = RequestSamples.head(method, target)
    return try table.get().find(method: head.method, path: head.path)
  }

  private static func find(_ method: String, _ target: String) throws -> Found {
    switch try match(method, target) {
    case .route(let route, let parameters):
      .route(route.path, Dictionary(parameters.map { ($0.name, $0.value) }) { first, _ in first })
    case .none: .none
    case .malformed: .malformed
    case .method(_, let allowed, _): .allowed(allowed)
    }
  }

  static let routes: [(method: String, target: String, path: String, parameters: [String: String])] = [
    ("POST", "/v1/ios/contexts", "/v1/{app}/contexts", ["app": "ios"]),
    ("POST", "/v1/ios/contexts?x=1", "/v1/{app}/contexts", ["app": "ios"]),
    ("POST", "http://host:80/v1/ios/contexts", "/v1/{app}/contexts", ["app": "ios"]),
    ("POST", "/v1/ios/users/u1/contexts", "/v1/{app}/users/{user}/contexts", ["app": "ios", "user": "u1"]),
    (
      "POST", "/v1/ios/users/a%2Fb/contexts", "/v1/{app}/users/{user}/contexts",
      ["app": "ios", "user": "a/b"]
    ),
    (
      "POST", "/v1/ios/users/%C3%A9+%20/contexts", "/v1/{app}/users/{user}/contexts",
      ["app": "ios", "user": "é+ "]
    ),
    ("POST", "/v1/ios/users/../contexts", "/v1/{app}/users/{user}/contexts", ["app": "ios", "user": ".."]),
    (
      "POST", "/v1/ios/users/%2e%2e/contexts", "/v1/{app}/users/{user}/contexts",
      ["app": "ios", "user": ".."]
    ),
    (
      "POST", "/v1/ios/users/contexts/contexts", "/v1/{app}/users/{user}/contexts",
      ["app": "ios", "user": "contexts"]
    ),
    (
      "POST", "/v1/ios/users/%00/contexts", "/v1/{app}/users/{user}/contexts",
      ["app": "ios", "user": "\u{0}"]
    ),
    ("POST", "/v1/%69os/contexts", "/v1/{app}/contexts", ["app": "ios"]),
    ("POST", "/%76%31/ios/contexts", "/v1/{app}/contexts", ["app": "ios"]),
    ("GET", "/v1/ios/contexts/ctx_1", "/v1/{app}/contexts/{context}", ["app": "ios", "context": "ctx_1"]),
    ("HEAD", "/v1/ios/contexts/ctx_1", "/v1/{app}/contexts/{context}", ["app": "ios", "context": "ctx_1"]),
    (
      "GET", "/v1/ios/contexts/ctx_1?wait=5", "/v1/{app}/contexts/{context}",
      ["app": "ios", "context": "ctx_1"]
    ),
    ("GET", "/v1/ios/contexts/..", "/v1/{app}/contexts/{context}", ["app": "ios", "context": ".."]),
    ("POST", "/v1/ios/checkout", "/v1/{app}/checkout", ["app": "ios"]),
    ("POST", "/v1/ios/users/u1/claims", "/v1/{app}/users/{user}/claims", ["app": "ios", "user": "u1"]),
    (
      "GET", "/v1/ios/users/u1/claims/claim_1", "/v1/{app}/users/{user}/claims/{claim}",
      ["app": "ios", "user": "u1", "claim": "claim_1"]
    ),
    (
      "POST", "/v1/ios/users/u1/store-purchases", "/v1/{app}/users/{user}/store-purchases",
      ["app": "ios", "user": "u1"]
    ),
    ("GET", "/v1/ios/claim/clm_1", "/v1/{app}/claim/{token}", ["app": "ios", "token": "clm_1"]),
    ("POST", "/v1/ios/return/claim", "/v1/{app}/return/claim", ["app": "ios"]),
    (
      "POST", "/v1/ios/users/a%2Fb/checkout", "/v1/{app}/users/{user}/checkout",
      ["app": "ios", "user": "a/b"]
    ),
    ("GET", "/v1/ios/return?context_id=ctx_1", "/v1/{app}/return", ["app": "ios"]),
    ("HEAD", "/v1/ios/trampoline?target=x", "/v1/{app}/trampoline", ["app": "ios"]),
    ("GET", "/v1/ios/swedbank/complete", "/v1/{app}/swedbank/complete", ["app": "ios"]),
    ("GET", "/v1/ios/swedbank/cancel", "/v1/{app}/swedbank/cancel", ["app": "ios"]),
    (
      "GET", "/v1/ios/swedbank/sdk-callback/android-intent?package=a.b",
      "/v1/{app}/swedbank/sdk-callback/android-intent", ["app": "ios"]
    ),
    (
      "HEAD", "/v1/ios/swedbank/sdk-callback/ios-universal-link",
      "/v1/{app}/swedbank/sdk-callback/ios-universal-link", ["app": "ios"]
    ),
    ("GET", "/.well-known/apple-app-site-association", "/.well-known/apple-app-site-association", [:]),
    ("GET", "/apple-app-site-association", "/apple-app-site-association", [:]),
    ("HEAD", "/.well-known/assetlinks.json", "/.well-known/assetlinks.json", [:]),
    (
      "GET", "/.well-known/apple-developer-merchantid-domain-association",
      "/.well-known/apple-developer-merchantid-domain-association", [:]
    ),
    ("POST", "/v1/ios/webhooks/stripe", "/v1/{app}/webhooks/stripe", ["app": "ios"]),
  ]

  @Test("Each path has its route", arguments: routes)
  func found(method: String, target: String, path: String, parameters: [String: String]) throws {
    #expect(try Self.find(method, target) == .route(path, parameters))
  }

  @Test(arguments: [
    "/", "", "*", "v1/ios/contexts", "/v1", "/v1/", "/v1/ios", "/v1/ios/", "/v2/ios/contexts",
    "/V1/ios/contexts", "/v1/ios/Contexts", "/v1/ios/context", "/v1/ios/users", "/v1/ios/users/u1",
    "/v1/ios/users/u1/contexts/ctx_1", "/v1/ios/users/u1/receipts", "/v1/ios/webhooks",
    "/v1/ios/webhooks/paypal",
    "/v1/ios/webhooks/afterpay", "/v1/ios/webhooks/stripe/x", "/v1/ios/contexts/ctx_1/x",
    "//v1/ios/contexts", "/v1//contexts",
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
  func `An unknown path is not found, with any method`(target: String) throws {
    for method in ["GET", "POST", "DELETE"] { #expect(try Self.find(method, target) == Found.none) }
  }

  @Test(arguments: ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "post", "Post", "POST ", ""])
  func `Another method is refused with those that are allowed`(method: String) throws {
    for target in ["/v1/ios/contexts", "/v1/ios/users/u/contexts", "/v1/ios/webhooks/stripe"] {
      #expect(try Self.find(method, target) == .allowed(["POST"]))
    }
    guard method != "GET", method != "HEAD" else { return }
    #expect(try Self.find(method, "/v1/ios/contexts/ctx_1") == .allowed(["GET", "HEAD"]))
  }

  @Test("A post to a checkout's state is refused with GET and HEAD, and the answer carries Allow")
  func allow() throws {
    let bench = try Bench([Bench.app()], isStarted: false)
    let head = RequestSamples.head("POST", "/v1/ios/contexts/ctx_1")
    guard case .answer(let response) = bench.listener().admit(head) else {
      Issue.record("the request was admitted")
      return
    }
    #expect(response.status == 405)
    #expect(response.headers.contains { $0.name == "Allow" && $0.value == "GET, HEAD" })
  }

  @Test(arguments: [
    "/v1/ios/users/%/contexts", "/v1/ios/users/%zz/contexts", "/v1/ios/users/%FF/contexts", "/%C3",
  ])
  func `A path that cannot be decoded is malformed`(target: String) throws {
    #expect(try Self.find("POST", target) == .malformed)
    guard
      case .answer(let response) = try Bench([Bench.app()], isStarted: false).listener()
        .admit(RequestSamples.head("POST", target))
    else {
      Issue.record("the request was admitted")
      return
    }
    #expect(response.status == 400)
  }

  @Test(arguments: ["/\u{338}v1/ios/contexts", "/v1/ios/\u{301}contexts", "/v1/ios\u{338}/\u{338}contexts"])
  func `A slash with a combining character is still a slash`(target: String) throws {
    #expect(try Self.find("POST", target) == Found.none)
    #expect(
      try Self.find("POST", "/v1/\u{338}ios/contexts") == .route("/v1/{app}/contexts", ["app": "\u{338}ios"]))
  }

  @Test func `A label in the metrics has no untrusted input (R7)`() throws {
    let labels: Set = [
      "contexts", "checkout", "context_status", "webhooks_stripe", "return", "return_logo", "swedbank",
      "trampoline", "claims", "claim_status", "claim_page", "return_claim", "store_purchases",
      "association_files", "webhooks_swedbank",
    ]
    #expect(Set(try Self.table.get().routes.map(\.label)) == labels)
  }

  @Test func `A path of a merchant backend has a label of its processor, which no other route has`() throws {
    let kinds = ProcessorRegistry.standard.kinds
    for kind in kinds {
      #expect(kind.backendEndpoints.allSatisfy { $0.label.hasPrefix("\(kind.name)_") })
    }
    let labels = kinds.flatMap { $0.backendEndpoints.map(\.label) }
    #expect(Set(labels).isDisjoint(with: try Self.table.get().routes.map(\.label)))
    #expect(
      labels.filter { $0.hasPrefix("afterpay") } == [
        "afterpay_configuration", "afterpay_checkout", "afterpay_capture", "afterpay_checkouts",
      ])
  }
}
