// Fetched key sets, from a scripted provider.

import Domain
import Formats
import Glibc
import HTTPClient
import Platform
import TestSupport
import Testing

@testable import Config
@testable import Daemon
@testable import HTTPServer
@testable import Service

@Suite("Fetched keys", .serialized) struct KeyFetcherTests {
  /// An identity provider with a key set, and a relay that fetches it.
  private final class Bed {
    private struct Provider {
      var status = "200 OK"
      var keys = ""
      var fetches = 0
      var followed = 0
      var isHeld = false
    }

    private let provider = Monitor(Provider())
    private let upstream: ScriptedServer
    let bench: Bench
    let fetcher: KeyFetcher
    let apps: AppRegistry
    let server: Server

    /// - Parameter clock: a manual clock by default, so that no pause between fetches ends on a busy
    ///   machine.
    init(keys: String, status: String = "200 OK", clock: any Clock = ManualClock()) throws {
      provider.withLock { ($0.keys, $0.status) = (keys, status) }
      let provider = provider
      upstream = try ScriptedServer { connection in
        while let request = connection.readRequest() {
          let answer = provider.update { provider in
            if request.hasPrefix("GET /moved ") { provider.followed += 1 }
            provider.fetches += 1
            return (provider.status, provider.keys)
          }
          let deadline = MonotonicInstant.now().advanced(by: .seconds(300))
          _ = provider.wait(until: deadline) { $0.isHeld ? nil : true }
          connection.answer(answer.0, answer.1)
        }
      }
      let url = "http://127.0.0.1:\(upstream.port)/jwks"
      bench = try Bench([Bench.app(client: TokenAccessTests.client(.fetched(url: url)))], clock: clock)
      fetcher = try bench.fetchKeys()
      apps = AppRegistry(bench.directory)
      server = try bench.serve(keyFetcher: fetcher, apps: apps)
    }

