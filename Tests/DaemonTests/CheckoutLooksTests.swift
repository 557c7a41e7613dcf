// The times of the checks of long polls.

import Domain
import Platform
import Testing

@testable import Daemon

@Suite("Times of long polls") struct CheckoutLooksTests {
  private static let step = CheckoutLooks.stepNanoseconds
  private let first: ContextID = "ctx_1"
  private let second: ContextID = "ctx_2"

  private func instant(_ steps: Int64, more: Int64 = 0) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: steps * Self.step + more)
  }

  @Test func `Only a time before all others is reported as the next`() {
    var looks = CheckoutLooks()
    #expect(looks.next == nil)
    var isNext = looks.add(first, at: instant(30))
    #expect(isNext)
    #expect(looks.next == instant(31))
    for time in [instant(30, more: 5), instant(40), instant(35)] {
      isNext = looks.add(second, at: time)
      #expect(!isNext)
    }
    isNext = looks.add(second, at: instant(7, more: -1))
    #expect(isNext)
    #expect(looks.next == instant(7))
  }

  @Test func `No request is checked before its time, and each at most one step later`() {
    for moment in stride(from: 0, through: 3 * Self.step, by: 500_000) {
      var looks = CheckoutLooks()
      looks.add(first, at: MonotonicInstant(nanoseconds: moment))
      let early = looks.removeDue(MonotonicInstant(nanoseconds: moment))
      #expect(early.isEmpty)
      let due = looks.removeDue(MonotonicInstant(nanoseconds: moment + Self.step))
      #expect(due == [first])
      #expect(looks.next == nil)
    }
  }

  @Test func `All due times are removed in one pass, in whatever order they were added`() {
    let times: [Int64] = [5, 1, 9, 3, 7, 1]
    var looks = CheckoutLooks()
    for time in times { looks.add(ContextID("ctx_\(time)"), at: instant(time, more: -1)) }
    var due = looks.removeDue(instant(5))
    #expect(due == ["ctx_1", "ctx_3", "ctx_5"])
    due = looks.removeDue(instant(5))
    #expect(due.isEmpty)
    #expect(looks.next == instant(7))
    due = looks.removeDue(instant(9))
    #expect(due == ["ctx_7", "ctx_9"])
    #expect(looks.next == nil)
  }
}
