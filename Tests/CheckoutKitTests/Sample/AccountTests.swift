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
    let model = Example.shop(
      relay, CheckoutOutbox(relay: relay, folder: folder), user: user, isAnonymous: !isSignedIn,
      checkouts: checkouts)
    return (model, transport)
  }

  @Test("After another user has signed in, no outcome of the previous user's checkouts is shown")
  func users() async throws {
    let (shop, transport) = try self.shop(
      [.answer(201, Example.posted(checkout: Self.page)), .answer(200, Example.status("delivered"))])
    shop.setActive(true)
    shop.checkout.buy(Example.price)
    await shop.checkout.work?.value
    #expect(shop.checkout.state == .inBrowser)
    shop.checkout.logIn("ben")
    await shop.checkout.work?.value
    #expect(shop.checkout.state == .none)
    // Also not by the link of the previous user's checkout.
    shop.open(try url("https://pay.example.com/v1/ios/return?context_id=\(Example.id)"))
    shop.setActive(false)
    shop.setActive(true)
    await shop.checkout.work?.value
    #expect(shop.checkout.state == .none)
    #expect(transport.sent.count == 1, "nothing was asked")
    // The previous user comes back.
    shop.checkout.logIn("jdo-1")
    await shop.checkout.work?.value
    #expect(shop.checkout.state == .confirmed)
    #expect(shop.checkout.contextIDs == [])
  }

  @Test func `A launch shows only what the signed-in user has begun`() throws {
    let checkouts = OpenCheckouts([Example.id], of: "jdo-1")
    #expect(try shop([], user: "ben", checkouts: checkouts).model.checkout.state == .none)
    #expect(try shop([], checkouts: checkouts).model.checkout.state == .unchecked)
  }

  @Test("A purchase without a user waits for the sign-in, and is added only if the customer agrees")
  func claims() async throws {
    let (shop, transport) = try self.shop([ClaimLinkTests.accepted()], user: "anonymous-7", isSignedIn: false)
    shop.setActive(true)
    shop.open(try url(Self.claim))
    #expect(shop.checkout.claim == .signIn)
    shop.checkout.addPurchase()
    #expect(shop.checkout.claiming == nil, "an anonymous id is no account")
    shop.checkout.logIn("jdo-1")
    #expect(shop.checkout.claim == .ask)
    #expect(shop.checkout.claim.message == "Add this purchase to your account?")
    #expect(transport.sent.isEmpty)
    shop.checkout.addPurchase()
    #expect(shop.checkout.claim == .adding)
    await shop.checkout.claiming?.value
    #expect(shop.checkout.claim == .added)
    #expect(transport.sent.first?.url?.path == "/v1/ios/users/jdo-1/claims")
    // The link is used up.
    shop.checkout.logIn("ben")
    #expect(shop.checkout.claim == .none)
  }

  @Test(
    "Each result of a claim is shown, and the customer can try again after a failure",
    arguments: [
      (OutboxBed.problem(409, "claimed-by-another-user"), ClaimState.otherUser),
      (OutboxBed.problem(410, "claim-gone"), .expired), (OutboxBed.problem(404, "unknown-claim"), .unknown),
      (.answer(503), .later), (.answer(403), .later),
    ])
  func results(_ step: ScriptedTransport.Step, _ end: ClaimState) async throws {
    let (shop, _) = try self.shop([step, ClaimLinkTests.accepted(replay: true)])
    shop.setActive(true)
    shop.open(try url(Self.claim))
    shop.checkout.addPurchase()
    await shop.checkout.claiming?.value
    #expect(shop.checkout.claim == end)
    #expect(shop.checkout.claim.message != nil)
    shop.checkout.addPurchase()
    await shop.checkout.claiming?.value
    #expect(shop.checkout.claim == (end == .later ? .added : end))
  }

  @Test func `A customer who does not want the purchase in this account is not asked again`() throws {
    let (shop, transport) = try self.shop([])
    shop.setActive(true)
    shop.open(try url(Self.claim))
    shop.checkout.declinePurchase()
    shop.checkout.logIn("ben")
    #expect(shop.checkout.claim == .none)
    #expect(transport.sent.isEmpty)
  }
}
