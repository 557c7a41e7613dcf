// Which connection a transfer uses, and for how long it may take. Kept connections that fell silent, names
// that move, name servers that are slow, proxies.

import Platform
import TestSupport
import Testing

@testable import HTTPClient

@Suite("Connections and their time", .serialized)
struct FreshConnectionTests {
  /// The first connection answers one request and then falls silent; later ones answer everything.
  private static func silentAfterOne() -> @Sendable (ScriptedConnection) -> Void {
    let connections = Monitor(0)
    return { connection in
      connections.update { $0 += 1 }
      let isFirst = connections.withLock { $0 } == 1
      while connection.readRequest() != nil {
        connection.answer()
        if isFirst { return connection.waitForClose() }
      }
    }
  }

  @Test func `After a time-out on a kept connection, the next request uses a new one`() throws {
    try withServer(Self.silentAfterOne()) { server in
      let pool = try makePool()
      #expect(try perform(server.request(), on: pool).status == 200)
      #expect(try perform(server.request(timeout: .milliseconds(100)), on: pool).failure == .timeout)
      for _ in 0..<2 { #expect(try perform(server.request(), on: pool).status == 200) }
      #expect(server.accepted == 2)
    }
  }

  @Test func `An HTTP/2 connection that fell silent is not asked again`() throws {
    let certificate = try SelfSignedCertificate(for: "DNS:localhost")
    // It serves one connection at a time: the second one begins when the first one is closed.
    let server = try TLSServer(certificate, ["-alpn", "h2"])
    let pool = try makePool()
    var request = server.request(certificate)
    request.timeout = .milliseconds(300)
    #expect(try perform(request, on: pool).failure == .timeout)
    request.timeout = .seconds(8)
    try pool.start(request, tag: 1)
    let deadline = MonotonicInstant.now().advanced(by: .seconds(8))
    func prefaces() -> Int { server.process.printed.split(separator: "PRI * HTTP/2.0").count - 1 }
    while prefaces() < 2, MonotonicInstant.now() < deadline {
      #expect(pool.run(timeout: .milliseconds(10)).isEmpty)
      server.process.read(within: .zero)
    }
    #expect(prefaces() == 2)
  }

  @Test func `A request for a fresh connection gets one, and later requests share it`() throws {
    try withServer({ while $0.readRequest() != nil { $0.answer() } }) { server in
      let pool = try makePool()
      var request = server.request()
      _ = try perform(request, on: pool)
      request.wantsFreshConnection = true
      _ = try perform(request, on: pool)
      request.wantsFreshConnection = false
      _ = try perform(request, on: pool)
      #expect(server.accepted == 2)
    }
  }

  @Test("The connections of an origin are replaced after a minute, and after a failure, not before")
  func lifetime() throws {
    var caches = ConnectionCaches(originsMax: 2)
    func at(_ seconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }
    let first = try caches.cache(of: "a", isFresh: false, now: at(0))
    #expect(try caches.cache(of: "a", isFresh: false, now: at(59)) === first)
    let second = try caches.cache(of: "a", isFresh: false, now: at(60))
    #expect(second !== first)
    caches.retire(first)
    #expect(try caches.cache(of: "a", isFresh: false, now: at(61)) === second)
    caches.retire(second)
    let third = try caches.cache(of: "a", isFresh: false, now: at(62))
    #expect(third !== second)
    _ = try caches.cache(of: "b", isFresh: false, now: at(63))
    _ = try caches.cache(of: "c", isFresh: false, now: at(64))
    #expect(try caches.cache(of: "a", isFresh: false, now: at(65)) !== third, "the oldest of three made room")
  }

  private static let start = MonotonicInstant(nanoseconds: 5)

  private static func after(_ milliseconds: Int64) -> MonotonicInstant {
    start.advanced(by: .milliseconds(milliseconds))
  }

  @Test func `A name lookup has its own ten seconds, and takes nothing from the other timeouts`() {
    var clock = TransferClock(timeout: .seconds(10), connectTimeout: .seconds(3), now: Self.start)
    #expect(clock.deadline == Self.after(3000), "a kept connection or a known address")
    clock.lookupBegan(now: Self.after(100))
    #expect(clock.deadline == Self.after(10_100))
    #expect(clock.connectLimit(now: Self.after(5100)) == 8100)
    #expect(clock.overrun == "the name lookup timed out after 10000 ms")
    clock.connectBegan(now: Self.after(5100))
    #expect(clock.deadline == Self.after(8100))
    clock.connectBegan(now: Self.after(6000))
    #expect(clock.deadline == Self.after(8100), "a second address has no separate time")
    #expect(clock.overrun == "connecting timed out after 3000 ms")
    clock.exchangeBegan(now: Self.after(7000))
    #expect(clock.deadline == Self.after(15_000))
    #expect(clock.overrun == "timed out after 10000 ms")
    // A kept connection was dead: libcurl connects again within the same transfer.
    clock.lookupBegan(now: Self.after(8000))
    clock.connectBegan(now: Self.after(9000))
    #expect(clock.deadline == Self.after(12_000))
    clock.exchangeBegan(now: Self.after(9500))
    #expect(clock.deadline == Self.after(16_000))
  }

  @Test(
    "NO_PROXY names hosts, their subdomains, addresses and networks; credentials are never shown (R7)",
    arguments: [
      ("pay.example", true), ("example", true), ("s2s.internal", false), ("S2S.Internal.", false),
      ("notinternal", true), ("10.1.2.3", false), ("11.1.2.3", true), ("[2001:db8::1]", false),
      ("192.0.2.1", false), ("192.0.2.10", true), ("exact.test", false), ("www.exact.test", false),
    ])
  func exceptions(host: String, isProxied: Bool) {
    let settings = ProxySettings(
      Environment([
        "HTTPS_PROXY": "http://user:hidden@proxy.example:3128/", "https_proxy": "",
        "NO_PROXY": ".internal, 10.0.0.0/8 192.0.2.1,2001:db8::/32,exact.test.",
      ]))
    #expect(settings.applies(to: host) == isProxied)
    #expect(settings.address == "proxy.example:3128")
    #expect(!ProxySettings(Environment(["NO_PROXY": "x"])).applies(to: host))
    #expect(!ProxySettings(Environment(["https_proxy": "p:1", "no_proxy": "*"])).applies(to: host))
  }

  @Test func `A refusal by the proxy names the proxy, not the server`() throws {
    try withServer({ connection in
      _ = connection.readRequest()
      connection.answer("403 Forbidden", "")
    }) { server in
      let proxies = ProxySettings(Environment(["https_proxy": "http://u:hidden@127.0.0.1:\(server.port)"]))
      let pool = try TransferPool(connectionsMax: 1, proxies: proxies)
      let result = try perform(TransferRequest(method: .post, url: "https://receipts.invalid/"), on: pool)
      #expect(result.failure == .proxyFailed)
      #expect(!result.requestWasSent)
      let detail = try #require(result.detail)
      let start = "the proxy 127.0.0.1:\(server.port), asked for receipts.invalid:443: "
      #expect(detail.hasPrefix(start), "\(detail)")
      #expect(detail.contains("403"))
      #expect(!detail.contains("hidden"))
    }
  }

  @Test func `A proxy that refuses connections is named, with the reason`() throws {
    let port = try ReservedPort()
    let proxies = ProxySettings(Environment(["ALL_PROXY": "127.0.0.1:\(port.number)"]))
    let pool = try TransferPool(connectionsMax: 1, proxies: proxies)
    let result = try perform(TransferRequest(method: .post, url: "https://receipts.invalid/"), on: pool)
    let detail = "the proxy 127.0.0.1:\(port.number), asked for receipts.invalid:443: Connection refused"
    #expect(result.failureText == "proxy_failed: \(detail)")
    // Loopback never goes through it.
    let direct = try withServer({ if $0.readRequest() != nil { $0.answer() } }) {
      try perform($0.request(), on: pool)
    }
    #expect(direct.status == 200)
    #expect(direct.route == "127.0.0.1")
  }

  @Test func `No coding is accepted, and an answer that has one is a failure with a status`() throws {
    let received = Monitor("")
    let result = try withServer({ connection in
      let request = connection.readRequest() ?? ""
      received.update { $0 = request }
      connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nxx")
    }) { try perform($0.request()) }
    #expect(received.withLock { $0 }.contains("\r\nAccept-Encoding: identity\r\n"))
    #expect(result.status == 200)
    #expect(result.failure == .codedAnswer)
    #expect(
      try HTTPClientTests.result(ofAnswer: "HTTP/1.1 200 OK\r\nContent-Encoding: Identity\r\n\r\n").failure
        == nil)
  }
}
