// Tests of the ids that clients choose for their contexts.

import Domain
import Formats
import Platform
import Testing

@Suite("An id that a client chose") struct ContextIDRuleTests {
  private static let now = Timestamp(unixMilliseconds: 1_790_000_000_000)
  private static let month = ContextIDRule(retention: .days(30))

  private static func id(at moment: Timestamp) -> ContextID {
    var random = SeededGenerator(seed: 1)
    return ContextID.make(now: moment, random: &random)
  }

  @Test func `An id contains its time`() {
    for milliseconds in [0, 1, 1_790_000_000_123, (1 << 48) - 1] as [Int64] {
      let moment = Timestamp(unixMilliseconds: milliseconds)
      #expect(Self.id(at: moment).time == moment)
    }
    // 49 bits of time, a letter that is not in the alphabet, lower case, too short.
    for text in [
      "ctx_80000000000000000000000000", "ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TU", "ctx_01kagfn8x2m5r7qz3c6v9wj4td",
      "ctx_01KAGFN8X2", "rcp_01KAGFN8X2M5R7QZ3C6V9WJ4TD", "",
    ] {
      #expect(ContextID(text).time == nil, "\(text)")
    }
  }

  @Test func `It is accepted for seven days, and up to an hour ahead of the relay's clock`() {
    let millisecond = Duration.milliseconds(1)
    let offsets: [(Duration, Bool)] = [
      (.days(-7), true), (.days(-7) - millisecond, false), (.zero, true), (.hours(1), true),
      (.hours(1) + millisecond, false),
    ]
    for (offset, allows) in offsets {
      let id = Self.id(at: Self.now + offset)
      #expect(Self.month.allows(id, now: Self.now) == allows, "\(offset)")
    }
    #expect(!Self.month.allows("ctx_of_nobody", now: Self.now))
  }

  @Test func `Where contexts are kept for hours, ids are accepted for less, or not at all`() {
    let days = ContextIDRule(retention: .days(2))
    #expect(days.ageMax == .days(2) - .hours(1))
    #expect(days.allows(Self.id(at: Self.now - .days(1)), now: Self.now))
    #expect(!days.allows(Self.id(at: Self.now - .days(2)), now: Self.now))
    #expect(!ContextIDRule(retention: .minutes(30)).allows(Self.id(at: Self.now), now: Self.now))
  }

  @Test func `An id whose context was deleted is never accepted again`() {
    var random = SeededGenerator(seed: 2)
    for _ in 0..<10_000 {
      let rule = ContextIDRule(retention: .minutes(Int64.random(in: 1...60 * 24 * 20, using: &random)))
      let offset = Int64.random(in: -60 * 24 * 8...90, using: &random)
      let id = Self.id(at: Self.now + .minutes(offset))
      guard rule.allows(id, now: Self.now) else { continue }
      let deletedAt = Self.now + rule.retention + .milliseconds(1)
      #expect(!rule.allows(id, now: deletedAt))
      #expect(!rule.allows(id, now: deletedAt + .minutes(Int64.random(in: 0...100_000, using: &random))))
    }
  }

  @Test func `A purchase awaits a context as long as it can be posted`() {
    let id = Self.id(at: Self.now)
    #expect(ContextIDRule.end(of: id, now: Self.now) == Self.now + .days(7))
    #expect(ContextIDRule.end(of: id, now: Self.now + .days(7)) == nil)
    #expect(ContextIDRule.end(of: id, now: Self.now - .hours(2)) == nil)
    #expect(ContextIDRule.end(of: "u1", now: Self.now) == nil)
  }
}
