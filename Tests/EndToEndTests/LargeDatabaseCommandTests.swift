// Every reading command of the built program, on a database with 60,000 receipts. Other tests check by the
// query plans that none reads a whole table; here the commands must answer.

import Domain
import Formats
import Platform
import TestSupport
import Testing

@Suite("receiptctl on a large database", .withDaemonLog)
struct LargeDatabaseCommandTests {
  /// A database that receiptd created and that was filled afterwards.
  private func relay(_ destination: Destination, receipts: Int) throws -> Relay {
    let relay = try Relay(destination)
    try relay.start()
    try #require(try relay.stop() == 0)
    let start = SystemClock().wallMilliseconds - Int64(receipts + 1) * LargeDatabase.step.milliseconds
    let size = LargeDatabase.Size(receipts: receipts, isWhole: true)
    try LargeDatabase.fill(path: relay.databasePath, size, app: "shop", start: start)
    return relay
  }

  @Test func `Lists, screens and previews have their results`() throws {
    let destination = try Destination()
    defer { destination.stop() }
    let relay = try relay(destination, receipts: 60_000)
    func run(_ words: String...) throws -> [JSONValue] {
      let ran = try ShellRun(relay.receiptctlCommand + ["--json"] + words)
      try #require(ran.code == 0, "\(words): \(ran.output)")
      return try ran.output.split(separator: "\n").filter { $0.hasPrefix("{") }
        .map { line throws in try JSONValue(parsing: Array(line.utf8)) }
    }
    #expect(try run("receipts", "list").count == 50)
    #expect(try run("receipts", "list", "--state", "failed", "--reason", "user").count == 50)
    #expect(try run("receipts", "list", "--since", "1d", "--until", "2h").count == 50)
    let failed = try #require(try run("receipts", "list", "--state", "failed", "--limit", "1").first)
    let (id, user) = (failed["id"]?.stringValue ?? "", failed["user_id"]?.stringValue ?? "user-1")
    #expect(try run("receipts", "show", id).first?["state"] == "failed")
    #expect(try run("receipts", "list", "--user", user).first?["user_id"] == .string(user))
    #expect(try run("events", "list", "--since", "3d", "--until", "2d").count == 50)
    #expect(try run("events", "list", "--outcome", "unparsed").isEmpty)
    #expect(try run("events", "list", "--outcome", "receipt", "--app", "shop").count == 50)
    #expect(try run("contexts", "list", "--app", "shop").count == 50)
    #expect(try run("users", "show", user).first?["user_id"] == .string(user))
    #expect(try run("find", "cus_50000").first?["object_id"] == "sub_50000")
    #expect(try run("find", "evt_54321").first?["state"] == "receipt")
    #expect(try run("find", id.prefix(12).description, "--limit", "200").contains { $0["id"] == .string(id) })
    #expect(try run("stats").last?["failed"] == 4000)
    #expect(try run("audit", "list").isEmpty)
    #expect(try run("jobs", "list").isEmpty)
    let preview = try #require(
      try run("receipts", "replay", "--state", "failed", "--reason", "http_422", "--dry-run").first)
    #expect(preview["would_replay"] == 800)
    #expect(try run("receipts", "cancel", "--state", "failed", "--why", "test", "--dry-run").count == 1)
    #expect(try run("db", "purge", "--dry-run").count == 1)
    #expect(try run("db", "check").first?["sound"] == true)
  }

  @Test func `A user is forgotten among many others, and the daemon serves the rest`() throws {
    let destination = try Destination()
    defer { destination.stop() }
    let relay = try relay(destination, receipts: 20_000)
    try relay.start()
    let checkout = Checkout("jdo-1")
    try relay.buy(checkout)
    try relay.reaches(.delivered, checkout.subscription)
    let ctl = relay.receiptctlCommand
    let ran = try ShellRun(ctl + ["users", "forget", "jdo-1", "--yes"])
    #expect(ran.code == 0)
    #expect(ran.output.contains("Erased 1 receipt"))
    #expect(try ShellRun(ctl + ["users", "show", "jdo-1"]).code == 66)
    // The same webhook again, and a late one about the same purchase: both are known and have no effect.
    let before = destination.ledger.count
    try relay.ingest(checkout.completed, checkout.invoiceEvent())
    try relay.passTime()
    #expect(destination.ledger(of: checkout.subscription).count == 1)
    #expect(destination.ledger.count == before + 1)
    #expect(try ShellRun(ctl + ["db", "check"]).code == 0)
  }
}
