// A checkout has no time limit: switching to the app, network failures and a restart of the app lose no later
// payment.

import CheckoutKit
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite @MainActor struct PatienceTests {
  private static let page = "https://buy.stripe.com/a?client_reference_id=\(Example.id)"
  private static var back: String { "https://pay.example.com/v1/ios/return?context_id=\(Example.id)" }

  /// A shop whose clock advances while the relay holds a request, and the ids that it stores.
  @MainActor private struct Scene {
    let clock = InstantClock()
    let transport: ScriptedTransport
    let shop: ShopModel
    var kept: [String] { shop.checkout.contextIDs }

    init(
      _ steps: [ScriptedTransport.Step], contextIDs: [String] = [],
      onRequest: @escaping @Sendable (URLRequest) -> Void = { _ in }
    ) throws {
      let clock = clock
      transport = ScriptedTransport(steps) { request in
        if let query = request.url?.query, let seconds = TimeInterval(query.dropFirst(5)) {
          clock.pass(seconds)
        }
        onRequest(request)
      }
      let relay = try Example.client(transport, clock: clock)
      shop = Example.shop(
        relay, Example.outbox(relay), checkouts: OpenCheckouts(contextIDs, of: "jdo-1"), clock: clock)
    }

    /// Opens the checkout page.
    func buy() async {
      shop.setActive(true)
      shop.checkout.buy(Example.price)
      await shop.checkout.work?.value
      #expect(shop.checkout.state == .inBrowser)
      #expect(kept == [Example.id])
      shop.setActive(false)
    }

    /// Expects the purchase to be unlocked and no id to be left.
    func isBought() async {
      #expect(shop.checkout.state == .checking)
      await shop.checkout.work?.value
      #expect(shop.checkout.state == .confirmed)
      #expect(kept == [])
    }
  }

  private static let posted = ScriptedTransport.Step.answer(201, Example.posted(checkout: page))
  private static let open = ScriptedTransport.Step.answer(200, Example.status("open"))
  private static let delivered = ScriptedTransport.Step.answer(200, Example.status("delivered"))

  @Test(
    "A late payment is shown when the customer comes back, with or without the link",
    arguments: [true, false])
  func takesItsTime(_ comesByLink: Bool) async throws {
    // Ten minutes without a payment.
    let scene = try Scene([Self.posted] + Array(repeating: Self.open, count: 41))
    await scene.buy()
    let start = scene.clock.seconds
    scene.shop.setActive(true)
    #expect(scene.shop.checkout.state == .checking)
    await scene.shop.checkout.work?.value
    #expect(scene.clock.seconds - start == 600)
    #expect(scene.transport.sent.count == 42)
    #expect(scene.shop.checkout.state == .inBrowser)
    #expect(scene.kept == [Example.id])

    scene.transport.add(Self.delivered)
    if comesByLink {
      scene.shop.open(try url(Self.back))
    } else {
      scene.shop.setActive(false)
      scene.shop.setActive(true)
    }
    await scene.isBought()
  }

  @Test func `A network failure that outlasts the polling does not end the checkout`() async throws {
    let scene = try Scene([Self.posted])
    await scene.buy()
    scene.shop.setActive(true)
    await scene.shop.checkout.work?.value
    #expect(scene.shop.checkout.state == .unchecked)
    scene.transport.add(Self.delivered)
    scene.shop.open(try url(Self.back))
    await scene.isBought()
  }

  @Test("The app does not poll in the background, and polls again when it becomes active")
  func restsInTheBackground() async throws {
    let began = AsyncStream.makeStream(of: Void.self)
    let scene = try Scene([Self.posted, Self.open, .silence]) { request in
      if request.url?.query != nil { began.continuation.yield() }
    }
    await scene.buy()
    scene.shop.setActive(true)
    for await _ in began.stream { break }
    scene.shop.setActive(false)
    #expect(scene.shop.checkout.state == .inBrowser)
    await scene.shop.checkout.work?.value
    #expect(scene.shop.checkout.state == .inBrowser)
    // A day later.
    scene.clock.pass(86_400)
    scene.transport.add(Self.open, Self.delivered)
    scene.shop.open(try url(Self.back))
    scene.shop.setActive(true)
    await scene.isBought()
    // The link and the activation cause one request.
    #expect(scene.transport.sent.count == 5)
  }

  @Test(
    "The next launch polls an unfinished checkout, with or without the link",
    arguments: [true, false])
  func outlivesTheApp(_ comesByLink: Bool) async throws {
    let scene = try Scene([Self.open, Self.delivered], contextIDs: [Example.id])
    #expect(scene.shop.checkout.state == .unchecked)
    if comesByLink { scene.shop.open(try url(Self.back)) }
    scene.shop.setActive(true)
    await scene.isBought()
  }

  @Test func `The next launch does not poll a checkout that ended or is unknown`() async throws {
    for (step, end) in [
      (.answer(200, Example.status("cancelled", paid: false)), .notPaid),
      (OutboxBed.problem(404, "unknown-context"), .unknown),
    ] as [(ScriptedTransport.Step, CheckoutState)] {
      let scene = try Scene([step], contextIDs: [Example.id])
      scene.shop.setActive(true)
      await scene.shop.checkout.work?.value
      #expect(scene.shop.checkout.state == end)
      #expect(scene.kept == [])
    }
    // A response from elsewhere, such as a hotel's captive portal, is no information about the checkout.
    for step in [.answer(200, "<html>"), .answer(404, "<html>"), OutboxBed.problem(404, "not-found")]
      as [ScriptedTransport.Step]
    {
      let scene = try Scene([step], contextIDs: [Example.id])
      scene.shop.setActive(true)
      await scene.shop.checkout.work?.value
      #expect(scene.shop.checkout.state == .unchecked)
      #expect(scene.kept == [Example.id])
      scene.transport.add(Self.delivered)
      scene.shop.open(try url(Self.back))
      await scene.isBought()
    }
  }
}
