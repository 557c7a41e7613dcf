// Payments, callbacks and tokens at the simulated Swedbank Pay, without a server.

import Formats
import Sandbox
import Testing

@Suite("Money at the simulated Swedbank Pay") struct SandboxSwedbankMoneyTests {
  @Test func `An authorization is captured once, and paid back`() throws {
    let rig = SandboxSwedbankRig()
    let id = try #require(try rig.create().text("paymentOrder", "id"))
    #expect(rig.perform(.authorize, on: id))
    let order = try rig.send("GET", "\(id)?$expand=paid", type: SandboxSwedbankRig.newest).body
    #expect(order.text("paymentOrder", "paid", "transactionType") == "Authorization")
    #expect(order.at("paymentOrder", "remainingCaptureAmount") == 1000)
    #expect(order.rels == ["capture", "cancel", "view-paymentorder"])
    let path = try #require(order.path(of: "capture", at: SandboxSwedbankRig.base))
    func capture(_ amount: JSONValue, _ reference: String) -> JSONValue {
      ["transaction": ["amount": amount, "vatAmount": 0, "payeeReference": .string(reference)]]
    }
    #expect(try rig.send("POST", path, capture(1001, "c1")).status == 403)
    #expect(try rig.send("POST", path, capture("10.00", "c1")).status == 400)
    #expect(try rig.send("POST", path, capture(1000, "c1"), type: SandboxSwedbankRig.newest).status == 200)
    #expect(try rig.send("POST", path, capture(1000, "c1")).status == 400, "the reference was used")
    #expect(try rig.send("POST", path, capture(1000, "c2")).status == 403, "nothing is left")
    let captured = try #require(rig.account.order(id))
    #expect(captured.capturedAmount == 1000)
    #expect(captured.captureRequests == 5)
    let after = try rig.send("GET", id, type: SandboxSwedbankRig.newest).body
    #expect(after.at("paymentOrder", "remainingCaptureAmount") == nil, "the API leaves a zero out")
    #expect(after.at("paymentOrder", "remainingReversalAmount") == 1000)
    #expect(after.rels == ["reversal", "view-paymentorder"])
    let reversals = try #require(after.path(of: "reversal", at: SandboxSwedbankRig.base))
    #expect(try rig.send("POST", reversals, capture(400, "r1")).status == 200)
    #expect(rig.account.order(id)?.status == .paid, "a part only")
    #expect(try rig.send("POST", reversals, capture(600, "r2")).status == 200)
    #expect(rig.account.order(id)?.status == .reversed)
  }

  @Test(
    "A payer's action is possible in these states only",
    arguments: [
      ([], [.pay, .authorize, .fail, .cancel, .abort]), ([.pay], [.reverse]),
      ([.authorize], [.cancel, .capture]), ([.authorize, .cancel], []), ([.authorize, .capture], [.reverse]),
      ([.fail], [.pay, .authorize, .fail, .cancel, .abort]), ([.cancel], []), ([.abort], []),
      ([.pay, .reverse], []), ([.fail, .pay], [.reverse]),
    ] as [([SandboxSwedbankAction], [SandboxSwedbankAction])])
  func states(_ before: [SandboxSwedbankAction], _ possible: [SandboxSwedbankAction]) throws {
    let rig = SandboxSwedbankRig()
    let id = try #require(try rig.create().text("paymentOrder", "id"))
    for action in before { #expect(rig.perform(action, on: id)) }
    for action in SandboxSwedbankAction.allCases {
      let copy = SandboxSwedbankRig(rig.account)
      let isPossible = possible.contains(action)
      #expect(rig.account.order(id)?.allows(action) == isPossible, "\(action)")
      #expect(copy.perform(action, on: id) == isPossible, "\(action)")
    }
  }

  @Test func `Callbacks have the form of the order's version, and say nothing of the state`() throws {
    let rig = SandboxSwedbankRig()
    let old = try #require(try rig.create("a").text("paymentOrder", "id"))
    #expect(rig.perform(.pay, on: old))
    let first = try JSONValue(parsing: try #require(rig.popCallbacks().first).body)
    #expect(first.text("paymentOrder", "id") == old)
    #expect(first.text("payment", "id")?.hasPrefix("/psp/creditcard/payments/") == true)
    #expect(first.text("transaction", "id")?.contains("/sales/") == true)
    let payee: JSONValue = ["payeeId": "p", "payeeReference": "b", "orderReference": "order-7"]
    let new = try #require(
      try rig.create("b", [("payeeInfo", payee)], type: SandboxSwedbankRig.newest).text("paymentOrder", "id"))
    rig.account.callbackCopies = 3
    #expect(rig.perform(.fail, on: new))
    let callbacks = rig.popCallbacks()
    #expect(callbacks.count == 3)
    let second = try JSONValue(parsing: try #require(callbacks.first).body)
    #expect(second["orderReference"] == "order-7")
    #expect(second.text("paymentOrder", "id") == new)
    #expect(second["payment"] == nil)
    #expect(!second.text.contains("Failed"))
    #expect(rig.popCallbacks().isEmpty)
    rig.account.callbackCopies = 0
    #expect(rig.perform(.pay, on: new))
    #expect(rig.popCallbacks().isEmpty)
    let isRepeated = rig.account.repeatCallback(of: new)
    #expect(isRepeated)
    #expect(rig.popCallbacks().count == 1)
  }

  @Test func `Tokens are issued when the payer pays, and a payer's tokens can be deleted`() throws {
    let rig = SandboxSwedbankRig()
    let id = try #require(
      try rig.create(
        "a",
        [
          ("generateRecurrenceToken", true), ("generateUnscheduledToken", true),
          ("generatePaymentToken", true), ("payer", ["payerReference": "user/1"]),
        ]
      ).text("paymentOrder", "id"))
    let list = "/psp/paymentorders/payerownedpaymenttokens/user%2F1"
    #expect(try rig.send("GET", list).status == 404)
    #expect(rig.perform(.authorize, on: id))
    let paid = try rig.send("GET", "\(id)?%24expand=paid").body
    let types = (0..<3).map { paid.at("paymentOrder", "paid", "tokens", String($0), "type")?.stringValue }
    #expect(types == ["payment", "recurrence", "unscheduled"])
    let owned = try #require(try rig.send("GET", list).body["payerOwnedPaymentTokens"])
    #expect(owned["payerReference"] == "user/1")
    let href = try #require(owned.at("paymentTokens", "0", "operations", "0", "href")?.stringValue)
    let path = String(href.dropFirst(SandboxSwedbankRig.base.count))
    #expect(try rig.send("PATCH", path, ["status": "Deleted", "comment": "c"]).status == 400)
    #expect(try rig.send("PATCH", path, ["state": "Deleted", "comment": "c"]).status == 200)
    #expect(try rig.send("GET", list).status == 404)
  }
}
