// The Swedbank Pay part of docs/ios.md behaves as the guide describes.

import CheckoutKit
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite @MainActor struct SwedbankSampleTests {
  private static let posted = ScriptedTransport.Step.answer(201, Example.posted())

  private static func status(_ state: String, paid: Bool? = nil) -> ScriptedTransport.Step {
    .answer(200, Example.status(state, paid: paid))
  }

  /// The state of a payment that began just now.
  private static func status(_ state: String, paid: Bool, of id: String) -> ScriptedTransport.Step {
    .answer(200, Example.status(state, paid: paid).replacingOccurrences(of: Example.id, with: id))
  }

  @MainActor private final class Scene {
    let transport: ScriptedTransport
    let model: SwedbankModel
    private(set) var kept: [[String]] = []
    private(set) var shown: [(url: URL, headers: [String: String])] = []
    /// Whether the app's backend reports the purchase.
    var isUnlocked = true

    init(
      _ steps: [ScriptedTransport.Step], end: SwedbankModel.End = .complete, contextIDs: [String] = [],
      of user: String = "jdo-1"
    ) throws {
      transport = ScriptedTransport(steps)
      model = SwedbankModel(
        relay: try Example.client(transport, retries: .none), userID: "jdo-1", attributes: { [:] },
        checkouts: OpenCheckouts(contextIDs, of: user))
      model.keepCheckouts = { [unowned self] in kept.append($0.ids(of: "jdo-1")) }
      model.showPayment = { [unowned self] url, headers in
        shown.append((url, headers))
        return end
      }
      model.reloadEntitlements = { [unowned self] in isUnlocked }
    }
  }

  @Test("The SDK gets the relay's address and headers, and the relay decides what is shown")
  func pays() async throws {
    let scene = try Scene([
      Self.posted, Self.status("open"), Self.status("paid", paid: true), Self.status("delivered", paid: true),
    ])
    await scene.model.buy(planID: Example.price)
    #expect(scene.model.state == .bought)
    #expect(scene.shown.count == 1)
    let shown = try #require(scene.shown.first)
    #expect(shown.url.absoluteString == "https://pay.example.com/v1/ios/swedbank/")
    let headers = ["X-API-KEY": "key-1", "X-User-Id": "jdo-1", "X-Context-Id": Example.id]
    #expect(shown.headers == headers)
    #expect(scene.kept == [[Example.id], []])
  }

  @Test("The SDK's success alone is no payment, and its cancellation no proof against one")
  func trustsTheRelay() async throws {
    let unpaid = try Scene([Self.posted, Self.status("expired", paid: false)])
    await unpaid.model.buy(planID: Example.price)
    #expect(unpaid.model.state == .notPaid)
    #expect(unpaid.kept == [[Example.id], []])
    let paid = try Scene([Self.posted, Self.status("paid", paid: true)], end: .cancelled)
    await paid.model.buy(planID: Example.price)
    #expect(paid.model.state == .processing)
    #expect(paid.kept == [[Example.id]])
    #expect(paid.transport.sent.count == 2)
  }

  @Test("A purchase is ready only when the backend reports it, and its id is kept until then")
  func waitsForTheBackend() async throws {
    let id = CheckoutID.make()
    let delivered = Self.status("delivered", paid: true, of: id)
    let scene = try Scene([delivered], contextIDs: [id])
    scene.isUnlocked = false
    await scene.model.resume()
    #expect(scene.model.state == .activating)
    #expect(scene.kept == [])
    scene.isUnlocked = true
    scene.transport.add(delivered)
    await scene.model.resume()
    #expect(scene.model.state == .bought)
    #expect(scene.kept == [[]])
  }

  @Test func `An expired payment can still come, for 30 days`() async throws {
    let id = CheckoutID.make()
    let scene = try Scene([Self.status("expired", paid: false, of: id)], contextIDs: [id])
    await scene.model.resume()
    #expect(scene.kept == [])
    scene.transport.add(Self.status("paid", paid: true, of: id))
    await scene.model.resume()
    #expect(scene.model.state == .processing)
    let old = CheckoutID.make(at: Date() - 31 * 86_400)
    let forgotten = try Scene([Self.status("expired", paid: false, of: old)], contextIDs: [old])
    await forgotten.model.resume()
    #expect(forgotten.kept == [[]])
  }

  @Test func `A payment that comes after the app was restarted is found`() async throws {
    let scene = try Scene([Self.posted, Self.status("open")], end: .cancelled)
    await scene.model.buy(planID: Example.price)
    #expect(scene.model.state == .notPaid)
    #expect(scene.kept == [[Example.id]])
    let later = try Scene([Self.status("failed", paid: true)], contextIDs: [Example.id])
    await later.model.resume()
    #expect(later.model.state == .processing)
    #expect(later.kept == [])
    later.transport.add(Self.status("delivered", paid: true))
    await later.model.resume()
    #expect(later.model.state == .bought)
    #expect(later.kept == [[]])
    let forgotten = try Scene([PaymentExample.refusal(404, "unknown-context")], contextIDs: [Example.id])
    await forgotten.model.resume()
    #expect(forgotten.kept == [[]])
    // A hotel's captive portal does not know the payment either.
    let portal = try Scene([.answer(404, "<html>")], contextIDs: [Example.id])
    await portal.model.resume()
    #expect(portal.kept == [])
  }

  @Test func `A payment of the user before is neither asked about nor shown`() async throws {
    let scene = try Scene([Self.status("delivered", paid: true)], contextIDs: [Example.id], of: "anna")
    await scene.model.resume()
    #expect(scene.model.state == .none)
    #expect(scene.transport.sent.isEmpty)
  }

  @Test("A relay that cannot be reached leaves the payment unchecked, and its id is kept")
  func isUnchecked() async throws {
    let scene = try Scene([Self.posted])
    await scene.model.buy(planID: Example.price)
    #expect(scene.model.state == .unchecked)
    #expect(scene.kept == [[Example.id]])
    await scene.model.resume()
    #expect(scene.model.state == .unchecked)
    scene.transport.add(Self.status("open"))
    await scene.model.resume()
    #expect(scene.model.state == .notPaid)
  }

  @Test func `One unpaid payment says nothing about another that could not be checked`() async throws {
    let scene = try Scene([Self.posted], contextIDs: ["ctx_older"])
    await scene.model.buy(planID: Example.price)
    #expect(scene.model.state == .unchecked)
    scene.transport.add(Self.status("open"))
    await scene.model.resume()
    #expect(scene.model.state == .unchecked)
  }

  @Test func `A payment that cannot be prepared is not shown`() async throws {
    let scene = try Scene([.answer(403, "no")])
    await scene.model.buy(planID: Example.price)
    #expect(scene.model.state == .notOpened(.contactSupport))
    #expect(scene.shown.isEmpty)
    #expect(scene.kept == [])
  }

  @Test func `Without the SDK the order's page is opened`() async throws {
    let transport = ScriptedTransport(.answer(201, PaymentExample.order()))
    let payment = SwedbankPayment(
      relay: try Example.client(transport), userID: "jdo-1", contextID: Example.id)
    #expect(try await payment.page(price: 1000, of: "Gold")?.absoluteString == PaymentExample.redirect)
    let body = String(decoding: try #require(transport.sent.first?.httpBody), as: UTF8.self)
    #expect(body.contains(#""amount":1000"#))
    #expect(body.contains(#""vatAmount":200"#))
  }
}
