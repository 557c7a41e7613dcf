// The sample with several users on one device, and with a purchase that has no user yet.

import CheckoutKit
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite @MainActor final class AccountTests {
  private static let page = "https://buy.stripe.com/a?client_reference_id=\(Example.id)"
  private static let claim = ClaimLinkTests.address

  /// The outbox's, where it keeps the link.
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("account-\(UUID().uuidString)", isDirectory: true)

  deinit { try? FileManager.default.removeItem(at: folder) }  // Some tests make no folder.

  private func shop(
    _ steps: [ScriptedTransport.Step], user: String = "jdo-1", isSignedIn: Bool = true,
    checkouts: OpenCheckouts = OpenCheckouts()
  ) throws -> (model: ShopModel, transport: ScriptedTransport) {
    let transport = ScriptedTransport(steps)
    let relay = try Example.client(transport, retries: .none)
    let model = ShopModel(
      relay: relay, outbox: CheckoutOutbox(relay: relay, folder: folder), userID: user,
      isSignedIn: isSignedIn,
      attributes: { [:] }, checkouts: checkouts, clock: InstantClock())
    return (model, transport)
  }

  @Test("After another user has signed in, no outcome of the previous user's checkouts is shown")
  func users() async throws {
    let (shop, transport) = try self.shop(
      [.answer(201, Example.posted(checkout: Self.page)), .answer(200, Example.status("delivered"))])
    var kept = OpenCheckouts()
    shop.keepCheckouts = { kept = $0 }
    shop.setActive(true)
    shop.buy(planID: Example.price)
    await shop.work?.value
    #expect(shop.state.checkout == .inBrowser)
    shop.changeUser(to: "ben", isSignedIn: true)
    await shop.work?.value
    #expect(shop.state.checkout == .none)
    // Also not by the link of the previous user's checkout.
    shop.open(try url("https://pay.example.com/v1/ios/return?context_id=\(Example.id)"))
    shop.setActive(false)
    shop.setActive(true)
    await shop.work?.value
    #expect(shop.state.checkout == .none)
    #expect(transport.sent.count == 1, "nothing was asked")
    #expect(kept.ids(of: "jdo-1") == [Example.id])
    // The previous user comes back.
    shop.changeUser(to: "jdo-1", isSignedIn: true)
    await shop.work?.value
    #expect(shop.state.checkout == .bought)
    #expect(kept == OpenCheckouts())
  }

  @Test("A launch shows only what the signed-in user has begun")
  func launch() throws {
    let checkouts = OpenCheckouts([Example.id], of: "jdo-1")
    #expect(try shop([], user: "ben", checkouts: checkouts).model.state.checkout == .none)
    #expect(try shop([], checkouts: checkouts).model.state.checkout == .unchecked)
  }

  @Test("A purchase without a user waits for the sign-in, and is added only if the customer agrees")
  func claims() async throws {
    let (shop, transport) = try self.shop([ClaimLinkTests.accepted()], user: "anonymous-7", isSignedIn: false)
    shop.setActive(true)
    shop.open(try url(Self.claim))
    #expect(shop.state.claim == .signIn)
    shop.addPurchase()
    #expect(shop.claiming == nil, "an anonymous id is no account")
    shop.changeUser(to: "jdo-1", isSignedIn: true)
    #expect(shop.state.claim == .ask)
    #expect(shop.state.claim.message == "Add this purchase to your account?")
    #expect(transport.sent.isEmpty)
    shop.addPurchase()
    #expect(shop.state.claim == .adding)
    await shop.claiming?.value
    #expect(shop.state.claim == .added)
    #expect(transport.sent.first?.url?.path == "/v1/ios/users/jdo-1/claims")
    // The link is used up.
    shop.changeUser(to: "ben", isSignedIn: true)
    #expect(shop.state.claim == .none)
  }

  @Test(
    "Each result of a claim is shown, and the customer can try again after a failure",
    arguments: [
      (OutboxBed.problem(409, "claimed-by-another-user"), ShopModel.Claim.otherUser),
      (OutboxBed.problem(410, "claim-gone"), .expired), (OutboxBed.problem(404, "unknown-claim"), .unknown),
      (.answer(503), .later), (.answer(403), .later),
    ])
  func results(_ step: ScriptedTransport.Step, _ end: ShopModel.Claim) async throws {
    let (shop, _) = try self.shop([step, ClaimLinkTests.accepted(replay: true)])
    shop.setActive(true)
    shop.open(try url(Self.claim))
    shop.addPurchase()
    await shop.claiming?.value
    #expect(shop.state.claim == end)
    #expect(shop.state.claim.message != nil)
    shop.addPurchase()
    await shop.claiming?.value
    #expect(shop.state.claim == (end == .later ? .added : end))
  }

  @Test("A customer who does not want the purchase in this account is not asked again")
  func declined() throws {
    let (shop, transport) = try self.shop([])
    shop.setActive(true)
    shop.open(try url(Self.claim))
    shop.declinePurchase()
    shop.changeUser(to: "ben", isSignedIn: true)
    #expect(shop.state.claim == .none)
    #expect(transport.sent.isEmpty)
  }
}
