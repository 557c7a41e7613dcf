// nginx from Debian in front of receiptd, as in deploy/nginx: TLS, targets byte for byte, and only the public
// paths.

import Formats
import Testing

@Suite(.withDaemonLog, .enabled(if: Proxy.isPossible, "nginx, curl and openssl are needed"))
struct NginxTests {
  @Test func `A checkout goes through nginx over TLS, and no id of it into a log`() throws {
    let links: JSONValue = [
      "origin": "https://pay.example.com", "checkout": ["price_1": "https://buy.stripe.com/test_1"],
    ]
    try withRelay(app: ["links": links]) { relay, _ in
      let proxy = try Proxy(relayPort: relay.outside.api.port)
      let blob = Base64.encode(Array(#"{"stripe_price_id":"price_1"}"#.utf8))
      let reply = try proxy.ask(
        "/v1/shop/users/jane/checkout",
        options: [
          "-H", "X-API-KEY: \(Secrets.clientKey)", "-H", "Content-Type: application/json", "-d",
          #"{"ply_context":"\#(blob)"}"#,
        ])
      let location = try #require(reply.header("location"))
      let page = "https://buy.stripe.com/test_1?client_reference_id="
      #expect(reply.status == 303)
      #expect(location.hasPrefix(page))
      #expect(reply.header("strict-transport-security") != nil)
      #expect(reply.header("x-request-id") != nil)
      let id = String(location.dropFirst(page.count))
      let state = try proxy.ask("/v1/shop/contexts/\(id)")
      #expect(state.status == 200)
      #expect(state.text.contains(#""state":"open""#))
      // For every user id, and for paths that do not exist.
      for path in ["a%2Fjane/checkout", "jane@x.test/checkout/", "jane/Checkout", "jane"] {
        #expect(try proxy.ask("/v1/shop/users/\(path)").status >= 400)
      }
      _ = try proxy.ask("/v1/shop/webhooks/swedbank/path-secret")
      _ = try proxy.ask("/v1/shop/swedbank/payers/payer-secret/paymentTokens")
      try relay.stop()
      #expect(try proxy.ask("/v1/shop/return?context_id=\(id)").status == 503)
      // No log contains the checkout's id or the user's.
      let logged = proxy.accessLog
      #expect(logged.contains("POST /v1/shop/users/-"))
      #expect(logged.contains("GET /v1/shop/contexts/-"))
      #expect(logged.contains("GET /v1/shop/return\""))
      for log in [logged, proxy.errorLog] {
        #expect(!log.contains(id), "\(log)")
        #expect(!log.contains("jane"), "\(log)")
        #expect(!log.contains("-secret"), "\(log)")
      }
    }
  }

  @Test("Only the public paths are passed on, and a relay that is down means 503 with Retry-After")
  func onlyPublicPaths() throws {
    try withRelay { relay, _ in
      let proxy = try Proxy(relayPort: relay.outside.api.port)
      for path in [
        "/", "/metrics", "/healthz", "/v1/../metrics", "/v2/shop/contexts", "/.well-known/security.txt",
      ] {
        #expect(try proxy.ask(path).status == 404)
      }
      #expect(try proxy.ask("/v1/shop/contexts").status == 405)
      try relay.stop()
      let away = try proxy.ask("/v1/shop/contexts/ctx_1")
      #expect(away.status == 503)
      #expect(away.header("retry-after") == "5")
      #expect(away.header("content-type") == "application/problem+json")
      let problem = try JSONValue(parsing: Array(away.text.utf8))
      #expect(problem["status"] == 503)
      #expect(problem["type"] == "urn:receiptd:problem:away")
    }
  }
}
