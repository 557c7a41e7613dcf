// The bar of work in several parts.

import Testing

@testable import Terminal

@Suite("The bar of several parts") struct ShareBarTests {
  @Test func `It shows label, share and the time that is left, within the width`() {
    #expect(
      ShareBar.text("checking", share: 0.5, elapsedSeconds: 10, columns: 80)
        == "checking  [############------------] 50 %  10 s left")
    #expect(
      ShareBar.text("checking", share: 0.01, elapsedSeconds: 10, columns: 80)
        == "checking  [------------------------] 1 %", "an early estimate would jump")
    #expect(
      ShareBar.text("checking", share: 1, elapsedSeconds: 10, columns: 80)
        == "checking  [########################] 100 %")
    #expect(ShareBar.text("checking", share: 0.5, elapsedSeconds: 10, columns: 20).count == 19)
  }

  @Test func `It never goes back, is drawn ten times a second at most, and ends at 100 %`() {
    let (screen, clock) = (Record(), ManualClock())
    let channel = OutputChannel(isTerminal: true, size: { (80, 24) }) { screen.add($0) }
    var bar = ShareBar(on: channel, clock: clock)
    for share in [0.5, 0.2, 0.3, 0.6] {
      bar.update("copying", share: share)
      clock.advance(.milliseconds(50))
    }
    #expect(screen.text.matches(of: /(\d+) %/).map { $0.output.1 } == ["50", "50"])
    bar.clear()
    #expect(screen.text.hasSuffix("\r\u{1B}[K"))
    bar.finish()
    #expect(screen.text.hasSuffix("100 %\u{1B}[K\n"))
  }

  @Test func `Nothing is drawn where there is no terminal`() {
    let screen = Record()
    var bar = ShareBar(on: OutputChannel(isTerminal: false) { screen.add($0) })
    bar.update("copying", share: 0.5)
    bar.clear()
    bar.finish()
    #expect(screen.text.isEmpty)
  }
}
