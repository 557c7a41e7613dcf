// Tests the basic values: time, identifiers, external identifiers, the rate limit.

import Domain
import Formats
import Platform
import Testing

private let now = Timestamp(unixMilliseconds: 1_800_000_000_000)

/// The results of `take` at these moments.
private func takes(_ bucket: inout TokenBucket, at moments: Int64...) -> [Bool] {
  moments.map { bucket.acquire(nowMilliseconds: $0) }
}

@Suite("Timestamps")
struct TimestampTests {
  @Test func `Seconds that do not fit saturate`() {
    #expect(Timestamp(unixSeconds: 1_800_000_000) == now)
    #expect(Timestamp(unixSeconds: -1).unixMilliseconds == -1000)
    #expect(Timestamp(unixSeconds: .max).unixMilliseconds == .max)
    #expect(Timestamp(unixSeconds: .min).unixMilliseconds == .min)
    #expect(Timestamp(unixSeconds: Int64.max / 1000 + 1).unixMilliseconds == .max)
  }

  @Test func `Sums and differences saturate at both ends`() {
    let first = Timestamp(unixMilliseconds: .min)
    let last = Timestamp(unixMilliseconds: .max)
    #expect(last.advanced(by: .milliseconds(1)) == last)
    #expect(first - .milliseconds(1) == first)
    #expect(last.advanced(by: .milliseconds(Int64.min)).unixMilliseconds == -1)
    #expect(last.duration(since: first) == .longest)
    #expect(first.duration(since: last) == .milliseconds(Int64.min))
    #expect(now.duration(since: now.advanced(by: .milliseconds(7))) == .milliseconds(-7))
    #expect(now.advanced(by: Duration(attoseconds: .max)) == last)
    #expect(now + Duration(attoseconds: .min) == Timestamp(unixMilliseconds: now.unixMilliseconds + .min))
    #expect(now - Duration(attoseconds: .min) == last)
    #expect(first < now)
    #expect(now < last)
  }
}

@Suite("Identifiers")
struct IdentifierTests {
  private static let alphabet = Set("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

  private static let types: [any GeneratedID.Type] = [ContextID.self, ReceiptID.self, JobID.self]

  @Test(
    "An identifier is its prefix and 26 characters of Crockford's base32",
    arguments: zip(types, ["ctx_", "rcp_", "job_"]))
  func form(type: any GeneratedID.Type, prefix: String) {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<200 {
      let id = type.make(now: now, random: &random)
      #expect(id.text.hasPrefix(prefix))
      #expect(id.text.count == prefix.count + 26)
      #expect(Set(id.text.dropFirst(prefix.count)).isSubset(of: Self.alphabet))
      #expect(id.isWellFormed)
    }
  }

  @Test func `An identifier begins with the time, so that texts sort by time`() {
    var random = SeededGenerator(seed: 6)
    let moments: [Int64] = [.min, 0, 1, 31, 32, 1_800_000_000_000, 1_800_000_000_001, 1 << 47, .max]
    let ids = moments.map {
      ReceiptID.make(now: Timestamp(unixMilliseconds: $0), random: &random)
    }
    #expect(ids.dropFirst(1).sorted() == Array(ids.dropFirst(1)))
    #expect(ids.first?.text.hasPrefix("rcp_0000000000") == true)
    #expect(ids.last?.text.hasPrefix("rcp_7ZZZZZZZZZ") == true, "clamped, not wrapped around")
    #expect(ids[5].text.hasPrefix("rcp_01MCC5RM00"))
  }

  @Test func `All of its 80 random bits vary, and 10000 of one millisecond differ`() {
    var random = SeededGenerator(seed: 8)
    let ids = (0..<10_000).map { _ in ContextID.make(now: now, random: &random) }
    #expect(Set(ids).count == ids.count)
    for position in 10..<26 {
      let seen = Set(ids.map { $0.text.dropFirst(ContextID.prefix.count + position).first })
      #expect(seen.count == 32, "character \(position)")
    }
  }

  @Test(arguments: [
    "", "ctx_", "ctx_01MC8E1R00ABCDEFGHJKMNPQR", "ctx_01MC8E1R00ABCDEFGHJKMNPQRST",
    "rcp_01MC8E1R00ABCDEFGHJKMNPQRS",
    "ctx_01mc8e1r00abcdefghjkmnpqrs", "CTX_01MC8E1R00ABCDEFGHJKMNPQRS", "ctx_01MC8E1R00ABCDEFGHJKMNPQRI",
    "ctx_01MC8E1R00ABCDEFGHJKMNPQRU", "ctx_01MC8E1R00ABCDEFGHJKMNPQR ", "ctx_01MC8E1R00ABCDEFGHJKMNPQé",
    "ctx_01MC8E1R00ABCDEFGHJKMNPQR\0", " ctx_01MC8E1R00ABCDEFGHJKMNPQR",
  ])
  func `A text that is not an identifier is refused`(text: String) {
    #expect(!ContextID(text).isWellFormed)
    #expect(ContextID("ctx_01MC8E1R00ABCDEFGHJKMNPQRS").isWellFormed)
  }
}

@Suite("External identifiers")
struct UntrustedTextTests {
  @Test func `A text is cut between two scalars, also inside of a character that has many`() {
    #expect(UntrustedText.start(of: "short", bytesMax: 5) == "short")
    #expect(UntrustedText.start(of: "日本語", bytesMax: 7) == "日本")
    let accents = "a" + String(repeating: "\u{301}", count: 1000)
    #expect(UntrustedText.start(of: accents, bytesMax: 5) == "a\u{301}\u{301}")
    #expect(UntrustedText.start(of: "日", bytesMax: 2).isEmpty)
  }

