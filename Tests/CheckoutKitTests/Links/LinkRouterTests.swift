// The one pending link: who may set it, who gets it, and when.

import CheckoutKit
import Foundation
import Testing

@Suite struct LinkRouterTests {
  typealias Router = LinkRouter<ExampleRoute>

  static func router(
    lifetime: TimeInterval? = nil, clock: any CheckoutClock = InstantClock(),
    allows: @escaping @Sendable (ExampleRoute) -> Bool = { _ in true }
  ) -> Router {
    LinkRouter(
      schemes: ["shop"], hosts: ["www.example.com"], lifetime: lifetime, clock: clock, allows: allows)
  }

  /// The routes that one activation returns.
  static func activated(_ router: Router) -> [ExampleRoute] {
    var routes: [ExampleRoute] = []
    let wasThere = router.activate { routes.append($0) }
    #expect(wasThere == !routes.isEmpty)
    return routes
  }

  @Test(arguments: [
    ("com.myApp.newListing", ExampleRoute.newListing), ("com.myApp.activity", .activity),
    ("com.MyApp.messages", .messages(.root)), ("com.myApp.messages", nil), ("com.myApp.unknown", nil),
    ("", nil),
  ])
  func `DL09: quick actions, whose types compare exactly`(_ type: String, _ route: ExampleRoute?) {
    let router = Self.router()
    #expect(router.handle(shortcutType: type) == (route != nil))
    #expect(Self.activated(router) == (route.map { [$0] } ?? []))
  }

  @Test func `DL10: a link that the app does not allow is refused, and keeps the pending link`() throws {
    let isGuest = Guarded(true)
    let router = Self.router { $0 != .newListing || !isGuest.withLock(\.self) }
    #expect(router.handle(shortcutType: "com.myApp.activity"))
    #expect(!router.handle(shortcutType: "com.myApp.newListing"))
    #expect(!router.handle(try url("shop://new-listing")))
    #expect(router.receive(try url("https://www.example.com/new-listing")) == .refused)
    #expect(Self.activated(router) == [.activity])
    isGuest.withLock { $0 = false }
    #expect(router.handle(shortcutType: "com.myApp.newListing"))
    #expect(Self.activated(router) == [.newListing])
  }

  @Test func `DL11: notifications name a message before a request, in text only`() {
    let cases: [([AnyHashable: Any], ExampleRoute?)] = [
      (["data": ["messageId": "1"]], .messages(.details("1"))),
      (["data": ["requestId": "2"]], .request("2")),
      (["data": ["requestId": "2", "messageId": "1"]], .messages(.details("1"))),
      (["data": ["messageId": 1]], nil), (["data": ["messageId": ""]], nil), (["data": "messageId"], nil),
      (["data": ["messageId": ["1"]]], nil), (["messageId": "1"], nil), ([:], nil),
      (["data": ["messageId": 7, "requestId": "2"] as [String: Any], "aps": ["badge": 1]], .request("2")),
    ]
    for (userInfo, route) in cases {
      let router = Self.router()
      #expect(router.handle(notification: userInfo) == (route != nil))
      #expect(Self.activated(router) == (route.map { [$0] } ?? []))
    }
  }

  @Test func `DL12, DL13, DL14: the first activation delivers a link, and only once`() throws {
    let router = Self.router()
    #expect(!router.hasPending)
    #expect(Self.activated(router).isEmpty)
    #expect(router.handle(try url("shop://messages/1")))
    #expect(router.hasPending)
    #expect(Self.activated(router) == [.messages(.details("1"))])
    #expect(!router.hasPending)
    #expect(Self.activated(router).isEmpty)
  }

  @Test func `DL15, DL16: the last valid link of any kind wins; an invalid link changes nothing`() throws {
    let router = Self.router()
    #expect(router.handle(try url("shop://messages/1")))
    #expect(router.handle(shortcutType: "com.myApp.activity"))
    #expect(router.handle(notification: ["data": ["requestId": "2"]]))
    let link = try url("https://www.example.com/messages/3")
    #expect(router.handle(activityType: UniversalLink.activityType, webpageURL: link))
    #expect(!router.handle(try url("shop://unknown")))
    #expect(!router.handle(try url("https://evil.test/messages/4")))
    #expect(!router.handle(shortcutType: "com.myApp.unknown"))
    #expect(!router.handle(notification: [:]))
    #expect(!router.handle(activityType: "other", webpageURL: link))
    #expect(Self.activated(router) == [.messages(.details("3"))])
  }

