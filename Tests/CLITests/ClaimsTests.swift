// Tests of `receiptctl claims`.

import Domain
import Formats
import Store
import Terminal
import Testing

@Suite("Claims of an operator", .everyPlace) struct ClaimsTests {
  private let harness: OperatorHarness
  private let receipt: String

  init() throws {
    harness = try OperatorHarness()
    receipt = try harness.purchase("sub_1", user: nil)
  }

  private func new(_ why: String = "customer wrote") throws -> JSONValue {
    let ran = harness.run("claims", "new", receipt, "--why", why, "--json")
    #expect(ran.code == .done, "\(ran.notes)")
    return try #require(try ran.objects.first)
  }

  @Test func `A new claim prints its token once, and is audited without it`() throws {
    let made = try new()
    let token = try #require(made["token"]?.stringValue)
    #expect(ClaimToken(token) != nil)
    #expect(made["receipt_id"] == .string(receipt))
    #expect(made["url"] == .null)
    #expect(harness.run("receipts", "show", receipt).out.contains("claims new \(receipt) --why TEXT"))
    let audit = harness.run("audit", "list", "--json").out
    #expect(audit.contains("claims new"))
    #expect(audit.contains(receipt))
    #expect(!audit.contains(token))
    for face in [["list"], ["list", "--json"], ["show", made["id"]?.stringValue ?? ""], ["show", token]] {
      let shown = harness.run(arguments: ["claims"] + face)
      #expect(shown.code == .done)
      #expect(!shown.out.contains(token), "\(face)")
    }
    #expect(harness.run("receipts", "show", receipt).out.contains("offered by ann"))
  }

  @Test func `A terminal gets the link of an app with links, and a note about whom to send it to`() throws {
    let links = "links: { origin: 'https://pay.example.com' }, join:"
    try harness.configure { $0.replacing("join:", with: links) }
    let ran = harness.run("claims", "new", receipt, "--why", "customer wrote")
    #expect(ran.out.hasPrefix("https://pay.example.com/v1/ios/claim/clm_"))
    #expect(ran.notes.contains("to nobody else"))
  }

  @Test func `The reason is required, and a purchase that cannot be claimed is explained`() throws {
    #expect(harness.run("claims", "new", receipt).code == .usage)
    let known = try harness.purchase("sub_2")
    let ran = harness.run("claims", "new", known, "--why", "x")
    #expect(ran.code == .refused)
    #expect(ran.notes.contains("has a user"))
    #expect(harness.run("claims", "new", "rcp_none", "--why", "x").code == .notFound)
    for _ in 0..<Claim.openMax { _ = try new() }
    let sixth = harness.run("claims", "new", receipt, "--why", "x")
    #expect(sixth.code == .refused)
    #expect(sixth.notes.contains("5 open claims"))
  }

  @Test func `Claims are revoked one by one, or all of a receipt, and that is audited`() throws {
    let id = try #require(try new()["id"]?.stringValue)
    for _ in 0..<2 { _ = try new() }
    #expect(harness.run("claims", "revoke", id, "--why", "wrong address").out == "Revoked 1 claim.\n")
    #expect(harness.run("claims", "revoke", receipt).out == "Revoked 2 claims.\n")
    #expect(harness.run("claims", "revoke", receipt).out == "Revoked 0 claims.\n")
    let states = try harness.run("claims", "list", "--json").objects.map { $0["state"] }
    #expect(states == ["revoked", "revoked", "revoked"])
    let entries = try harness.run("audit", "list", "--json").objects.filter {
      $0["action"] == "claims revoke"
    }
    #expect(entries.count == 2)
    #expect(harness.run("claims", "revoke", "claim_none").code == .notFound)
  }

  @Test func `A claim that is unknown is not found, and a token is not repeated`() {
    let token = "clm_" + String(repeating: "0", count: 26)
    let ran = harness.run("claims", "show", token)
    #expect(ran.code == .notFound)
    #expect(!ran.notes.contains(token))
  }

  @Test func `The list names the user who claimed, by state and receipt`() throws {
    let token = try #require(try new()["token"]?.stringValue.flatMap(ClaimToken.init))
    _ = try harness.store(UseClaim(token, app: "ios", userID: "jdo-1"))
    let ran = harness.run("claims", "list", "--receipt", receipt, "--state", "claimed", "--json")
    let listed = try ran.objects
    #expect(listed.count == 1)
    #expect(listed.first?["user_id"] == "jdo-1")
    #expect(listed.first?["origin"] == "operator")
    #expect(harness.run("receipts", "show", receipt).out.contains("claimed by jdo-1"))
    #expect(try harness.run("claims", "list", "--state", "offered", "--json").objects.isEmpty)
  }
}
