// Pauses of an app's deliveries: when they hold, and how much time they count.

import Domain
import Testing

@Suite("A pause of an app") struct AppPauseTests {
  private static func at(_ seconds: Int64) -> Timestamp { Timestamp(unixMilliseconds: seconds * 1000) }

  @Test func `An app that was never paused is not paused, and no time counts`() {
    let pause = AppPause()
    #expect(!pause.isActive(now: Self.at(5)))
    #expect(pause.pausedTime(now: Self.at(5)) == .zero)
    #expect(pause.endedAt(now: Self.at(5)) == nil)
  }

  @Test func `It ends by its time, without a step`() {
    var pause = AppPause()
    pause.begin(now: Self.at(10), until: Self.at(20), actor: "ann", reason: "flood")
    #expect(pause.isActive(now: Self.at(10)))
    #expect(pause.isActive(now: Self.at(19)))
    #expect(!pause.isActive(now: Self.at(20)))
    #expect(pause.pausedTime(now: Self.at(15)) == .seconds(5))
    #expect(pause.pausedTime(now: Self.at(500)) == .seconds(10))
    #expect(pause.endedAt(now: Self.at(19)) == nil)
    #expect(pause.endedAt(now: Self.at(500)) == Self.at(20))
  }

  @Test func `A second pause while it lasts changes its end and its reason, and counts no time twice`() {
    var pause = AppPause()
    pause.begin(now: Self.at(10), until: Self.at(20), actor: "ann", reason: "flood")
    pause.begin(now: Self.at(15), until: nil, actor: "bob", reason: "longer")
    #expect(pause.since == Self.at(10))
    #expect(pause.actor == "bob")
    #expect(pause.isActive(now: Self.at(1_000_000)))
    pause.end(now: Self.at(30))
    #expect(!pause.isActive(now: Self.at(30)))
    #expect(pause.pausedTime(now: Self.at(99)) == .seconds(20))
    #expect(pause.endedAt(now: Self.at(99)) == Self.at(30))
  }

  @Test func `Pauses after each other add up, and an end after the end changes nothing`() {
    var pause = AppPause()
    pause.begin(now: Self.at(10), until: Self.at(20), actor: "ann", reason: nil)
    pause.end(now: Self.at(50))
    #expect(pause.pausedTime(now: Self.at(50)) == .seconds(10))
    pause.begin(now: Self.at(100), until: Self.at(130), actor: "ann", reason: nil)
    #expect(pause.pausedTime(now: Self.at(100)) == .seconds(10))
    #expect(pause.pausedTime(now: Self.at(200)) == .seconds(40))
  }

  @Test(arguments: [-3600, 7200] as [Int64])
  func `After a step of the clock it has the same length left`(step: Int64) {
    var pause = AppPause()
    pause.begin(now: Self.at(10_000), until: Self.at(10_060), actor: "ann", reason: nil)
    pause.clockStepped(by: .seconds(step))
    #expect(pause.isActive(now: Self.at(10_059 + step)))
    #expect(!pause.isActive(now: Self.at(10_060 + step)))
    #expect(pause.pausedTime(now: Self.at(10_030 + step)) == .seconds(30))
  }
}
