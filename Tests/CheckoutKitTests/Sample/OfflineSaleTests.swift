// The example app sells while the relay cannot be reached, and the relay learns of it later.

import CheckoutKit
import Foundation
import Testing

@Suite @MainActor struct OfflineSaleTests {
  /// A phone without the relay: each launch has its own model and outbox.
  @MainActor private final class Phone {
    let transport = ScriptedTransport()
    let clock = DatedClock()
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sale-\(UUID().uuidString)")
    let opened = Guarded<[URL]>([])
    var kept: [String] { shop.checkout.contextIDs }
    private(set) var shop: ShopModel

    init() throws {
      shop = try Self.shop(transport, clock, folder)
      attach()
    }

    deinit { try? FileManager.default.removeItem(at: folder) }  // It may not have been made.

    /// Ends the app and starts it again.
    func relaunch() throws {
      shop = try Self.shop(transport, clock, folder)
      attach()
    }

    private func attach() {
      shop.checkout.openInBrowser = { [opened] page in opened.withLock { $0.append(page) } }
    }

    private static func shop(
      _ transport: ScriptedTransport, _ clock: DatedClock, _ folder: URL
    ) throws -> ShopModel {
      let relay = try Example.client(transport, retries: .none, clock: clock)
      let page = try url("https://buy.stripe.com/a")
      let outbox = CheckoutOutbox(relay: relay, folder: folder) { _ in page }
      return Example.shop(relay, outbox, clock: clock)
    }

    /// The customer comes back to the app.
    func comeBack() async {
      shop.setActive(true)
      await shop.checkout.work?.value
      shop.setActive(false)
    }
  }

  @Test("The page opens with the app's id, and the purchase is found after the next launch")
  func sells() async throws {
    let phone = try Phone()
    phone.shop.setActive(true)
    phone.shop.checkout.buy(Example.price)
    await phone.shop.checkout.work?.value
    #expect(phone.shop.checkout.state == .inBrowser)
    let id = try #require(phone.kept.first)
    #expect(
      phone.opened.withLock(\.self).map(\.absoluteString)
        == ["https://buy.stripe.com/a?client_reference_id=\(id)"])
    phone.shop.setActive(false)

    // The relay is back, and still knows nothing of the context: the app does not forget the checkout.
    try phone.relaunch()
    phone.transport.add(.answer(503), OutboxBed.problem(404, "unknown-context"))
    await phone.comeBack()
    #expect(phone.shop.checkout.state == .unchecked)
    #expect(phone.kept == [id])

    let delivered = Example.status("delivered").replacingOccurrences(of: Example.id, with: id)
    phone.transport.add(OutboxBed.posted(id), .answer(200, delivered))
    await phone.comeBack()
    #expect(phone.shop.checkout.state == .confirmed)
    #expect(phone.kept == [])
  }

  @Test func `When the relay stores a context under its own id, the app follows that one`() async throws {
    let phone = try Phone()
    phone.shop.checkout.buy(Example.price)
    await phone.shop.checkout.work?.value
    let id = try #require(phone.kept.first)
    let other = try OutboxBed.outcome(id, storedAs: Example.id)
    phone.shop.checkout.note(other)
    #expect(phone.kept == [Example.id])
    phone.shop.checkout.note(try OutboxBed.outcome("ctx_of_another", storedAs: Example.id))
    #expect(phone.kept == [Example.id])
  }
}
