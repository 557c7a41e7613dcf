// The association files through nginx over TLS, as devices request them.

import Formats
import Testing

@Suite(.withDaemonLog, .enabled(if: Proxy.isPossible, "nginx, curl and openssl are needed"))
struct NginxAssociationTests {
  @Test func `Devices get both files over TLS, at once (SC20, SH01, SH10)`() throws {
    let links: JSONValue = [
      "origin": "https://pay.example.com",
      "ios": ["app_ids": ["ABCDE12345.com.example.app"], "paths": ["/buy/*"]],
      "android": [
        "packages": [
          [
            "name": "com.example.app",
            "sha256_cert_fingerprints": [.string(String(repeating: "0a", count: 32))],
          ]
        ]
      ],
    ]
    try withRelay(app: ["links": links]) { relay, _ in
      let proxy = try Proxy(relayPort: relay.outside.api.port)
      for path in [
        "/.well-known/apple-app-site-association", "/apple-app-site-association",
        "/.well-known/assetlinks.json",
      ] {
        let reply = try proxy.ask(path)
        #expect(reply.status == 200, "\(path)")
        #expect(reply.header("content-type") == "application/json", "\(path)")
        #expect(reply.header("cache-control") == "public, max-age=3600")
        #expect(reply.header("location") == nil)
        let tag = try #require(reply.header("etag"))
        #expect(try proxy.ask(path, options: ["-H", "If-None-Match: \(tag)"]).status == 304)
        #expect(reply.text.contains("com.example.app"))
      }
    }
  }
}
