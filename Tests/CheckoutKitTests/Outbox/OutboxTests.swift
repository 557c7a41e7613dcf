// A sale does not wait for the relay, and no context is lost.

import Foundation
import Testing

@testable import CheckoutKit

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct OutboxTests {
  @Test func `A relay that answers in time has the context, and its page is opened`() async throws {
    let bed = try OutboxBed([.answer(201, Example.posted(checkout: "https://buy.example.com/relays"))])
    let checkout = try await bed.begin()
    #expect(checkout.page.absoluteString == "https://buy.example.com/relays")
    #expect(checkout.contextID == Example.id, "what the relay says counts")
    #expect(checkout.posted?.contextID == Example.id)
    #expect(try bed.stored() == [])
    let body = try #require(try bed.bodies().first)
    #expect(body["ply_context"] == (try Example.context.plyContext()))
    #expect(CheckoutID.isWellFormed(body["id"] ?? ""))
    #expect(bed.outcomes.withLock(\.self).map(\.summary) == ["posted \(body["id"] ?? "")"])
    #expect(bed.transport.sent.first?.timeoutInterval == 5)
  }

  @Test("Without the relay the page opens with the app's own id, and the next launch posts the context")
  func offline() async throws {
    let bed = try OutboxBed()
    let checkout = try await bed.begin()
    #expect(checkout.posted == nil)
    #expect(CheckoutID.isWellFormed(checkout.contextID))
    #expect(checkout.page.absoluteString == "\(OutboxBed.page)&client_reference_id=\(checkout.contextID)")
    #expect(try bed.stored() == [checkout.contextID])
    #expect(bed.outbox.pendingContextIDs == [checkout.contextID])

    try bed.relaunch()
    #expect(await bed.outbox.flush() == 1, "there is no network yet")
    #expect(try bed.stored() == [checkout.contextID])
    bed.transport.add(OutboxBed.posted(checkout.contextID))
    #expect(await bed.outbox.flush() == 0)
    #expect(try bed.stored() == [])
    let bodies = bed.transport.sent.map(\.httpBody)
    #expect(bodies.count == 3)
    #expect(Set(bodies).count == 1, "each attempt sends the same bytes")
    #expect(
      bed.transport.sent.map { $0.url?.path } == [
        "/v1/ios/users/jdo-1/checkout", "/v1/ios/users/jdo-1/contexts", "/v1/ios/users/jdo-1/contexts",
      ])
    #expect(bed.transport.sent.map(\.timeoutInterval) == [5, 30, 30], "a slow network has the time it needs")
    try bed.relaunch()
    #expect(await bed.outbox.flush() == 0)
    #expect(bed.transport.sent.count == 3)
  }

  @Test("A customer waits five seconds at most for a relay that does not answer; the post goes on")
  func patience() async throws {
    let clock = HeldClock()
    let bed = try OutboxBed([.held(201, Example.posted())], clock: clock)
    let transport = bed.transport
    let outbox = bed.outbox
    let begun = Task { try await outbox.begin(Example.context, userID: "jdo-1") }
    #expect(await clock.sleeper() == 5)
    #expect(outbox.pendingContextIDs.count == 1, "it is on disk before the page opens")
    clock.ring()
    let checkout = try await begun.value
    #expect(checkout.posted == nil)
    #expect(try bed.stored() == [checkout.contextID])
    // The post is still under way: nothing else sends it, and time in the background lasts until its end.
    let flushed = Task { await outbox.flush() }
    #expect(transport.sent.count == 1)
    transport.release()
    #expect(await flushed.value == 0)
    #expect(transport.sent.count == 1)
    #expect(try bed.stored() == [])
  }

  @Test func `Each tap has its own context, even for the same price`() async throws {
    let bed = try OutboxBed()
    let (first, second) = (try await bed.begin(), try await bed.begin())
    #expect(first.contextID != second.contextID)
    #expect(try bed.stored() == [first.contextID, second.contextID].sorted())
  }

  @Test(
    "A refusal of the relay ends a post; what can be corrected, or comes from another, does not",
    arguments: try KitTables.relay().posts)
  func refusals(_ row: KitTables.Post) async throws {
    let clock = DatedClock()
    let bed = try OutboxBed([row.answer.step], clock: clock)
    let ids = [try await bed.begin().contextID, try await bed.begin().contextID].sorted()
    #expect(try bed.stored() == ids, "the first answer drops nothing")
    clock.pass(TimeInterval(row.days * 86_400))
    try bed.relaunch()
    bed.transport.add(row.answer.step, row.answer.step)
    #expect(await bed.outbox.flush() == (row.isKept ? 2 : 0))
    #expect(try bed.stored() == (row.isKept ? ids : []))
    let ends = bed.outcomes.withLock(\.self).map { $0.summary.prefix { $0 != " " } }
    let last = row.isKept ? "delayed" : row.days == 0 || row.answer.status == 422 ? "refused" : "expired"
    #expect(ends.last == last[...])
  }

  @Test func `A relay that refuses the time in the id gets the context without it`() async throws {
    let bed = try OutboxBed([
      OutboxBed.problem(422, "context-id-time"), .answer(201, Example.posted()),
    ])
    let checkout = try await bed.begin()
    #expect(checkout.contextID == Example.id)
    #expect(checkout.page.absoluteString == "\(OutboxBed.page)&client_reference_id=\(Example.id)")
    #expect(try bed.bodies().map { $0["id"] == nil } == [false, true])
    #expect(bed.endpoints == ["checkout", "checkout"])
    #expect(try bed.stored() == [])
  }

  @Test func `The newest fifty contexts are kept`() async throws {
    let clock = DatedClock()
    let bed = try OutboxBed(clock: clock)
    var ids: [String] = []
    for _ in 0..<53 {
      ids.append(try await bed.begin().contextID)
      clock.pass(1)
    }
    #expect(try bed.stored() == Array(ids.suffix(50)))
    let dropped = bed.outcomes.withLock(\.self).map(\.summary).filter { $0.hasPrefix("expired") }
    #expect(dropped == ids.prefix(3).map { "expired \($0)" })
  }

  @Test(
    "A clock that is days ahead, or was corrected, drops no context before the relay has answered once more",
    arguments: [8 * 86_400, 20_000 * 86_400] as [TimeInterval])
  func wrongClock(step: TimeInterval) async throws {
    let clock = DatedClock()
    let bed = try OutboxBed(clock: clock)
    let accepted = try await bed.begin().contextID
    clock.pass(1)
    let refused = try await bed.begin("jdo-2").contextID
    clock.pass(step)
    try bed.relaunch()
    #expect(await bed.outbox.flush() == 2)
    bed.transport.add(OutboxBed.posted(accepted), OutboxBed.problem(401, "unauthorized"))
    #expect(await bed.outbox.flush() == 0)
    let ends = bed.outcomes.withLock(\.self).map(\.summary).suffix(3)
    #expect(ends == ["posted \(accepted)", "delayed \(refused)", "expired \(refused)"])
    #expect(try bed.stored() == [])
  }

  @Test("The outbox posts again while the app runs, with growing pauses, until the relay has it")
  func repeats() async throws {
    let clock = HeldClock()
    let bed = try OutboxBed(clock: clock)
    let checkout = try await bed.begin()
    var pauses: [TimeInterval] = []
    while pauses.count < 15 {
      let pause = try #require(await clock.sleeper())
      // The customer's five seconds were cancelled.
      guard pause != 5 else { continue }
      pauses.append(pause)
      #expect(try bed.stored() == [checkout.contextID])
      #expect(bed.transport.sent.count == pauses.count)
      if pauses.count == 15 { bed.transport.add(OutboxBed.posted(checkout.contextID)) }
      clock.ring()
    }
    let expected: [TimeInterval] = [4, 8, 16, 32, 64, 128, 256] + Array(repeating: 300, count: 8)
    for (pause, expected) in zip(pauses, expected) {
      #expect(abs(pause - expected) <= expected * 0.2, "\(pauses)")
    }
    while try !bed.stored().isEmpty { await Task.yield() }
    // The rounds end with the last entry. The next one is posted again as well, whether they have ended yet
    // or not.
    let next = try await bed.begin()
    while try #require(await clock.sleeper()) == 5 {}
    #expect(try bed.stored() == [next.contextID])
    #expect(bed.endpoints == ["checkout"] + Array(repeating: "contexts", count: 15) + ["checkout"])
    #expect(try Set(bed.bodies().prefix(16).map { $0["id"] }) == [checkout.contextID])
    #expect(bed.outcomes.withLock(\.self).map(\.summary).contains("posted \(checkout.contextID)"))
  }
}
