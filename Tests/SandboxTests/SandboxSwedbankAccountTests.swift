// The simulated Swedbank Pay's decisions, without a server.

import Formats
import Sandbox
import Testing

@Suite("The simulated Swedbank Pay's rules") struct SandboxSwedbankAccountTests {
  @Test func `The merchant's token is required everywhere`() throws {
    let rig = SandboxSwedbankRig()
    #expect(
      try rig.send("POST", "/psp/paymentorders", SandboxSwedbankRig.purchase("a"), token: nil).status == 401)
    #expect(
      try rig.send("POST", "/psp/paymentorders", SandboxSwedbankRig.purchase("a"), token: "other").status
        == 401)
    let answer = try rig.send("GET", "/psp/paymentorders/1", token: "other")
    #expect(answer.body["type"] == "https://api.payex.com/psp/errordetail/unauthorized")
    #expect(answer.body["status"] == 401)
    #expect(rig.account.list.isEmpty)
  }

  @Test func `Orders of version 2, 3.0 and 3.1 have their own operations`() throws {
    let rig = SandboxSwedbankRig()
    let two = try rig.create("a")
    #expect(
      two.rels == ["update-paymentorder-setinstrument", "update-paymentorder-abort", "view-paymentorder"])
    #expect(two.text("paymentOrder", "state") == "Ready")
    #expect(two["paymentOrder"]?["status"] == nil)
    let three = try rig.create("b", [("productName", "Checkout3")])
    #expect(three.rels == ["set-instrument", "abort", "view-checkout"])
    #expect(three["paymentOrder"]?["status"] == nil)
    let newest = try rig.create("c", type: SandboxSwedbankRig.newest)
    #expect(newest.rels == ["set-instrument", "abort", "view-checkout"])
    #expect(newest.text("paymentOrder", "status") == "Initialized")
    #expect(rig.account.list.map(\.version) == [.v2, .v3, .v31])
    #expect(newest.text("paymentOrder", "initiatingSystemUserAgent") == "relay/1")
  }

  @Test func `A slash at the end of the collections is accepted`() throws {
    let rig = SandboxSwedbankRig()
    #expect(try rig.send("POST", "/psp/paymentorders/", SandboxSwedbankRig.purchase("a")).status == 201)
    let consumer: JSONValue = [
      "operation": "initiate-consumer-session", "language": "sv-SE",
      "shippingAddressRestrictedToCountryCodes": ["SE"],
    ]
    let answer = try rig.send("POST", "/psp/consumers/", consumer)
    #expect(answer.status == 200)
    #expect(answer.body.rels == ["view-consumer-identification"])
    #expect(try rig.send("POST", "/psp/consumers", ["language": "sv-SE"]).status == 400)
  }

  @Test(
    "Everything that is wrong with an order is named",
    arguments: [
      ("operation", "Recur", "paymentorder.operation"), ("currency", "sek", "paymentorder.currency"),
      ("amount", "1000", "paymentorder.amount"), ("amount", 0, "paymentorder.amount"),
      ("amount", 9_000_000_000_000_000_000, "paymentorder.amount"),
      ("vatAmount", 2000, "paymentorder.vatAmount"), ("language", "", "paymentorder.language"),
      ("urls", [], "paymentorder.urls"), ("urls", ["hostUrls": []], "paymentorder.urls.hostUrls"),
      (
        "payeeInfo", ["payeeId": "p", "payeeReference": 4_503_599_627_370_495],
        "paymentorder.payeeInfo.payeeReference"
      ),
      ("instrument", "Cash", "paymentorder.instrument"),
      ("paymentToken", "unknown", "paymentorder.paymentToken"),
    ] as [(String, JSONValue, String)])
  func wrongOrders(_ name: String, _ value: JSONValue, _ fault: String) throws {
    let rig = SandboxSwedbankRig()
    let answer = try rig.send("POST", "/psp/paymentorders", SandboxSwedbankRig.purchase("a", [(name, value)]))
    #expect(answer.status == 400)
    #expect(answer.body["type"] == "https://api.payex.com/psp/errordetail/inputerror")
    let names = (0..<9).compactMap { answer.body.at("problems", String($0), "name")?.stringValue }
    #expect(names.contains(fault), "\(names)")
  }

  @Test func `A reference of the merchant can be used once`() throws {
    let rig = SandboxSwedbankRig()
    _ = try rig.create("a")
    #expect(try rig.send("POST", "/psp/paymentorders", SandboxSwedbankRig.purchase("a")).status == 400)
    #expect(rig.account.list.count == 1)
  }

  @Test func `The state is shown to requests that name version 3.1 only`() throws {
    let rig = SandboxSwedbankRig()
    let id = try #require(try rig.create("a", type: SandboxSwedbankRig.newest).text("paymentOrder", "id"))
    #expect(rig.perform(.pay, on: id))
    let old = try rig.send("GET", id).body
    #expect(old.text("paymentOrder", "state") == "Ready")
    #expect(old["paymentOrder"]?["status"] == nil)
    let new = try rig.send("GET", id, type: SandboxSwedbankRig.newest).body
    #expect(new.text("paymentOrder", "status") == "Paid")
    #expect(new["paymentOrder"]?["state"] == nil)
    #expect(new.text("paymentOrder", "paid", "id") == "\(id)/paid")
    #expect(new["paymentOrder"]?["paid"]?["amount"] == nil, "not expanded")
  }

  @Test func `An instrument can be chosen, and amounts changed, until the payer has paid`() throws {
    let rig = SandboxSwedbankRig()
    let order = try rig.create()
    let path = try #require(order.path(of: "update-paymentorder-setinstrument", at: SandboxSwedbankRig.base))
    let swish: JSONValue = ["paymentorder": ["operation": "SetInstrument", "instrument": "Swish"]]
    let answer = try rig.send("PATCH", path, swish)
    #expect(answer.status == 200)
    #expect(answer.body.text("paymentOrder", "instrument") == "Swish")
    let cash: JSONValue = ["paymentorder": ["operation": "SetInstrument", "instrument": "Cash"]]
    #expect(try rig.send("PATCH", path, cash).status == 400)
    let update: JSONValue = ["paymentorder": ["operation": "UpdateOrder", "amount": 500, "vatAmount": 0]]
    #expect(try rig.send("PATCH", path, update).body.at("paymentOrder", "amount") == 500)
    #expect(rig.popCallbacks().isEmpty)
    #expect(rig.perform(.pay, on: path))
    #expect(try rig.send("PATCH", path, swish).status == 403)
  }

  @Test func `An abort ends the order, with a callback`() throws {
    let rig = SandboxSwedbankRig()
    let order = try rig.create("a", [("productName", "Checkout3")])
    let path = try #require(order.path(of: "abort", at: SandboxSwedbankRig.base))
    let body: JSONValue = ["paymentorder": ["operation": "Abort", "abortReason": "CancelledByConsumer"]]
    let answer = try rig.send("PATCH", path, body, type: SandboxSwedbankRig.newest)
    #expect(answer.body.text("paymentOrder", "status") == "Aborted")
    #expect(answer.body.rels == ["view-checkout"])
    #expect(rig.popCallbacks().count == 1)
    #expect(!rig.perform(.pay, on: path))
    #expect(try rig.send("PATCH", path, body).status == 403)
  }

  @Test func `The items of an order are shown when they are expanded`() throws {
    let rig = SandboxSwedbankRig()
    let items: JSONValue = [["reference": "gold", "amount": 1000]]
    let id = try #require(try rig.create("a", [("orderItems", items)]).text("paymentOrder", "id"))
    #expect(try rig.send("GET", id).body.at("paymentOrder", "orderItems", "orderItemList") == nil)
    let expanded = try rig.send("GET", "\(id)?$expand=paid,orderItems").body
    #expect(expanded.at("paymentOrder", "orderItems", "orderItemList", "0", "reference") == "gold")
    #expect(expanded.at("paymentOrder", "paid", "number") == nil, "nothing is paid")
  }

  @Test func `The same seed makes the same ids`() throws {
    let (one, two) = (SandboxSwedbankRig(), SandboxSwedbankRig())
    #expect(try one.create() == two.create())
    two.account = SandboxSwedbankAccount(base: SandboxSwedbankRig.base, token: "secret", seed: 2)
    #expect(try one.create("x") != two.create("x"))
  }

  @Test(arguments: ["/", "/psp", "/psp/creditcard/payments/1", "//"])
  func `Other paths and methods are problems`(_ path: String) throws {
    let rig = SandboxSwedbankRig()
    #expect(try rig.send("GET", path).status == 404)
    #expect(try rig.send("GET", "/psp/consumers").status == 405)
    #expect(try rig.send("POST", "/psp/paymentorders", [1]).status == 400)
  }
}
