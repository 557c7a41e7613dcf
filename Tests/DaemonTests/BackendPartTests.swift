// The parts of merchant backends that need no server: caching, places, calls, paths.

import Domain
import Formats
import HTTPClient
import Partners
import Platform
import TestSupport
import Testing

@testable import Config
@testable import Daemon

@Suite("Parts of merchant backends")
struct BackendPartTests {
  private static let place = AppProcessor("shop", "toy")
  private static let start = MonotonicInstant(nanoseconds: 0)

  private static func result(
    _ status: Int? = 200, _ body: String = "b", cacheControl: [String] = [], failure: TransferFailure? = nil,
    wasSent: Bool = true
  ) -> TransferResult {
    TransferResult(
      status: status, headers: cacheControl.map { TransferHeader("Cache-Control", $0) },
      body: Array(body.utf8), failure: failure, requestWasSent: wasSent, duration: .zero)
  }

  private static let ages: [([String], Duration)] = [
    ([], .minutes(5)), (["public"], .minutes(5)), (["max-age=60"], .seconds(60)),
    (["Public, MAX-AGE = \"30\""], .seconds(30)), (["public", "max-age=7"], .seconds(7)),
    (["max-age=86400"], .hours(1)), (["max-age=99999999999999999999"], .hours(1)), (["max-age=0"], .zero),
    (["no-store"], .zero), (["max-age=60, no-cache"], .zero), (["max-age"], .zero), (["max-age=-1"], .zero),
    (["max-age=1e3"], .zero), (["s-maxage=60"], .minutes(5)),
  ]

  @Test(arguments: ages)
  func `An answer is fresh as long as it says, at most an hour`(fields: [String], age: Duration) {
    #expect(BackendCache.freshness(fields) == age)
    var cache = BackendCache()
    cache.store(Self.result(cacheControl: fields), to: "/x", of: Self.place, now: Self.start)
    let last = Self.start.advanced(by: age - .nanoseconds(1))
    #expect((cache.reply(to: "/x", of: Self.place, now: last) != nil) == (age > .zero))
    #expect(cache.reply(to: "/x", of: Self.place, now: Self.start.advanced(by: age)) == nil)
  }

  @Test func `Only a whole 200 of moderate length is kept`() {
    var cache = BackendCache()
    let long = String(repeating: "x", count: BackendCache.bodyBytesMax + 1)
    for result in [
      Self.result(201), Self.result(500), Self.result(302), Self.result(nil, failure: .timeout),
      Self.result(200, failure: .connectionLost), Self.result(200, long),
    ] {
      cache.store(result, to: "/x", of: Self.place, now: Self.start)
    }
    #expect(cache.reply(to: "/x", of: Self.place, now: Self.start) == nil)
  }

  @Test func `An app's processor has a few cached answers; the oldest go first`() {
    var cache = BackendCache()
    let count = BackendCache.entriesMax + 3
    for number in 0..<count {
      let now = Self.start.advanced(by: .seconds(number))
      cache.store(Self.result(), to: "/\(number)", of: Self.place, now: now)
      cache.store(Self.result(), to: "/0", of: AppProcessor("other", "toy"), now: now)
    }
    let now = Self.start.advanced(by: .seconds(count))
    let kept = (0..<count).filter { cache.reply(to: "/\($0)", of: Self.place, now: now) != nil }
    #expect(kept == Array(3..<count))
    #expect(cache.reply(to: "/0", of: AppProcessor("other", "toy"), now: now) != nil)
  }

  @Test func `The apps share all places, and each has a few`() {
    for apps in [0, 1, 8, 100, 256, 10_000] {
      var places = BackendPlaces(apps: apps)
      var count = 0
      while places.acquire("shop") { count += 1 }
      #expect(count >= 1)
      #expect(count <= BackendPlaces.shareMax)
      let isShared = count * apps <= BackendWorker.transfersMax
      #expect(isShared || count == BackendPlaces.shareMin)
      let other = places.acquire("other")
      #expect(other)
      places.release("shop")
      let again = [places.acquire("shop"), places.acquire("shop")]
      #expect(again == [true, false])
    }
  }

  @Test func `Only a call that never left is known not to have arrived`() {
    #expect(BackendReply(Self.result(404)) == .answer(status: 404, contentType: nil, body: Array("b".utf8)))
    #expect(BackendReply(Self.result(nil, failure: .connectFailed, wasSent: false)) == .unreachable)
    #expect(BackendReply(Self.result(nil, failure: .timeout, wasSent: false)) == .unreachable)
    #expect(BackendReply(Self.result(nil, failure: .timeout)) == .noAnswer(isTimeout: true))
    #expect(BackendReply(Self.result(nil, failure: .cancelled)) == .noAnswer(isTimeout: false))
    #expect(BackendReply(Self.result(200, failure: .timeout)) == .noAnswer(isTimeout: true))
    #expect(BackendReply(Self.result(200, failure: .answerTooLarge)) == .noAnswer(isTimeout: false))
    #expect(BackendReply(.poolFull) == .busy)
    #expect(BackendReply(.refusedHeader) == .unreachable)
  }

  @Test func `A call's own headers replace the backend's; its method must be known`() throws {
    let toy = ToyProcessor(token: "t", apiKey: "k", apiBase: "https://toy.example")
    let backend = try #require(toy.backend)
    let call = BackendCall(
      "PATCH", "/a", headers: ["content-type": "a/b", "User-Agent": "own"], body: [1], timeout: .seconds(7))
    let request = try #require(call.request(to: backend.base, backend.headers))
    #expect(request.method == .patch)
    #expect(request.url == "https://toy.example/a")
    #expect(
      request.headers == [
        TransferHeader(ToyProcessor.keyHeader, "k"), TransferHeader("User-Agent", "own"),
        TransferHeader("content-type", "a/b"),
      ])
    #expect(request.timeout == .seconds(7))
    #expect(
      BackendCall("DELETE", "/a", timeout: .seconds(1))
        .request(to: backend.base, backend.headers) == nil)
  }

  @Test(
    "The root is the path without the endpoint, as it was written",
    arguments: [
      ("", "/v1/a/toy/", "/v1/a/toy/"), ("orders", "/v1/a/toy/orders", "/v1/a/toy/"),
      ("orders/{id}/x", "/v1/%61/users/u%2F1/toy/orders/%2F/x", "/v1/%61/users/u%2F1/toy/"),
      ("orders", "/v1/a/toy/\u{301}orders", "/v1/a/toy/"),
    ])
  func root(pattern: String, path: String, root: String) {
    let endpoint = BackendEndpoint("GET", pattern, label: "x")
    #expect(endpoint.root(of: path) == root)
  }

  @Test("Every endpoint has a known method, a label that no other has, and none of the relay's parameters")
  func endpoints() {
    for kind in ProcessorRegistry.standard.kinds + [.toy] {
      #expect(kind.backendEndpoints.isEmpty || kind.backendType != nil)
      #expect(Set(kind.backendEndpoints.map(\.label)).count == kind.backendEndpoints.count)
      for endpoint in kind.backendEndpoints {
        #expect(["GET", "POST", "PATCH"].contains(endpoint.method))
        #expect(endpoint.label.hasPrefix("\(kind.name)_"))
        for name in ["{app}", "{user}"] { #expect(!endpoint.path.contains(name)) }
      }
    }
  }
}
