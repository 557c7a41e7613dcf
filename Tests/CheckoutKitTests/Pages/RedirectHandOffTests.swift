// A redirect and the task that waits for it meet once, in either order, or the wait times out.

import CheckoutKit
import Foundation
import Testing

@Suite struct RedirectHandOffTests {
  static func handOff(_ clock: any CheckoutClock) throws -> RedirectHandOff {
    RedirectHandOff(redirect: try url("shopapp://cash-app/done"), clock: clock)
  }

  @Test func `The waiting task gets the redirect; a second redirect is not delivered`() async throws {
    let clock = HeldClock()
    let handOff = try Self.handOff(clock)
    let redirect = try url("ShopApp://CASH-APP/done?cashAppPay=ok")
    async let outcome = handOff.wait(seconds: 300)
    #expect(await clock.sleeper() == 300)
    #expect(!handOff.open(try url("shopapp://messages/1")))
    #expect(!handOff.open(try url("other://cash-app/done")))
    #expect(!handOff.open(try url("shopapp://cash-app/other")))
    #expect(handOff.open(redirect))
    #expect(!handOff.open(redirect))
    #expect(await outcome == .redirected(redirect))
    #expect(!handOff.open(redirect))
  }

  @Test func `A redirect that arrives before a task waits is kept, once`() async throws {
    let clock = HeldClock()
    let handOff = try Self.handOff(clock)
    let redirect = try url("shopapp://cash-app/done?n=1")
    #expect(handOff.open(redirect))
    #expect(!handOff.open(try url("shopapp://cash-app/done?n=2")))
    #expect(await handOff.wait(seconds: 300) == .redirected(redirect))
    async let second = handOff.wait(seconds: 5)
    #expect(await clock.sleeper() == 5)
    clock.ring()
    #expect(await second == .timedOut)
  }

  @Test func `A redirect after the timeout is not delivered until a task waits again`() async throws {
    let clock = HeldClock()
    let handOff = try Self.handOff(clock)
    let redirect = try url("shopapp://cash-app/done")
    async let first = handOff.wait(seconds: 300)
    _ = await clock.sleeper()
    clock.ring()
    #expect(await first == .timedOut)
    #expect(!handOff.open(redirect))
    async let second = handOff.wait(seconds: 300)
    _ = await clock.sleeper()
    #expect(handOff.open(redirect))
    #expect(await second == .redirected(redirect))
  }

  @Test func `A cancelled wait ends at once, and a second wait replaces the first`() async throws {
    let clock = HeldClock()
    let handOff = try Self.handOff(clock)
    let cancelled = Task { await handOff.wait(seconds: 300) }
    _ = await clock.sleeper()
    cancelled.cancel()
    #expect(await cancelled.value == .cancelled)
    let first = Task { await handOff.wait(seconds: 300) }
    _ = await clock.sleeper()
    async let second = handOff.wait(seconds: 300)
    #expect(await first.value == .superseded)
    _ = await clock.sleeper()
    let redirect = try url("shopapp://cash-app/done")
    #expect(handOff.open(redirect))
    #expect(await second == .redirected(redirect))
    let late = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return await handOff.wait(seconds: 300)
    }
    #expect(await late.value == .cancelled)
  }

  @Test func `Of a hundred concurrent redirects at the timeout at most one is delivered`() async throws {
    for _ in 0..<50 {
      let clock = HeldClock()
      let handOff = try Self.handOff(clock)
      let redirects = try (0..<100).map { try url("shopapp://cash-app/done?n=\($0)") }
      async let outcome = handOff.wait(seconds: 1)
      _ = await clock.sleeper()
      let taken = await withTaskGroup(of: URL?.self) { group in
        for redirect in redirects { group.addTask { handOff.open(redirect) ? redirect : nil } }
        group.addTask {
          clock.ring()
          return nil
        }
        return await group.reduce(into: [URL]()) { $0 += $1.map { [$0] } ?? [] }
      }
      switch await outcome {
      case .redirected(let redirect): #expect(taken == [redirect])
      case .timedOut: #expect(taken.isEmpty)
      default: Issue.record("neither came nor ended")
      }
    }
  }
}
