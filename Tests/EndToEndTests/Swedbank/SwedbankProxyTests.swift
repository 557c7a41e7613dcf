// Swedbank Pay's helpers behind nginx, as in deploy/nginx: two names, TLS, and every byte of the target.

import Formats
import Testing

@Suite(.withDaemonLog, .enabled(if: Proxy.isPossible, "nginx, curl and openssl are needed"))
struct SwedbankProxyTests {
  @Test(
    "Behind nginx both host names work, and no byte of the target changes (SC02, SC06–SC09)")
  func bothNames() throws {
    let page = "https://back.pay.example.com\(Swedbank.trampoline)"
    try withRelay(app: Swedbank.links(page: page)) { relay, _ in
      let proxy = try Proxy(relayPort: relay.outside.api.port)
      let query = "scheme=ShopApp&language=nb&id=%e2+%2B%2f..%2F&x={}|^`;&&y=100%"
      let first = try proxy.ask("\(Swedbank.ios)?\(query)", host: "pay.example.com")
      let location = try #require(first.header("location"))
      #expect(first.status == 301)
      #expect(location.hasPrefix("\(page)?target=https%3A%2F%2Fpay.example.com%2Fv1"))
      let target = String(location.dropFirst("https://back.pay.example.com".count))
      let second = try proxy.ask(target, host: "back.pay.example.com")
      let link = "\(Swedbank.origin)\(Swedbank.ios)?\(query)&fallback=true"
      #expect(second.status == 200)
      #expect(second.links == [link])
      let last = try proxy.ask(String(link.dropFirst(Swedbank.origin.count)))
      #expect(
        last.header("location") == "ShopApp://pay.example.com\(Swedbank.ios)?\(query)&fallback=true")
      let android = try proxy.ask("\(Swedbank.android)?package=a.b&\(query)", host: "back.pay.example.com")
      let intent = "intent://pay.example.com\(Swedbank.android)?package=a.b&\(query)#Intent;"
      #expect(android.status == 200)
      #expect(android.refresh?.hasPrefix(intent) == true)
      #expect(!proxy.accessLog.contains("ShopApp"), "the log has no query")
    }
  }

  @Test func `nginx accepts the longest possible redirect, and its target`() throws {
    try withRelay(app: Swedbank.links(page: "https://back.pay.example.com\(Swedbank.trampoline)")) {
      relay, _ in
      let proxy = try Proxy(relayPort: relay.outside.api.port)
      let name = String(repeating: "%7B", count: 256)
      let start = "\(Swedbank.ios)?scheme=a&language=en&app=\(name)&x="
      let count = 2048 - start.utf8.count - "&fallback=true".utf8.count
      let first = try proxy.ask(start + String(repeating: "{", count: count))
      let location = try #require(first.header("location"))
      #expect(first.status == 301)
      #expect(location.utf8.count > 5000)
      let second = try proxy.ask(
        String(location.dropFirst("https://back.pay.example.com".count)), host: "back.pay.example.com")
      #expect(second.status == 200)
      #expect(second.links.first?.utf8.count == 2048 + Swedbank.origin.utf8.count)
    }
  }
}
