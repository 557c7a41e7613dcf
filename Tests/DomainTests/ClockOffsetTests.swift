// The median of clock offsets.

import Domain
import Testing

@Suite struct ClockOffsetTests {
  @Test func `One wrong clock among five does not matter; four answers say nothing`() {
    #expect(ClockOffset.median([]) == nil)
    #expect(ClockOffset.median([.seconds(60), .seconds(60), .seconds(60), .seconds(60)]) == nil)
    let right: [Duration] = [.zero, .milliseconds(400), .milliseconds(-300), .seconds(1)]
    #expect(ClockOffset.median(right + [.seconds(9_999)]) == .milliseconds(400))
    #expect(ClockOffset.median(Array(repeating: .seconds(-7), count: 6)) == .seconds(-7))
  }
}
