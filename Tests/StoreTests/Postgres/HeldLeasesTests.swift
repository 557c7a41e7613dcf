// Tests what a program may do by its own clock. Pure: no database.

import Domain
import Platform
import Store
import Testing

@testable import PostgresStore

@Suite("The leases of a program")
struct HeldLeasesTests {
  private let held = HeldLeases(owner: 7)

  /// A lease that was acquired and settled, asked for so long ago.
  private func acquire(_ name: String, ago: Duration, epoch: Int64 = 1) {
    let asked = MonotonicInstant(
      nanoseconds: MonotonicInstant.sinceBoot().nanoseconds - ago.components.seconds * 1_000_000_000)
    held.acquired(name, epoch: epoch, asked: asked)
    held.settled(name, epoch: epoch)
  }

  @Test(
    "A lease that ended before it was renewed is not revived: its deliveries may have been cancelled (R3)")
  func ended() {
    acquire("a", ago: .zero)
    acquire("b", ago: .seconds(3))
    #expect(held.lease(of: "a") != nil)
    #expect(held.lease(of: "b") == nil)
    #expect(held.renewed(["a", "b"], asked: .sinceBoot()) == ["b"])
    #expect(held.lease(of: "b") == nil)
    #expect(held.epochs.keys.sorted() == ["a"])
    acquire("b", ago: .zero, epoch: 2)
    #expect(held.lease(of: "b")?.fence?.epoch == 2)
  }

  @Test func `A lease that another program has is lost`() {
    acquire("a", ago: .zero)
    #expect(held.renewed([], asked: .sinceBoot()) == ["a"])
    #expect(held.lease(of: "a") == nil)
  }

  @Test("A step of the database's clock is known from the second time on, whatever this machine's clock says")
  func clockStep() {
    let clock = DatabaseClock()
    let start = MonotonicInstant.now()
    func note(_ milliseconds: Int64, after time: Duration) -> Duration {
      let moment = start + time
      return clock.note(milliseconds, between: moment, and: moment).step
    }
    #expect(note(5_000_000, after: .zero) == .zero, "the first time is no step")
    #expect(note(5_010_000, after: .seconds(10)) == .zero)
    #expect(note(1_420_000, after: .seconds(20)) == .seconds(-3600))
    #expect(note(1_431_000, after: .seconds(30)) == .zero, "a second is within the tolerance")
  }
}
