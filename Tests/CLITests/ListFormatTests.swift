// Tests lists for other programs: CSV, and all entries instead of a page.

import Domain
import Formats
import Store
import Terminal
import TestSupport
import Testing

@testable import CLI

@Suite(.everyPlace) struct ListFormatTests {
  @Test func csvHasTheColumnsOfJSON() throws {
    let harness = try ReceiptListTests.everyState()
    harness.clock.advance(.seconds(1))
    try harness.purchase("sub_formula", user: "=1+1")
    let lists = ["receipts", "events", "contexts", "audit", "apps"].map { [$0, "list"] }
    for list in lists {
      let csv = harness.run(arguments: list + ["--csv"])
      #expect(csv.code == .done)
      #expect(csv.notes == "")
      let lines = csv.out.split(separator: "\r\n")
      let json = harness.run(arguments: list + ["--json"])
      let objects = try json.objects
      #expect(lines.count == objects.count + 1, "\(list)")
      let first = try #require(json.out.split(separator: "\n").first)
      let names = try #require(lines.first).split(separator: ",").map(String.init)
      let places = names.compactMap { first.firstRange(of: "\"\($0)\":")?.lowerBound }
      #expect(places.count == names.count, "\(list)")
      #expect(places == places.sorted(), "\(list)")
    }
    let receipts = harness.run("receipts", "list", "--csv", "--user", "=1+1").out
    #expect(receipts.contains(",'=1+1,stripe,"), "a spreadsheet must not calculate it")
    let jobs = harness.run("jobs", "list", "--csv").out
    #expect(jobs.hasPrefix("id,kind,state,asked,force,price_id,rate,actor,why,total,planned,released,"))
    #expect(
      harness.run("payments", "list", "--csv").out.hasPrefix("id,app,processor,user_id,receipt_id,what"))
    #expect(harness.run("alerts", "list", "--csv").out.hasPrefix("alert,app,since,told_at,to,summary,"))
  }

  @Test(.fileOnly) func csvOfReceipts() throws {
    Snapshot.check(
      try ReceiptListTests.everyState().run("receipts", "list", "--csv").out, "receipts-list-csv")
  }

  @Test func allIsEveryPage() throws {
    let harness = try OperatorHarness()
    let report = { (number: Int) in
      PurchaseReport(
        key: PurchaseKey(type: PurchaseKey.ObjectType("subscription"), id: ObjectID("sub_\(number)")),
        observations: .paid, clientReference: "jdo-1", prices: ["price_1"], happenedAt: harness.clock.now)
    }
    let count = 2 * Page.slice + 5
    let submissions = (0..<count).map { number in
      Submission(
        IngestEvent(
          app: "ios", processor: "stripe", eventID: EventID("evt_\(number)"),
          type: "checkout.session.completed", body: Array("{}".utf8),
          content: .report(report(number), keep: true))
      ) { _ in }
    }
    // Larger batches can take longer than a transaction may, on a server and a busy machine.
    for first in stride(from: 0, to: count, by: 40) {
      let batch = Array(submissions[first..<min(first + 40, count)])
      #expect(harness.writer.apply(batch, now: harness.clock.now).fault == nil)
    }
    for list in [["receipts", "list"], ["events", "list"]] {
      let ran = harness.run(arguments: list + ["--all", "--json"])
      #expect(ran.notes == "")
      let ids = try ran.objects.compactMap { $0["id"]?.stringValue }
      #expect(ids.count == count)
      #expect(Set(ids).count == count)
      let csv = harness.run(arguments: list + ["--all", "--csv"]).out
      #expect(csv.split(separator: "\r\n").count == count + 1, "one header for all pages")
    }
    #expect(
      harness.run("receipts", "list", "--all", "--csv", "--user", "nobody").out.split(separator: "\r\n").count
        == 1)
  }

  @Test(
    arguments: [
      ["receipts", "list", "--csv", "--json"], ["receipts", "list", "--all"],
      ["receipts", "list", "--all", "--csv", "--limit", "3"], ["payments", "list", "--all", "--limit", "3"],
      ["receipts", "show", "rcp_1", "--csv"],
    ])
  func contradictionsAreUsage(arguments: [String]) throws {
    let ran = try OperatorHarness().run(arguments: arguments)
    #expect(ran.code == .usage)
    #expect(ran.out == "")
  }
}
