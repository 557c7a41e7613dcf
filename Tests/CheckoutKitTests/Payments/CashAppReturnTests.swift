// The way back from Cash App ends the wait once.

import CheckoutKit
import Foundation
import Testing

@Suite struct CashAppReturnTests {
  @Test func `CA25: the URL that Cash App opens ends the wait, and other URLs do not`() async throws {
    let clock = HeldClock()
    let handOff = RedirectHandOff(redirect: try url("myapp://cash-callback"), clock: clock)
    async let outcome = handOff.wait(seconds: 300)
    #expect(await clock.sleeper() == 300)
    for other in [
      "myapp://other", "other://cash-callback", "https://cash-callback", "myapp://cash-callback/x",
      "myapp://cash-callback.evil.test", "myapp://user@cash-callback", "myapp:cash-callback",
    ] {
      #expect(!handOff.open(try url(other)))
    }
    let back = try url("MyApp://cash-callback?request=GRR_1")
    #expect(handOff.open(back))
    #expect(await outcome == .redirected(back))
    #expect(!handOff.open(back))
  }

  @Test("CA25: after the time-out the wait has failed, once, and a late URL changes nothing")
  func timesOutOnce() async throws {
    let clock = HeldClock()
    let redirect = try url("myapp://cash-callback")
    let handOff = RedirectHandOff(redirect: redirect, clock: clock)
    let ends = Guarded<[RedirectHandOff.Outcome]>([])
    let waiting = Task {
      let outcome = await handOff.wait(seconds: 300)
      ends.withLock { $0.append(outcome) }
    }
    #expect(await clock.sleeper() == 300)
    clock.ring()
    await waiting.value
    #expect(!handOff.open(redirect))
    clock.ring()
    #expect(ends.withLock(\.self) == [.timedOut])
  }
}
