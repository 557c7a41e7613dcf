// What became of a checkout that only its session names.

import Domain
import SQLite
import Testing

@testable import Store

@Suite("The status of a session") struct CheckoutStatusTests {
  @Test(
    "A session is known from its first event on, under its subscription or its own name, to its app alone")
  func bySession() throws {
    let store = try TestStore()
    func status(_ session: String = "cs_1", app: String = "ios") throws -> CheckoutStatus? {
      try store.reader.status(app: app, sessionID: session)
    }
    #expect(try status() == nil)
    let id = try store.post()
    // Before its subscription has a name, and after.
    try store.take(Said.completed(unpaid: true, named: false, prices: ["price_1"]))
    #expect(try status()?.state == .open && status()?.reason == .payment && status()?.contextID == id)
    try store.take(Said.session("1", .checkoutPaid))
    #expect(try status()?.state == .paid && status()?.contextID == id)
    #expect(try status()?.updatedAt == store.now && status()?.receiptID == store.only().receipt?.id)
    #expect(try status(app: "web") == nil && status("cs_2") == nil && status("sub_1") == nil)
    // Without a context, and without a subscription.
    try store.take(Said.payment("2", user: "u2"))
    #expect(try status("cs_2")?.state == .paid && status("cs_2")?.contextID == nil)
  }

  @Test("A session that ended before anybody had paid has expired")
  func abandoned() throws {
    let store = try TestStore()
    try store.take(Said.session("1", .checkoutExpired, named: false))
    #expect(try store.reader.status(app: "ios", sessionID: "cs_1")?.state == .expired)
    try store.take(Said.session("2", [.checkoutUnpaid], named: false))
    try store.take(Said.session("2", [.paymentFailed], named: false))
    let failed = try store.reader.status(app: "ios", sessionID: "cs_2")
    #expect(failed?.state == .cancelled && failed?.reason == .paymentFailed)
  }

  @Test("The status of a context says since when it has been what it is")
  func begun() throws {
    let store = try TestStore()
    let id = try store.post()
    store.advance(minute)
    try store.post()
    func status() throws -> CheckoutStatus? {
      try store.reader.status(app: "ios", contextID: id, now: store.now)
    }
    #expect(try status()?.begunAt == store.now && status()?.updatedAt == TestStore.start)
    store.advance(minute)
    try store.take(Said.completed(prices: ["price_1"], at: store.now))
    #expect(try status()?.begunAt == store.now && status()?.contextID == id)
  }
}
