// The example app of docs/ios.md behaves as the guide describes.

import CheckoutKit
import Foundation
import Testing

@Suite @MainActor struct SampleTests {
  private static let page = "https://buy.stripe.com/a?client_reference_id=\(Example.id)"

  private static func shop(
    _ steps: ScriptedTransport.Step..., clock: InstantClock = InstantClock()
  ) throws -> (model: ShopModel, opened: Guarded<[URL]>) {
    let relay = try Example.client(ScriptedTransport(steps), retries: .none, clock: clock)
    let model = Example.shop(relay, Example.outbox(relay), clock: clock)
    let opened = Guarded<[URL]>([])
    model.checkout.openInBrowser = { url in opened.withLock { $0.append(url) } }
    return (model, opened)
  }

  private static var back: String { "https://pay.example.com/v1/ios/return?context_id=\(Example.id)" }

  @Test(
    "From the paywall to the browser and back, the app shows the relay's state",
    arguments: [("delivered", CheckoutState.confirmed), ("cancelled", .notPaid)])
  func goesRound(_ state: String, _ end: CheckoutState) async throws {
    let (shop, opened) = try Self.shop(
      .answer(201, Example.posted(checkout: Self.page)), .answer(200, Example.status("open")),
      .answer(200, Example.status(state)))
    shop.setActive(true)
    shop.open(try url("exampleapp://web_checkout/?plan_id=\(Example.price)"))
    #expect(shop.checkout.state == .opening)
    await shop.checkout.work?.value
    #expect(shop.checkout.state == .inBrowser)
    #expect(opened.withLock(\.self) == [try url(Self.page)])
    shop.setActive(false)
    // The link arrives before the scene is active, in both of SwiftUI's ways.
    shop.open(try url(Self.back))
    shop.continueActivity(UniversalLink.activityType, try url(Self.back))
    #expect(shop.checkout.state == .inBrowser)
    shop.setActive(true)
    #expect(shop.checkout.state == .checking)
    await shop.checkout.work?.value
    #expect(shop.checkout.state == end)
    #expect(opened.withLock(\.count) == 1)
  }

  @Test("A link of another checkout is ignored; a link without an id belongs to the current checkout")
  func knowsItsOwn() async throws {
    let clock = InstantClock()
    let (shop, _) = try Self.shop(
      .answer(201, Example.posted(checkout: Self.page)), .answer(200, Example.status("delivered")),
      clock: clock)
    shop.setActive(true)
    let other = try url("https://pay.example.com/v1/ios/return?context_id=ctx_01HXZ4T9V8KQ2M3N4P5R6S7T00")
    shop.open(other)
    #expect(shop.checkout.state == .none)
    shop.checkout.buy(Example.price)
    await shop.checkout.work?.value
    clock.pass(2)
    shop.open(other)
    #expect(shop.checkout.state == .inBrowser)
    // An address without a context means the checkout that was begun.
    shop.open(try url("exampleapp://pay.example.com/v1/ios/return?session_id=cs_1"))
    #expect(shop.checkout.state == .checking)
    await shop.checkout.work?.value
    #expect(shop.checkout.state == .confirmed)
  }

  @Test func `The state is also shown to a customer who comes back without a link`() async throws {
    let (shop, _) = try Self.shop(
      .answer(201, Example.posted(checkout: Self.page)), .answer(200, Example.status("delivered")))
    shop.setActive(true)
    shop.checkout.buy(Example.price)
    await shop.checkout.work?.value
    shop.setActive(false)
    shop.setActive(true)
    await shop.checkout.work?.value
    #expect(shop.checkout.state == .confirmed)
  }

  @Test func `Failures are shown, and other links open their places`() async throws {
    let (shop, _) = try Self.shop(.answer(422, "no page"))
    shop.checkout.buy("price_unknown")
    await shop.checkout.work?.value
    #expect(shop.checkout.state == .notOpened(.contactSupport))
    shop.openNotification(["data": ["orderId": "7"]])
    #expect(shop.place == .plans)
    shop.setActive(true)
    #expect(shop.place == .order("7"))
    #expect(shop.performShortcut("com.example.app.plans"))
    #expect(shop.place == .plans)
    #expect(!shop.performShortcut("other"))
    shop.open(try url("exampleapp://orders/a%2Fb"))
    #expect(shop.place == .order("a/b"))
  }

  @Test func `A link that arrives in both ways is opened once, and again when it is tapped again`() throws {
    let clock = InstantClock()
    let (shop, opened) = try Self.shop(clock: clock)
    shop.setActive(true)
    let terms = try url("https://pay.example.com/terms")
    shop.continueActivity("com.example.editing", terms)
    shop.continueActivity(UniversalLink.activityType, nil)
    #expect(opened.withLock(\.self) == [])
    shop.open(terms)
    shop.continueActivity(UniversalLink.activityType, terms)
    #expect(opened.withLock(\.self) == [terms])
    clock.pass(2)
    shop.continueActivity(UniversalLink.activityType, terms)
    shop.open(terms)
    #expect(opened.withLock(\.self) == [terms, terms])
    shop.open(try url("https://pay.example.com/imprint"))
    #expect(opened.withLock(\.count) == 3)
  }

  @Test func `Cash App's redirect reaches the waiting task`() async throws {
    let (shop, _) = try Self.shop()
    let opened = AsyncStream.makeStream(of: URL.self)
    shop.checkout.openInBrowser = { opened.continuation.yield($0) }
    let redirect = try url("exampleapp://cash-app")
    let authorization = try url("https://cash.app/request/1")
    let outcome = Task { await shop.checkout.pay(authorization: authorization, redirect: redirect) }
    for await page in opened.stream {
      #expect(page == authorization)
      break
    }
    shop.open(try url("exampleapp://cash-app?status=approved"))
    #expect(await outcome.value == .redirected(try url("exampleapp://cash-app?status=approved")))
  }
}
