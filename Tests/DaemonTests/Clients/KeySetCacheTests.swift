// The due times of key sets, with times that the test passes.

import Cryptography
import Formats
import Platform
import Testing

@testable import Daemon

@Suite("When keys are fetched") struct KeySetCacheTests {
  private static let start = MonotonicInstant(nanoseconds: 1_000_000_000_000)
  private static let keys = Result { try KeySet(reading: Array(#"{"keys":[]}"#.utf8)) }

  private func at(_ seconds: Int64) -> MonotonicInstant {
    Self.start.advanced(by: .seconds(seconds))
  }

  /// A cache whose first fetch is done.
  private func cache() throws -> KeySetCache {
    var cache = KeySetCache(url: "https://id.example.com/jwks", now: at(0))
    #expect(cache.prospect("k", now: at(0)) == .fetch)
    #expect(cache.begin(now: at(0)) == true)
    #expect(cache.begin(now: at(0)) == false)
    _ = cache.finish(try Self.keys.get(), maxAge: nil, now: at(0))
    return cache
  }

  @Test("Keys are fetched at the answer's interval within bounds, else every quarter of an hour")
  func intervals() throws {
    for (age, seconds) in [(nil, 900), (0, 300), (60_000, 300), (3_600_000, 3600), (Int64.max, 86_400)]
      as [(Int64?, Int64)]
    {
      var cache = try cache()
      #expect(cache.begin(now: at(899)) == false)
      #expect(cache.begin(now: at(900)) == true)
      _ = cache.finish(try Self.keys.get(), maxAge: age.map { .milliseconds($0) }, now: at(900))
      #expect(cache.begin(now: at(900 + seconds - 1)) == false)
      #expect(cache.begin(now: at(900 + seconds)) == true)
    }
  }

  @Test func `An unknown key causes one fetch a minute, all unknown keys one in ten seconds`() throws {
    var cache = try cache()
    #expect(cache.prospect("new", now: at(1)) == .fetch)
    cache.wait(for: "new", now: at(1)) { _ in }
    // Later requests wait for the same fetch, because it has not begun yet.
    #expect(cache.prospect("early", now: at(1)) == .fetch)
    cache.wait(for: "early", now: at(1)) { _ in }
    let begins = cache.begin(now: at(1))
    #expect(begins)
    _ = cache.finish(try Self.keys.get(), maxAge: nil, now: at(2))
    #expect(cache.prospect("new", now: at(2)) == .none)
    #expect(cache.prospect("early", now: at(2)) == .none)
    // No fetch has looked for this key, so it is not refused.
    #expect(cache.prospect("other", now: at(2)) == .later(.seconds(9)))
    #expect(cache.prospect("other", now: at(10)) == .later(.seconds(1)))
    #expect(cache.prospect("other", now: at(11)) == .fetch)
    #expect(cache.prospect("new", now: at(60)) == .none)
    #expect(cache.prospect("new", now: at(61)) == .fetch)
    var fetches = 0
    for second in 61..<121 {
      for number in 0..<50 where cache.prospect("k\(second).\(number)", now: at(Int64(second))) == .fetch {
        cache.wait(for: "k\(second).\(number)", now: at(Int64(second))) { _ in }
      }
      guard cache.begin(now: at(Int64(second))) else { continue }
      fetches += 1
      _ = cache.finish(try Self.keys.get(), maxAge: nil, now: at(Int64(second)))
    }
    #expect(fetches == 6)
  }

  @Test func `A fetch that is due anyway does not count as one that a token caused`() throws {
    var cache = try cache()
    cache.wait(for: "new", now: at(900)) { _ in }
    let begins = cache.begin(now: at(900))
    #expect(begins)
    _ = cache.finish(try Self.keys.get(), maxAge: nil, now: at(900))
    #expect(cache.prospect("other", now: at(901)) == .fetch)
  }

  @Test func `Not more unknown keys are remembered than fit, and each only for its minute`() throws {
    var cache = try cache()
    func fetch(for names: [String], _ second: Int64) throws {
      for name in names { cache.wait(for: name, now: at(second)) { _ in } }
      let begins = cache.begin(now: at(second))
      #expect(begins)
      _ = cache.finish(try Self.keys.get(), maxAge: nil, now: at(second))
    }
    try fetch(for: (0...KeySetCache.unknownMax).map { "k\($0)" }, 1)
    #expect(cache.prospect("k0", now: at(2)) == .none)
    #expect(cache.prospect("k\(KeySetCache.unknownMax)", now: at(2)) == .later(.seconds(9)))
    try fetch(for: ["new"], 61)
    #expect(cache.prospect("new", now: at(62)) == .none)
  }

  @Test func `A fetch that began earlier does not prove that a key is unknown`() throws {
    var cache = try cache()
    cache.wait(for: "new", now: at(1)) { _ in }
    let begins = cache.begin(now: at(1))
    #expect(begins)
    #expect(cache.prospect("late", now: at(2)) == .fetch)
    cache.wait(for: "late", now: at(2)) { _ in }
    _ = cache.finish(try Self.keys.get(), maxAge: nil, now: at(3))
    #expect(cache.prospect("late", now: at(3)) == .later(.seconds(8)))
    #expect(cache.prospect("late", now: at(11)) == .fetch)
    cache.wait(for: "late", now: at(11)) { _ in }
    let beginsAgain = cache.begin(now: at(11))
    _ = cache.finish(try Self.keys.get(), maxAge: nil, now: at(12))
    #expect(beginsAgain)
    #expect(cache.prospect("late", now: at(12)) == .none)
    #expect(cache.prospect("late", now: at(70)) == .none)
    #expect(cache.prospect("late", now: at(71)) == .fetch)
  }

  @Test func `Keys that could not be fetched again for a week expire, and tokens then get 503`() throws {
    var cache = try cache()
    let week: Int64 = 7 * 24 * 3600
    #expect(cache.keys(now: at(week - 1)) != nil)
    #expect(cache.keys(now: at(week)) == nil)
    cache.wait(for: "new", now: at(week)) { _ in }
    let begins = cache.begin(now: at(week))
    _ = cache.finish(nil, maxAge: nil, now: at(week))
    #expect(begins)
    #expect(cache.prospect("new", now: at(week)) == .later(.seconds(1)))
    _ = cache.finish(try Self.keys.get(), maxAge: nil, now: at(week + 1))
    #expect(cache.keys(now: at(week + 1)) != nil)
  }

  @Test func `While fetches fail, the log warns at once, and then once an hour`() throws {
    var cache = try cache()
    var warned: [Int64] = []
    for second in [100, 101, 3699, 3700, 3701, 7299, 7300] as [Int64] {
      _ = cache.finish(nil, maxAge: nil, now: at(second))
      if cache.warns(now: at(second)) { warned.append(second) }
    }
    #expect(warned == [100, 3700, 7300])
    _ = cache.finish(try Self.keys.get(), maxAge: nil, now: at(7301))
    _ = cache.finish(nil, maxAge: nil, now: at(7302))
    let warnsAgain = cache.warns(now: at(7302))
    #expect(warnsAgain)
  }

  @Test(
    "After a failure fetches are retried with growing pauses, and the keys stay valid meanwhile"
  )
  func failures() throws {
    var cache = try cache()
    cache.wait(for: "new", now: at(100)) { _ in }
    let begins = cache.begin(now: at(100))
    #expect(begins)
    _ = cache.finish(nil, maxAge: nil, now: at(100))
    #expect(cache.keys(now: at(100)) != nil)
    #expect(cache.prospect("new", now: at(100)) == .later(.seconds(1)))
    var now: Int64 = 100
    for pause in [1, 5, 15, 60, 300, 300] as [Int64] {
      if now < 160 { #expect(cache.prospect("new", now: at(now)) == .later(.seconds(pause))) }
      #expect(cache.begin(now: at(now + pause - 1)) == false)
      #expect(cache.begin(now: at(now + pause)) == true)
      now += pause
      _ = cache.finish(nil, maxAge: nil, now: at(now))
    }
    let beginsAgain = cache.begin(now: at(now + 300))
    #expect(beginsAgain)
    _ = cache.finish(try Self.keys.get(), maxAge: nil, now: at(now + 300))
    #expect(cache.failures == 0)
    #expect(cache.begin(now: at(now + 301)) == false)
  }

  @Test(
    "Each waiting request is resumed once, by an answer, its timeout or a stop; their number is limited")
  func waiting() throws {
    let woken = Monitor<[KeySetCache.Waking]>([])
    var cache = try cache()
    let wake: @Sendable (KeySetCache.Waking) -> Void = { waking in woken.update { $0.append(waking) } }
    cache.wait(for: "a", now: at(20), wake)
    #expect(cache.begin(now: at(20)) == true)
    #expect(cache.nextAt == at(26))
    #expect(cache.expire(now: at(25)).isEmpty)
    for wake in cache.expire(now: at(26)) { wake() }
    #expect(cache.nextAt > at(1000), "the answer comes first")
    cache.wait(for: "b", now: at(26), wake)
    for wake in cache.finish(try Self.keys.get(), maxAge: nil, now: at(27)) { wake() }
    cache.wait(for: "c", now: at(40), wake)
    for wake in cache.answerAll(.stopping) { wake() }
    #expect(cache.answerAll(.stopping).isEmpty)
    #expect(cache.expire(now: at(900)).isEmpty)
    #expect(woken.withLock { $0 } == [.failed(retryAfter: .seconds(1)), .fetched, .stopping])
    for number in 0..<KeySetCache.waitersMax { cache.wait(for: "\(number)", now: at(60)) { _ in } }
    #expect(cache.prospect("one more", now: at(60)) == .later(.seconds(1)))
  }

  @Test func `Cache-Control's max-age is read, and invalid values are ignored`() {
    #expect(CacheAge.duration("public, max-age=600, must-revalidate") == .minutes(10))
    #expect(CacheAge.duration("MAX-AGE=\"7\"") == .seconds(7))
    #expect(CacheAge.duration("no-store, max-age=600") == .zero)
    #expect(CacheAge.duration("max-age=99999999999999999999") == .seconds(Int64.max))
    for text in [nil, "", "max-age", "max-age=", "max-age=-1", "s-maxage=5", "max-age=1.5"] as [String?] {
      #expect(CacheAge.duration(text) == nil, "\(text ?? "none")")
    }
  }
}
