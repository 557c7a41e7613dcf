// From payment to entitlement, and what a session keeps across launches.

import CheckoutKit
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite @MainActor final class AppSessionTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("session-\(UUID().uuidString)", isDirectory: true)

  deinit { try? FileManager.default.removeItem(at: folder) }  // Some tests make no folder.

  private static let page = "https://buy.stripe.com/a?client_reference_id=\(Example.id)"
  private static let delivered = ScriptedTransport.Step.answer(200, Example.status("delivered", paid: true))

  private func session(
    _ transport: ScriptedTransport, clock: InstantClock = InstantClock(),
    reloadEntitlements: @escaping () async -> Bool
  ) throws -> CheckoutSession {
    let relay = try Example.client(transport, retries: .none, clock: clock)
    return Example.shop(
      relay, CheckoutOutbox(relay: relay, folder: folder), clock: clock,
      reloadEntitlements: reloadEntitlements
    ).checkout
  }

  @Test("A delivered receipt is confirmed only when the app's backend reports the entitlement")
  func confirms() async throws {
    let transport = ScriptedTransport(.answer(201, Example.posted(checkout: Self.page)), Self.delivered)
    let answers = Guarded([false, false, true])
    let seen = Guarded<[CheckoutState]>([])
    let clock = InstantClock()
    let session = try session(transport, clock: clock) { answers.withLock { $0.removeFirst() } }
    session.buy(Example.price)
    await session.work?.value
    session.onChange = { [unowned session] in seen.withLock { $0.append(session.state) } }
    session.setActive(true)
    await session.work?.value
    #expect(seen.withLock(\.self) == [.checking, .activating, .confirmed])
    #expect(answers.withLock(\.self) == [])
    #expect(clock.pauses.suffix(2) == [1, 2])
    #expect(session.contextIDs == [])
  }

  @Test func `An entitlement that takes longer is asked for again after the next launch`() async throws {
    let transport = ScriptedTransport()
    let clock = InstantClock()
    let id = CheckoutID.make(at: clock.date)
    let renamed = { (text: String) in text.replacingOccurrences(of: Example.id, with: id) }
    let delivered = ScriptedTransport.Step.answer(200, renamed(Example.status("delivered", paid: true)))
    transport.add(.answer(201, renamed(Example.posted(checkout: Self.page))), delivered)
    let calls = Guarded(0)
    let first = try session(transport, clock: clock) {
      calls.withLock { $0 += 1 }
      return false
    }
    first.buy(Example.price)
    await first.work?.value
    first.setActive(true)
    await first.work?.value
    #expect(first.state == .activating)
    #expect(calls.withLock(\.self) == 7)
    #expect(first.contextIDs == [id])

    transport.add(delivered)
    let second = try session(transport, clock: clock) { true }
    #expect(second.state == .unchecked)
    second.setActive(true)
    await second.work?.value
    #expect(second.state == .confirmed)
    #expect(try session(transport, clock: clock) { true }.contextIDs == [])
  }

  /// A session with a receipt that was accepted for an older checkout, and one in this state for a newer one.
  private func two(
    _ state: String, clock: any CheckoutClock, reloadEntitlements: @escaping () async -> Bool
  ) throws -> (session: CheckoutSession, older: String, newer: String) {
    let now = InstantClock()
    let (older, newer) = (CheckoutID.make(at: now.date - 60), CheckoutID.make(at: now.date))
    let answer = { (state: String, id: String) in
      ScriptedTransport.Step.answer(
        200, Example.status(state, paid: true).replacingOccurrences(of: Example.id, with: id))
    }
    let transport = ScriptedTransport(answer("delivered", older), answer(state, newer))
    let relay = try Example.client(transport, retries: .none, clock: now)
    let session = Example.shop(
      relay, CheckoutOutbox(relay: relay, folder: folder),
      checkouts: OpenCheckouts([older, newer], of: "jdo-1"), clock: clock,
      reloadEntitlements: reloadEntitlements
    ).checkout
    return (session, older, newer)
  }

  @Test("A newer checkout is followed while the backend does not report an older one's entitlement")
  func doesNotWait() async throws {
    let (session, older, newer) = try two("paid", clock: HeldClock()) { false }
    let seen = AsyncStream.makeStream(of: CheckoutState.self)
    session.onChange = { [unowned session] in seen.continuation.yield(session.state) }
    session.setActive(true)
    for await state in seen.stream where state == .processing { break }
    session.setActive(false)
    await session.work?.value
    #expect(session.contextIDs == [older, newer])
  }

  @Test func `An older checkout that is unlocked does not hide that the newest one is not`() async throws {
    var asked = 0
    let (session, _, newer) = try two("delivered", clock: InstantClock()) {
      asked += 1
      // The newest one is asked about seven times, and then the older one.
      return asked > 7
    }
    session.setActive(true)
    await session.work?.value
    #expect(session.contextIDs == [newer])
    #expect(session.state == .activating)
  }

  @Test func `A price that is paid once is posted as one`() async throws {
    let transport = ScriptedTransport(.answer(201, Example.posted(checkout: Self.page)))
    let session = try session(transport) { true }
    session.buy(Example.price, as: .checkoutSession)
    await session.work?.value
    let body = try JSONDecoder().decode(
      [String: String].self, from: try #require(transport.sent.first?.httpBody))
    let context = try WebCheckoutContext(plyContext: try #require(body["ply_context"]))
    #expect(context.stripeObjectType == .checkoutSession)
  }

  @Test func `Errors and outcomes reach the app's log`() async throws {
    let session = try session(ScriptedTransport(.answer(422, "no page"))) { true }
    var errors: [RelayError] = []
    var outcomes: [CheckoutOutbox.Outcome] = []
    session.onError = { errors.append($0) }
    session.onOutcome = { outcomes.append($0) }
    session.buy(Example.price)
    await session.work?.value
    #expect(errors.map(\.status) == [422])
    session.note(.expired(id: Example.id))
    #expect(outcomes == [.expired(id: Example.id)])
  }

  @Test func `A relay on another port gets its links, too`() throws {
    let transport = ScriptedTransport()
    let relay = try Example.client(transport, relay: "https://pay.example.com:8443")
    let session = Example.shop(relay, CheckoutOutbox(relay: relay, folder: folder)).checkout
    for scheme in ["https", "exampleapp"] {
      #expect(session.open(try url("\(scheme)://pay.example.com:8443/v1/ios/return")))
      #expect(!session.open(try url("\(scheme)://pay.example.com:8444/v1/ios/return")))
    }
  }

  @Test func `A background push asks the backend once`() async throws {
    let transport = ScriptedTransport(.answer(201, Example.posted(checkout: Self.page)), Self.delivered)
    let calls = Guarded(0)
    let clock = InstantClock()
    let session = try session(transport, clock: clock) {
      calls.withLock { $0 += 1 }
      return false
    }
    session.buy(Example.price)
    await session.work?.value
    let before = clock.pauses
    await session.refresh()
    #expect(session.state == .activating)
    #expect(calls.withLock(\.self) == 1)
    #expect(clock.pauses == before)
  }

  @Test func `A background push posts and asks, and leads nowhere`() async throws {
    let transport = ScriptedTransport(.answer(201, Example.posted(checkout: Self.page)), Self.delivered)
    let opened = Guarded<[URL]>([])
    let session = try session(transport) { true }
    session.openInBrowser = { page in opened.withLock { $0.append(page) } }
    session.buy(Example.price)
    await session.work?.value
    session.open(try url("https://pay.example.com/v1/ios/claim/clm_01HXZ4T9V8KQ2M3N4P5R6S7T8V"))
    await session.refresh()
    #expect(session.state == .confirmed)
    #expect(session.claim == .none, "the link waits until the scene is active")
    #expect(opened.withLock(\.count) == 1)
  }
}