    /// Posts with a token whose key is unknown, while the provider holds its answer.
    func sendWaiting(_ issuer: TokenIssuer) throws -> RawClient {
      let claims = TokenAccessTests.claims("u-1")
      #expect(try post(try issuer.token(claims)).status == 201)
      hold(true)
      let client = try send(try issuer.token(claims, header: #"{"alg":"ES256","kid":"new"}"#))
      try waitForFetches(2)
      return client
    }

    deinit {
      hold(false)
      fetcher.windDown()
      server.stop(grace: .seconds(5))
      fetcher.stop()
      bench.stop()
      upstream.stop()
    }

    var fetches: Int { provider.withLock { $0.fetches } }

    /// The requests that followed a redirect.
    var followed: Int { provider.withLock { $0.followed } }

    func serve(_ keys: String, status: String = "200 OK") {
      provider.update { ($0.keys, $0.status) = (keys, status) }
    }

    func hold(_ isHeld: Bool) { provider.update { $0.isHeld = isHeld } }

    func waitForFetches(_ count: Int) throws {
      let done: Bool? = provider.wait(until: soon()) { $0.fetches >= count ? true : nil }
      try #require(done != nil)
    }

    func send(_ token: String) throws -> RawClient {
      let client = try RawClient(port: server.port)
      try client.post("/v1/shop/contexts", #"{"ply_context":"YQ=="}"#, "Authorization: Bearer \(token)\r\n")
      return client
    }

    func post(_ token: String) throws -> RawClient.Reply { try send(token).reply() }
  }

  private static let first = Result { try TokenIssuer(.p256, keyID: "first") }
  private static let second = Result { try TokenIssuer(.rsa, keyID: "second") }

  private func reason(_ reply: RawClient.Reply) throws -> JSONValue? {
    try JSONValue(parsing: reply.body)["reason"]
  }

  @Test(
    "The first request waits for the first keys; rotated keys are picked up, and withdrawn ones are dropped")
  func rotation() throws {
    let (first, second) = (try Self.first.get(), try Self.second.get())
    let bed = try Bed(keys: try TokenIssuer.keySet([first]))
    let claims = TokenAccessTests.claims("u-1")
    #expect(try bed.post(try first.token(claims)).status == 201)
    #expect(try bed.post(try first.token(claims)).status == 200)
    #expect(bed.fetches == 1)
    bed.serve(try TokenIssuer.keySet([second]))
    #expect(try bed.post(try second.token(claims)).status == 200)
    #expect(bed.fetches == 2)
    let withdrawn = try bed.post(try first.token(claims))
    // The key is gone; the next fetch, after ten seconds, decides whether it stays so.
    #expect(withdrawn.status == 503)
    #expect((1...10).contains(withdrawn.header("Retry-After").flatMap { Int($0) } ?? 0))
    #expect(bed.fetches == 2)
    #expect(bed.bench.metricsText.contains(#"receiptd_key_set_fetches_total{app="shop",result="fetched"} 2"#))
  }

  @Test func `A token that names no key is checked again with fetched keys: it may be of a new one`() throws {
    let (old, new) = (try Self.first.get(), try TokenIssuer(.p256, keyID: "next"))
    let bed = try Bed(keys: try TokenIssuer.keySet([old]))
    let claims = TokenAccessTests.claims("u-1")
    #expect(try bed.post(try old.token(claims)).status == 201)
    bed.serve(try TokenIssuer.keySet([new]))
    #expect(try bed.post(try new.token(claims, header: #"{"alg":"ES256"}"#)).status == 200)
    #expect(bed.fetches == 2)
  }

  @Test func `Many unknown keys cause one fetch, for which all requests wait without a thread`() throws {
    let first = try Self.first.get()
    let bed = try Bed(keys: try TokenIssuer.keySet([first]))
    let claims = TokenAccessTests.claims("u-1")
    #expect(try bed.post(try first.token(claims)).status == 201)
    bed.hold(true)
    let tokens = try (0..<20).map { try first.token(claims, header: #"{"alg":"ES256","kid":"k\#($0)"}"#) }
    let clients = try tokens.map { try bed.send($0) }
    try bed.waitForFetches(2)
    // Other requests are served meanwhile, although more wait than there are threads.
    #expect(try bed.post(try first.token(claims)).status == 200)
    #expect(clients.allSatisfy { !$0.hasNews })
    bed.hold(false)
    let replies = try clients.map { try $0.reply() }
    // A request that caused the fetch, or came before it began, is refused; the others must retry.
    let refused = replies.filter { $0.status == 401 }
    #expect(!refused.isEmpty)
    #expect(refused.count + replies.filter { $0.status == 503 }.count == replies.count)
    for reply in refused { #expect(try reason(reply) == "unknown_key") }
    for number in 100..<200 {
      let token = try first.token(claims, header: #"{"alg":"ES256","kid":"\#(number)"}"#)
      let reply = try bed.post(token)
      #expect(reply.status == 503)
      #expect(reply.header("Retry-After") != nil)
    }
    #expect(bed.fetches == 2)
  }

  @Test func `Without keys the answer is 503 with Retry-After, never 401, until keys are fetched`() throws {
    let first = try Self.first.get()
    let bed = try Bed(keys: "no keys", status: "500 Internal Server Error", clock: SystemClock())
    try bed.bench.waitForLog("could not fetch an app's key set")
    let token = try first.token(TokenAccessTests.claims("u-1"))
    let reply = try bed.post(token)
    #expect(reply.status == 503)
    #expect(reply.header("Retry-After") != nil)
    #expect(try JSONValue(parsing: reply.body)["type"] == "urn:receiptd:problem:keys-unavailable")
    // Refused without keys, because no key could change it.
    #expect(try bed.post(try first.token([:], header: #"{"alg":"none"}"#)).status == 401)
    bed.serve(try TokenIssuer.keySet([first]))
    try bed.bench.waitForLog("fetched an app's key set")
    #expect(try bed.post(token).status == 201)
  }

  static let failures: [(String, String)] = [
    ("200 OK", "<html>"), ("302 Found\r\nLocation: /moved", ""), ("404 Not Found", "{}"),
    ("200 OK", #"{"keys":[]}"#),
    ("200 OK", #"{"keys":[{"kty":"oct","k":"\#(String(repeating: "A", count: 48))"}]}"#),
  ]

  @Test("When the provider fails, the keys that were fetched before stay valid", arguments: failures)
  func failing(status: String, keys: String) throws {
    let first = try Self.first.get()
    let bed = try Bed(keys: try TokenIssuer.keySet([first]))
    let claims = TokenAccessTests.claims("u-1")
    #expect(try bed.post(try first.token(claims)).status == 201)
    #expect(bed.fetches == 1)
    bed.serve(keys, status: status)
    let unknown = try bed.post(try Self.second.get().token(claims))
    #expect(unknown.status == 503)
    #expect(bed.fetches >= 2)
    #expect(try bed.post(try first.token(claims)).status == 200)
    try bed.bench.waitForLog("could not fetch an app's key set")
    #expect(bed.followed == 0)
    #expect(!bed.bench.logText.contains("html"))
  }

  @Test func `A secret in a fetched set is not a key, because anyone could have fetched it`() throws {
    let (first, secret) = (try Self.first.get(), try TokenIssuer(.secret, keyID: "s"))
    let bed = try Bed(keys: try TokenIssuer.keySet([first, secret]))
    #expect(try bed.post(try first.token(TokenAccessTests.claims("u-1"))).status == 201)
    let reply = try bed.post(try secret.token(TokenAccessTests.claims("u-1")))
    #expect(reply.status == 401)
    // No fetch could bring a key for it, so it causes none.
    #expect(try reason(reply) == "algorithm")
    #expect(bed.fetches == 1)
  }

  @Test func `A reload that changes the key set answers waiting requests with Retry-After`() throws {
    let first = try Self.first.get()
    let bed = try Bed(keys: try TokenIssuer.keySet([first]))
    let client = try bed.sendWaiting(first)
    let (closed, port) = try openSocket()
    defer { Glibc.close(closed) }
    let app = Bench.app(client: TokenAccessTests.client(.fetched(url: "http://127.0.0.1:\(port)/")))
    bed.fetcher.use(try AppDirectory(Configuration(database: .file("-"), apps: [app])))
    let reply = try client.reply()
    #expect(reply.status == 503)
    #expect(reply.header("Retry-After") == "1")
    #expect(try JSONValue(parsing: reply.body)["type"] == "urn:receiptd:problem:keys-unavailable")
  }

  @Test func `A token is checked by the configuration after its fetch: without its app it is 404`() throws {
    let first = try Self.first.get()
    let bed = try Bed(keys: try TokenIssuer.keySet([first]))
    let client = try bed.sendWaiting(first)
    bed.apps.replace(with: try AppDirectory(Configuration(database: .file("-"), apps: [Bench.app("other")])))
    bed.hold(false)
    let reply = try client.reply()
    #expect(reply.status == 404)
    #expect(try JSONValue(parsing: reply.body)["type"] == "urn:receiptd:problem:unknown-app")
  }

  /// Sends nothing, and records the sleeps and wakes.
  private final class DeadTransport: HTTPTransport {
    private let state = Monitor<(sleeps: [Duration], wakes: Int)>(([], 0))

    func start(_ request: TransferRequest, tag: UInt64) throws(TransferFailure) { throw .connectFailed }

    func run(timeout: Duration) -> [TransferCompletion] {
      state.update { $0.sleeps.append(timeout) }
      let isWoken: Bool? = state.wait(until: soon()) { $0.wakes > 0 ? true : nil }
      if isWoken != nil { state.update { $0.wakes -= 1 } }
      return []
    }

    func cancel(tag: UInt64) {}

    func cancelAll() -> [TransferCompletion] { [] }
    func wake() { state.update { $0.wakes += 1 } }

    var firstSleep: Duration? { state.wait(until: soon()) { $0.sleeps.first } }
  }

  @Test func `A fetch that could not start is retried like one that failed`() throws {
    let app = Bench.app(client: TokenAccessTests.client(.fetched(url: "http://127.0.0.1/")))
    let bench = try Bench([app], isStarted: false)
    let transport = DeadTransport()
    let fetcher = try bench.fetchKeys(by: transport)
    defer { fetcher.stop() }
    #expect(try #require(transport.firstSleep) <= .milliseconds(1001))
    #expect(bench.logText.contains("could not fetch an app's key set"))
  }

  @Test func `A stop answers requests that wait for a provider with Retry-After`() throws {
    let first = try Self.first.get()
    let bed = try Bed(keys: try TokenIssuer.keySet([first]))
    let claims = TokenAccessTests.claims("u-1")
    #expect(try bed.post(try first.token(claims)).status == 201)
    bed.hold(true)
    let client = try bed.send(try first.token(claims, header: #"{"alg":"ES256","kid":"new"}"#))
    try bed.waitForFetches(2)
    bed.fetcher.windDown()
    #expect(try client.reply().status == 503)
  }
}
