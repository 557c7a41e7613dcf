// Where an outbox posts, when, and what ends a post.

import Foundation
import Testing

@testable import CheckoutKit

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct OutboxPostingTests {
  @Test("The post of a tap asks for the relay's page; one that fails there is kept, and posted as a context")
  func endpoints() async throws {
    for (status, type) in [(502, "checkout-refused"), (503, "checkout-unavailable"), (422, "invalid")] {
      let bed = try OutboxBed([OutboxBed.problem(status, type)])
      let checkout = try await bed.begin()
      #expect(checkout.posted == nil, "the sale goes on")
      #expect(try bed.stored() == [checkout.contextID])
      bed.transport.add(OutboxBed.posted(checkout.contextID))
      #expect(await bed.outbox.flush() == 0)
      #expect(bed.endpoints == ["checkout", "contexts"])
    }
  }

  @Test func `For a price that the relay has no checkout for, the context is posted at once`() async throws {
    let bed = try OutboxBed([OutboxBed.problem(422, "unknown-price"), .answer(201, Example.posted())])
    let checkout = try await bed.begin()
    #expect(checkout.posted?.contextID == Example.id)
    #expect(checkout.page.absoluteString == "\(OutboxBed.page)&client_reference_id=\(Example.id)")
    #expect(bed.endpoints == ["checkout", "contexts"])
    #expect(try bed.stored() == [])
  }

  @Test("The customer's retries end with the customer's five seconds, and the rounds begin")
  func retries() async throws {
    let clock = HeldClock()
    let bed = try OutboxBed(
      Array(repeating: .answer(503), count: 5), clock: clock, retries: RetryPolicy(jitter: 0))
    let outbox = bed.outbox
    let begun = Task { try await outbox.begin(Example.context, userID: "jdo-1") }
    var pauses: [TimeInterval] = []
    while pauses.count < 6 {
      pauses.append(try #require(await clock.sleeper()))
      if pauses.count > 1 { clock.ring() }
    }
    #expect(try await begun.value.posted == nil)
    #expect(pauses.prefix(2).sorted() == [0.5, 5])
    #expect(pauses[2...4] == [1, 2, 4])
    while bed.transport.sent.count < 6 { await Task.yield() }
    #expect(bed.endpoints == Array(repeating: "checkout", count: 5) + ["contexts"])
  }

  @Test func `Nothing is sent before the time of Retry-After, and then everything`() async throws {
    let clock = DatedClock()
    let bed = try OutboxBed(
      [OutboxBed.problem(429, "too-many-contexts", headers: ["Retry-After": "120"])], clock: clock)
    let first = try await bed.begin().contextID
    #expect(await bed.outbox.flush() == 1)
    clock.pass(119)
    #expect(await bed.outbox.flush() == 1)
    #expect(bed.transport.sent.count == 1)
    // A customer's tap does not wait.
    bed.transport.add(.answer(201, Example.posted()))
    #expect(try await bed.begin().posted != nil)
    clock.pass(1)
    bed.transport.add(OutboxBed.posted(first))
    #expect(await bed.outbox.flush() == 0)
  }

  @Test("The rounds wait for Retry-After, for an hour at most", arguments: [(90, 90), (86_400, 3600)])
  func pauses(_ seconds: Int, _ expected: TimeInterval) async throws {
    let clock = HeldClock()
    let bed = try OutboxBed(
      [OutboxBed.problem(503, "busy", headers: ["Retry-After": "\(seconds)"])], clock: clock)
    _ = try await bed.begin()
    var pause = try #require(await clock.sleeper())
    if pause == 5 { pause = try #require(await clock.sleeper()) }
    #expect(pause == expected)
  }

  @Test func `A flush that is cancelled sends nothing more, and its post goes on`() async throws {
    let began = AsyncStream.makeStream(of: Void.self)
    let bed = try OutboxBed { _ in began.continuation.yield() }
    let ids = [try await bed.begin().contextID, try await bed.begin().contextID].sorted()
    var requests = began.stream.makeAsyncIterator()
    for _ in ids { await requests.next() }
    bed.transport.add(.held(201, Example.posted()))
    let outbox = bed.outbox
    let flush = Task { await outbox.flush() }
    await requests.next()
    flush.cancel()
    bed.transport.release()
    #expect(await flush.value == 1)
    #expect(try bed.stored().count == 1)
    #expect(bed.transport.sent.count == 3)
    #expect(bed.outcomes.withLock(\.self).map(\.summary).filter { $0.hasPrefix("posted") }.count == 1)
  }

  @Test func `A begin that is cancelled ends at once, and leaves nothing`() async throws {
    let began = AsyncStream.makeStream(of: Void.self)
    let bed = try OutboxBed([.silence]) { _ in began.continuation.yield() }
    let outbox = bed.outbox
    let begun = Task { try await outbox.begin(Example.context, userID: "jdo-1") }
    for await _ in began.stream { break }
    #expect(outbox.pendingContextIDs.count == 1)
    begun.cancel()
    await #expect(throws: RelayError.cancelled) { try await begun.value }
    #expect(try bed.stored() == [])
    #expect(await outbox.flush() == 0)
    #expect(bed.transport.sent.count == 1)
    #expect(bed.outcomes.withLock(\.self) == [])
  }

  @Test("Of two taps the second opens its page, and the first reports that it was cancelled")
  @MainActor func taps() async throws {
    let bed = try OutboxBed([.answer(201, Example.posted()), .answer(201, Example.posted())])
    let results = AsyncStream.makeStream(of: String.self)
    let say: @MainActor @Sendable (String, Result<StartedCheckout, RelayError>) -> Void = { tap, result in
      if case .failure(let error) = result {
        results.continuation.yield("\(tap) \(error)")
      } else {
        results.continuation.yield("\(tap) opens")
      }
    }
    let first = bed.outbox.begin(Example.context, userID: "jdo-1") { say("first", $0) }
    // Whether the first has ended by now or not, its handler was not called: this is the main actor.
    first.cancel()
    bed.outbox.begin(Example.context, userID: "jdo-1") { say("second", $0) }
    var heard: Set<String> = []
    for await result in results.stream {
      heard.insert(result)
      if heard.count == 2 { break }
    }
    #expect(heard == ["first cancelled", "second opens"])
    #expect(try bed.stored() == [])
  }

  @Test func `A forgotten user's contexts are not posted by a flush that has begun`() async throws {
    let began = AsyncStream.makeStream(of: Void.self)
    let clock = DatedClock()
    let bed = try OutboxBed(clock: clock) { _ in began.continuation.yield() }
    _ = try await bed.begin("other")
    clock.pass(1)
    _ = try await bed.begin("gone")
    var requests = began.stream.makeAsyncIterator()
    for _ in 0..<2 { await requests.next() }
    bed.transport.add(.held(201, Example.posted()), .answer(201, Example.posted()))
    let outbox = bed.outbox
    let flush = Task { await outbox.flush() }
    await requests.next()
    outbox.forget(userID: "gone")
    bed.transport.release()
    #expect(await flush.value == 0)
    #expect(bed.transport.sent.count == 3)
    #expect(bed.transport.sent.last?.url?.path == "/v1/ios/users/other/contexts")
  }

  @Test func `A forgotten user's post that is under way is cancelled`() async throws {
    let began = AsyncStream.makeStream(of: Void.self)
    let bed = try OutboxBed { _ in began.continuation.yield() }
    _ = try await bed.begin()
    var requests = began.stream.makeAsyncIterator()
    await requests.next()
    bed.transport.add(.silence)
    let outbox = bed.outbox
    let flush = Task { await outbox.flush() }
    await requests.next()
    outbox.forget(userID: "jdo-1")
    #expect(await flush.value == 0)
    #expect(try bed.stored() == [])
  }
}