  @Test(arguments: ["a", "usuário-Ω-日本-😀", " spaces ", "a|b:c@d.e", "15", "\u{A0}", "\u{2028}"])
  func `An external identifier is kept unchanged`(text: String) {
    #expect(UntrustedText.identifier(text) == text)
  }

  @Test(arguments: ["", "\0", "a\nb", "a\tb", "a\u{1F}", "a\u{7F}", "a\u{80}", "\u{9F}b", "\r\n", nil])
  func `A text with control characters, an empty or a missing text is refused`(text: String?) {
    #expect(UntrustedText.identifier(text) == nil)
  }

  @Test func `255 bytes of UTF-8 are accepted, one more is refused`() {
    #expect(UntrustedText.identifier(String(repeating: "x", count: 255)) != nil)
    #expect(UntrustedText.identifier(String(repeating: "x", count: 256)) == nil)
    #expect(UntrustedText.identifier(String(repeating: "é", count: 127)) != nil)
    #expect(UntrustedText.identifier(String(repeating: "é", count: 128)) == nil)
  }

  @Test func `A missing and an empty text are the same`() {
    #expect(UntrustedText.nonEmpty(nil) == nil)
    #expect(UntrustedText.nonEmpty("") == nil)
    #expect(UntrustedText.nonEmpty(" ") == " ")
  }
}

@Suite("The rate limit")
struct TokenBucketTests {
  @Test func `The deliveries of one second go at once, then one after the other`() {
    var bucket = TokenBucket(ratePerSecond: 10, nowMilliseconds: 0)
    let taken = (0..<12).filter { _ in bucket.acquire(nowMilliseconds: 0) }
    #expect(taken.count == 10)
    let wait = bucket.waitTime(nowMilliseconds: 0)
    #expect(wait == .milliseconds(100))
    let then = takes(&bucket, at: 99, 100, 100)
    #expect(then == [false, true, false])
  }

  @Test func `It saves up at most the deliveries of one second`() {
    var bucket = TokenBucket(ratePerSecond: 5, nowMilliseconds: 0)
    let taken = (0..<100).filter { _ in bucket.acquire(nowMilliseconds: 3_600_000) }
    #expect(taken.count == 5)
  }

  @Test(arguments: [0.5, 0.1])
  func `A rate below one a second admits one at a time`(rate: Double) {
    var bucket = TokenBucket(ratePerSecond: rate, nowMilliseconds: 0)
    let pause = Int64(1000 / rate)
    let first = takes(&bucket, at: 0, 0)
    #expect(first == [true, false])
    let wait = bucket.waitTime(nowMilliseconds: 0)
    #expect(wait == .milliseconds(pause))
    let then = takes(&bucket, at: pause - 2, pause + 1)
    #expect(then == [false, true])
  }

  @Test(arguments: [3, 7, 50, 999.9])
  func `After the announced wait there is a token, within a millisecond`(rate: Double) {
    var bucket = TokenBucket(ratePerSecond: rate, nowMilliseconds: 0)
    var clock: Int64 = 0
    var taken = 0
    for _ in 0..<5000 {
      if bucket.acquire(nowMilliseconds: clock) {
        taken += 1
      } else {
        let wait = bucket.waitTime(nowMilliseconds: clock)
        #expect(wait > .zero)
        clock += wait.milliseconds
      }
    }
    #expect(Double(taken) <= rate * (Double(clock) / 1000 + 1) + 1)
  }

  @Test func `A clock that stops or a tiny rate neither traps nor adds tokens`() {
    var bucket = TokenBucket(ratePerSecond: 1, nowMilliseconds: 1000)
    let first = takes(&bucket, at: 500, 0)
    #expect(first == [true, false])
    var tiny = TokenBucket(ratePerSecond: 1e-300, nowMilliseconds: 0)
    let then = takes(&tiny, at: 0, 1_000_000)
    #expect(then == [true, false])
    let wait = tiny.waitTime(nowMilliseconds: 0)
    #expect(wait == .longest)
  }
}