  @Test func `DL17: a link that arrives while another is handled waits for the next activation`() throws {
    let router = Self.router()
    let second = try url("shop://request/2")
    #expect(router.handle(try url("shop://messages/1")))
    var handled: [ExampleRoute] = []
    router.activate { route in
      // Cleared before the handler runs, so the route is handled once.
      #expect(!router.hasPending)
      handled.append(route)
      #expect(router.handle(second))
    }
    #expect(handled == [.messages(.details("1"))])
    #expect(Self.activated(router) == [.request("2")])
    #expect(!router.hasPending)
  }

  @Test func `DL17: a link whose handler fails is not delivered again`() throws {
    struct Failure: Error {}
    let router = Self.router()
    #expect(router.handle(try url("shop://messages/1")))
    #expect(throws: Failure.self) { try router.activate { _ in throw Failure() } }
    #expect(Self.activated(router).isEmpty)
  }

  @Test("DL18: a link that arrives while the app is active is delivered by the next call, once")
  func waitsWhileActive() throws {
    let router = Self.router()
    #expect(Self.activated(router).isEmpty)
    #expect(router.handle(try url("shop://activity")))
    #expect(router.popPending() == .activity)
    #expect(router.popPending() == nil)
  }

  @Test func `DL19: a hundred tasks offer links, and exactly one is handled`() async throws {
    let router = Self.router()
    await withTaskGroup(of: Bool.self) { group in
      for number in 0..<100 { group.addTask { router.offer(.request("\(number)")) } }
      for await isTaken in group { #expect(isTaken) }
    }
    #expect(Self.activated(router).count == 1)
    #expect(Self.activated(router).isEmpty)
  }

  @Test("DL19: concurrent offers and activations handle no link twice and keep the last one")
  func losesNothing() async throws {
    let router = Self.router()
    let handled = Guarded<[ExampleRoute: Int]>([:])
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<100 {
        group.addTask {
          router.offer(.request("\(number)"))
          router.activate { route in handled.withLock { $0[route, default: 0] += 1 } }
        }
      }
    }
    #expect(handled.withLock { $0.values.allSatisfy { $0 == 1 } && !$0.isEmpty })
    #expect(!router.hasPending)
  }

  @Test func `DL22: a pending link never expires, unless the app sets a time`() throws {
    let clock = InstantClock()
    let patient = Self.router(clock: clock)
    let hasty = Self.router(lifetime: 60, clock: clock)
    for router in [patient, hasty] { #expect(router.handle(try url("shop://activity"))) }
    clock.pass(60)
    #expect(hasty.hasPending)
    clock.pass(1)
    #expect(!hasty.hasPending)
    #expect(Self.activated(hasty).isEmpty)
    clock.pass(1_000_000)
    #expect(Self.activated(patient) == [.activity])
    // An expired link does not block a new one.
    #expect(hasty.handle(try url("shop://messages")))
    #expect(Self.activated(hasty) == [.messages(.root)])
  }

  @Test("SH17: a web page that is not a place of the app goes to the browser, and is never dropped")
  func opensTheRestInTheBrowser() throws {
    let router = Self.router()
    for text in [
      "https://www.example.com/terms", "https://www.example.com", "https://evil.test/messages/1",
      "http://www.example.com/messages/1", "https://www.example.com/request/",
    ] {
      #expect(router.receive(try url(text)) == .openInBrowser(try url(text)))
      #expect(!router.handle(try url(text)))
    }
    for text in ["shop://unknown", "javascript:alert(1)", "file:///etc/passwd", "other://messages/1"] {
      #expect(router.receive(try url(text)) == .refused)
    }
    #expect(!router.hasPending)
    #expect(router.receive(try url("shop://activity")) == .route(.activity))
    #expect(Self.activated(router) == [.activity])
  }
}
