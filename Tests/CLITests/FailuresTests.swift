// Tests of `receiptctl failures`.

import Domain
import Formats
import SQLiteStore
import Terminal
import Testing

@Suite("Groups of failures", .everyPlace) struct FailuresTests {
  private static func harness() throws -> OperatorHarness {
    let harness = try OperatorHarness(apps: ["ios", "web"])
    for number in 1...3 { try harness.fail(try harness.purchase("sub_\(number)"), status: 422) }
    try harness.fail(try harness.purchase("sub_4"), status: 400)
    return harness
  }

  @Test func `They are listed, acknowledged with an owner and a note, audited, and opened again`() throws {
    let harness = try Self.harness()
    let states = { try harness.run("failures", "list", "--json").objects.map { $0["state"]?.stringValue } }
    #expect(try states() == ["new", "new"])
    let ran = harness.run("failures", "ack", "--app", "ios", "--reason", "http_422", "--note", "asked them")
    #expect(ran.out == "Acknowledged 1 group; it stays quiet until more receipts fail.\n")
    #expect(try states() == ["new", "acknowledged"])
    let known = try #require(try harness.run("failures", "list", "--json").objects.last)
    #expect(known["owner"] == "ann")
    #expect(known["note"] == "asked them")
    #expect(known["new"] == 0)
    #expect(harness.run("failures", "list", "--reason", "http_422").out.contains("asked them"))
    let entry = try #require(try harness.run("audit", "list", "--json").objects.first)
    #expect(entry["action"] == "failures ack")
    #expect(entry["details"]?["reason"] == "http_422")
    try harness.fail(try harness.purchase("sub_5"), status: 422)
    #expect(try states() == ["growing", "new"])
    #expect(harness.run("failures", "reopen", "--reason", "http_422").out == "Opened 1 group again.\n")
    #expect(try states() == ["new", "new"])
  }

  @Test(.fileOnly)
  func `A list of more groups than it shows says so`() throws {
    let harness = try OperatorHarness()
    let connection = try Connection(path: harness.databasePath, mode: .readWrite, busyTimeout: .seconds(1))
    func add(from first: Int, through last: Int) throws {
      try connection.execute(
        """
        INSERT INTO receipt_counts (app, state, reason, last_cause, processor, count)
          WITH RECURSIVE counting (n) AS (
            SELECT \(first) UNION ALL SELECT n + 1 FROM counting WHERE n < \(last))
          SELECT 'ios', 'failed', 'gave_up', 'cause_' || n, 'stripe', 1 FROM counting
        """)
    }
    try add(from: 1, through: 1000)
    #expect(harness.run("failures", "list", "--json").code == .done)
    try add(from: 1001, through: 1001)
    let ran = harness.run("failures", "list", "--json")
    #expect(ran.code == .partly)
    #expect(try ran.objects.count == 1001)
    #expect(try ran.objects.last == ["compared": 1000, "complete": false])
    #expect(ran.notes.contains("Only 1,000 groups are listed"))
  }

  @Test(arguments: ["ack", "reopen"])
  func `Without a filter, ack and reopen act on every group only after a confirmation`(verb: String) throws {
    let harness = try Self.harness()
    try harness.fail(try harness.purchase("sub_9", app: "web"), status: 422)
    if verb == "reopen" { #expect(harness.run("failures", "ack", "--yes").code == .done) }
    let before = harness.run("failures", "list").out
    for arguments in [[], ["--app", "ios"]] {
      let asked = harness.run(arguments: ["failures", verb] + arguments)
      #expect(asked.code == .refused)
      #expect(asked.notes.contains("http_422"))
      #expect(asked.notes.contains("add --yes"))
    }
    #expect(harness.run("failures", verb, "--dry-run").out.hasSuffix("3 groups; nothing was changed.\n"))
    #expect(harness.run("failures", "list").out == before)
    #expect(harness.run("failures", verb, answer: "y").code == .done)
    #expect(harness.run("failures", "list").out != before)
    // The audit names each group.
    let audit = harness.run("audit", "list").out
    for group in ["reason http_422", "reason http_400"] { #expect(audit.contains(group)) }
    let entries = try harness.run("audit", "list", "--json").objects.filter {
      $0["action"]?.stringValue == "failures \(verb)"
    }
    #expect(entries.count == 3)
  }

  @Test func `What does not exist is not acknowledged, and a wrong option is explained`() throws {
    let harness = try Self.harness()
    #expect(harness.run("failures", "ack", "--reason", "gave_up").code == .notFound)
    #expect(harness.run("failures", "ack", "--note", " ").code == .usage)
    #expect(harness.run("failures", "ack", "--owner", String(repeating: "x", count: 501)).code == .usage)
    #expect(harness.run("failures", "list", "--app", "nothing").code == .notFound)
    #expect(try harness.run("audit", "list", "--json").objects.isEmpty)
    #expect(try OperatorHarness().run("failures", "list").out == "Nothing has failed.\n")
  }
}
