import Domain
import Formats
import Terminal
import Testing

@Suite("receiptctl find", .everyPlace)
struct FindCommandTests {
  /// One user with a context and two purchases, of which one was delivered.
  private func harness() throws -> OperatorHarness {
    let harness = try OperatorHarness()
    try harness.context("e30=", price: "price_1")
    harness.clock.advance(.seconds(60))
    try harness.deliver(try harness.purchase("sub_1NkXMvLkdIwHu7ix"), importID: "imp-4711")
    harness.clock.advance(.seconds(60))
    try harness.fail(try harness.purchase("sub_1NkXPwLkdIwHu7ix"))
    harness.clock.advance(.hours(1))
    return harness
  }

  @Test func `A user's purchases and contexts are in one table, the newest first`() throws {
    let ran = try harness().run("find", "jdo-1")
    #expect(ran.code == .done)
    Snapshot.check(ran.out, "find")
    #expect(ran.notes.contains("Details: receiptctl receipts show rcp_"))
  }

  @Test("The beginning of an id and a URL find the same as the id, and --json has fixed fields")
  func json() throws {
    let harness = try harness()
    let id = "sub_1NkXMvLkdIwHu7ix"
    let whole = harness.run("find", id, "--json")
    let object = try #require(try whole.objects.first)
    guard case .object(let members) = object else {
      Issue.record("\(object)")
      return
    }
    let names = ["app", "at", "found_by", "id", "object_id", "receipt_id", "state", "user_id", "what"]
    #expect(members.map(\.name) == names)
    #expect(object["object_id"] == .string(id))
    #expect(object["found_by"] == "purchase")
    #expect(object["state"] == "delivered")
    #expect(object["id"] == object["receipt_id"])
    for text in [id.dropLast(6).description, "https://dashboard.stripe.com/subscriptions/\(id)", " \(id) "] {
      #expect(harness.run("find", text, "--json").out == whole.out, "\(text)")
    }
    #expect(try harness.run("find", "evt_1", "--json").objects.first?["what"] == "event")
    #expect(try harness.run("find", "imp-4711", "--json").objects.first?["found_by"] == "import id")
  }

  @Test func `A price finds its receipts`() throws {
    let ran = try harness().run("find", "price_1", "--json")
    #expect(ran.code == .done)
    #expect(try ran.objects.map { $0["found_by"] } == ["price", "price"])
    #expect(try harness().run("find", "price_1", "--until", "2h").code == .notFound)
  }

  @Test func `Nothing found ends with 66 and says why; a wrong text with 64`() throws {
    let harness = try harness()
    let unknown = harness.run("find", "sub_unknown-1")
    #expect(unknown.code == .notFound)
    #expect(unknown.notes.contains("or one that begins or ends with it"))
    #expect(unknown.notes.contains("receiptctl events list --since 1d"))
    #expect(harness.run("find", "sub_1").notes.contains("at least 6 characters"))
    #expect(harness.run("find", "jdo-1", "--until", "30m").code == .done)
    let recent = harness.run("find", "jdo-1", "--since", "1s").notes
    #expect(recent.contains("in this app and time; try it without --app, --since and --until"))
    #expect(harness.run("find", "a\u{7}b").code == .usage)
    #expect(harness.run("find", "").code == .usage)
    #expect(harness.run("find", "jdo-1", "--limit", "201").code == .usage)
  }

  @Test func `More results than the limit are announced`() throws {
    let ran = try harness().run("find", "jdo-1", "--limit", "1")
    #expect(ran.out.split(separator: "\n").count == 2)
    #expect(ran.notes.contains("More: "))
  }
}
