// The association files of a running receiptd: served, reloaded, checked before, and read by receiptctl.

import Formats
import Glibc
import TestSupport
import Testing

@Suite(.withDaemonLog) struct AssociationTests {
  private static let apple = "/.well-known/apple-app-site-association"
  private static let android = "/.well-known/assetlinks.json"

  private static func links(_ more: JSONValue = [:]) -> JSONValue {
    let links: JSONValue = [
      "origin": "https://pay.example.com", "swedbank": [:],
      "ios": ["app_ids": ["ABCDE12345.com.example.app"], "paths": ["NOT /admin/*", "/buy/*"]],
      "android": [
        "packages": [
          [
            "name": "com.example.app",
            "sha256_cert_fingerprints": [.string(String(repeating: "0a", count: 32))],
          ]
        ]
      ],
    ]
    return ["links": links.merging(more)]
  }

  /// Requests a host name of the relay's, which is not that of this machine.
  private static func get(_ relay: Relay, _ path: String, tag: String = "\"none\"") throws -> Reply {
    let wire = try Wire(relay.outside.api.port)
    try wire.send(
      "GET \(path) HTTP/1.1\r\nHost: pay.example.com\r\nIf-None-Match: \(tag)\r\nConnection: close\r\n\r\n")
    return try wire.reply()
  }

  @Test("Both files are served without a key, and a reload changes them and their tags (SC20, SH01, SH09)")
  func reload() throws {
    try withRelay(app: Self.links()) { relay, _ in
      let first = try Self.get(relay, Self.apple)
      #expect(first.status == 200)
      #expect(first.header("Content-Type") == "application/json")
      let tag = try #require(first.header("ETag"))
      #expect(try Self.get(relay, Self.apple, tag: tag).status == 304)
      let paths = first.json?["applinks"]?["details"]
      #expect(paths?.text.contains(#""/v1/shop/swedbank/sdk-callback/*""#) == true)
      let statements = try Self.get(relay, Self.android)
      #expect(statements.text.contains(#""0A:0A:0A:"#))
      #expect(!statements.text.contains("get_login_creds"))
      #expect(statements.header("Location") == nil)

      relay.configuration = relay.configuration.merging(
        [
          "apps": [
            "shop": Self.links(["ios": ["paths": ["/sell/*"]], "android": ["get_login_creds": true]])
          ]
        ])
      try relay.writeAndReload()
      try waitUntil("the new file is served") {
        try Self.get(relay, Self.apple, tag: tag).status == 200
      }
      let second = try Self.get(relay, Self.apple)
      #expect(second.text.contains("/sell/*"))
      #expect(
        try Self.get(relay, Self.android).text.contains(
          #""delegate_permission/common.handle_all_urls","delegate_permission/common.get_login_creds"]"#))
      #expect(second.header("ETag") != tag)

      // After a restart the file and its tag are the same.
      try relay.stop()
      try relay.start()
      #expect(try Self.get(relay, Self.apple).header("ETag") == second.header("ETag"))
    }
  }

  @Test func `receiptd --check names values that devices would reject (SH02, SH04, SH12)`() throws {
    let destination = try Destination()
    defer { destination.stop() }
    let wrong: [(JSONValue, String)] = [
      (
        ["android": ["packages": [["name": "app", "sha256_cert_fingerprints": ["aa:bb"]]]]],
        "apps.shop.links.android.packages[0].name"
      ),
      (
        [
          "android": [
            "packages": [
              ["name": "a.b", "sha256_cert_fingerprints": [.string(String(repeating: "a", count: 62))]]
            ]
          ]
        ], "apps.shop.links.android.packages[0].sha256_cert_fingerprints[0]: has 31 bytes"
      ),
      (["ios": ["app_ids": ["com.example.app"]]], "apps.shop.links.ios.app_ids[0]"),
      (["ios": ["paths": ["NOT /v1/*"]]], "apps.shop.links.ios.paths[0]: keeps /v1/shop/swedbank/"),
      (
        ["ios": ["paths": .array((0..<500).map { .string("/\(String(repeating: "x", count: 400))\($0)") })]],
        "apps.shop.links.ios: of pay.example.com: would be a file of"
      ),
    ]
    for (more, words) in wrong {
      let relay = try Relay(destination, app: Self.links(more))
      try relay.writeConfiguration()
      let ran = try ShellRun([Program.receiptd, "--check", "--config", relay.configurationPath])
      #expect(ran.code == 78, "\(ran.output)")
      #expect(ran.output.contains(words), "\(ran.output)")
    }
  }

  @Test func `receiptctl asks the running relay as Apple's and Google's servers would`() throws {
    try withRelay(app: Self.links()) { relay, _ in
      let port = relay.outside.api.port
      relay.configuration = relay.configuration.merging([
        "listen": ["port": .integer(Int64(port))],
        "apps": ["shop": Self.links(["origin": .string("http://127.0.0.1:\(port)")])],
      ])
      try relay.writeConfiguration()
      let ctl = relay.receiptctlCommand + ["links", "check"]
      let before = try ShellRun(ctl + ["--fetch"])
      #expect(before.code == 1)
      #expect(before.output.contains("answers with status 404 instead of 200"))
      relay.signal(SIGHUP)
      try waitUntil("the host is known") {
        try relay.outside.api.request("GET", Self.apple).status == 200
      }
      let after = try ShellRun(ctl + ["--fetch"])
      #expect(after.code == 0, "\(after.output)")
      #expect(after.output.ranges(of: "ok, as configured").count == 2, "\(after.output)")
      let verdict = try ShellRun(ctl + ["http://127.0.0.1:\(port)/buy/7", "--json"])
      #expect(verdict.output.contains(#""opens":"app""#))
      #expect(verdict.output.contains(#""rule":2"#))
    }
  }
}
