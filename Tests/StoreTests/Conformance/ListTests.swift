// Tests the conditions of lists: each finds exactly what it names, also where no index has it, and totals
// count the same receipts.

import Domain
import Formats
import TestSupport
import Testing

@testable import Store

@Suite("Lists", .everyEngine)
struct ListTests {
  /// Receipts that ended with a 503, a timeout after a 503, a 422, a 200, a 204, and one that was never sent.
  private static func store() throws -> JobStore {
    let jobs = try JobStore(failed: 0)
    for name in ["down", "slow", "bad", "good", "silent", "open"] { try jobs.purchase(name, nil) }
    func end(_ name: String, _ decision: Delivery.Decision, _ status: Int64?, _ error: String? = nil) throws {
      let id = try #require(try jobs.store.reader.receipts(of(name), limit: 1).first).receiptID
      let report = AttemptReport(
        startedAt: jobs.store.now, duration: .milliseconds(1), status: status, error: error, detail: nil,
        isAmbiguous: false, response: [])
      _ = try jobs.store.apply(RecordAttempt(of: id, app: "ios", report: report, decision: decision))
    }
    try end("down", .failed(.gaveUp), 503)
    try end("slow", .retry(at: jobs.store.now, spent: true), 503)
    try end("slow", .failed(.gaveUp), nil, "timeout")
    try end("bad", .failed(.status(422)), 422)
    try end("good", .delivered(importID: "imp"), 200)
    try end("silent", .delivered(importID: nil), 204)
    return jobs
  }

  private static func of(_ name: String) -> ReceiptFilter {
    var filter = ReceiptFilter()
    filter.objectID = ObjectID("sub_\(name)")
    return filter
  }

  private static func names(
    _ jobs: JobStore, _ change: (inout ReceiptFilter) -> Void
  ) throws -> [String] {
    var filter = ReceiptFilter()
    change(&filter)
    let found = try jobs.store.reader.receiptPage(filter, limit: 100)
    #expect(found.next == nil)
    // Bulk commands count the receipts that the list shows, and a total as well.
    #expect(try jobs.store.reader.survey(filter).reduce(0) { $0 + $1.count } == found.entries.count)
    if let total = try jobs.store.reader.total(filter) {
      #expect(total == ListTotal(exact: found.entries.count))
    }
    return found.entries.map { String($0.purchase.key.id.text.dropFirst("sub_".count)) }.sorted()
  }

  @Test func `A status is that of the last answer, whatever failed after it`() throws {
    let jobs = try Self.store()
    func found(_ text: String) throws -> [String] {
      try Self.names(jobs) { $0.status = AnswerStatus(text) }
    }
    #expect(try found("503") == ["down", "slow"])
    #expect(try found("5xx") == ["down", "slow"])
    #expect(try found("422") == ["bad"])
    #expect(try found("2xx") == ["good", "silent"])
    #expect(try found("204") == ["silent"])
    #expect(try found("404") == [])
    #expect(try Self.names(jobs) { ($0.status, $0.state) = (AnswerStatus("503"), .delivered) } == [])
    #expect(try Self.names(jobs) { ($0.status, $0.objectID) = (AnswerStatus("503"), "sub_slow") } == ["slow"])
  }

  @Test(arguments: [
    "", "5", "50", "5000", "600", "099", "0xx", "6xx", "5x", "5xxx", "5x0", "+50", "-50", "５00",
  ])
  func `Only statuses of HTTP and their classes are read`(text: String) {
    #expect(AnswerStatus(text) == nil)
  }

  @Test func `Customers, checkouts and prices are found exactly`() throws {
    let jobs = try Self.store()
    try jobs.store.ingest(Said.completed("yearly", prices: ["price_2"]))
    try jobs.store.endWaits()
    #expect(try Self.names(jobs) { $0.customerID = "cus_bad" } == ["bad"])
    #expect(try Self.names(jobs) { $0.customerID = "cus_ba" } == [])
    #expect(try Self.names(jobs) { $0.sessionID = "cs_good" } == ["good"])
    #expect(try Self.names(jobs) { ($0.sessionID, $0.customerID) = ("cs_good", "cus_bad") } == [])
    #expect(try Self.names(jobs) { ($0.objectID, $0.sessionID) = ("sub_good", "cs_bad") } == [])
    #expect(try Self.names(jobs) { $0.priceID = "price_2" } == ["yearly"])
    #expect(try Self.names(jobs) { $0.priceID = "price_1" }.count == 6)
    #expect(try Self.names(jobs) { ($0.priceID, $0.customerID) = ("price_2", "cus_bad") } == [])
    #expect(try Self.names(jobs) { $0.priceID = "price" } == [])
  }

  @Test func `A comparison ends after its bound, and the next page continues where it ended`() throws {
    let jobs = try JobStore(failed: 0)
    for number in 0..<9 { try jobs.store.ingest(Said.completed("\(number)", prices: ["price_1"])) }
    try jobs.store.ingest(Said.completed("first", prices: ["price_2"]))
    for number in 10..<15 { try jobs.store.ingest(Said.completed("\(number)", prices: ["price_1"])) }
    try jobs.store.endWaits()
    let newest = try jobs.store.reader.receipts(ReceiptFilter(), limit: 100)
    #expect(newest.count == 15)
    var filter = ReceiptFilter()
    filter.priceID = "price_2"
    let first = try jobs.store.reader.placePage(filter, limit: 10, comparing: 4)
    #expect(first.entries.isEmpty)
    #expect(first.compared == 4)
    #expect(first.next == newest[3].receipt?.id)
    filter.after = first.next
    let second = try jobs.store.reader.placePage(filter, limit: 10, comparing: 4)
    #expect(second.entries.map(\.row) == [newest[5].rowID])
    filter.after = second.next
    var pages = 0
    while let page = Optional(try jobs.store.reader.placePage(filter, limit: 10, comparing: 4)),
      let next = page.next
    {
      pages += 1
      filter.after = next
    }
    #expect(pages == 1)
  }

  @Test func `A job finds the receipts of a comparison, and its filter is stored`() throws {
    let jobs = try Self.store()
    let job = try jobs.start {
      $0.state = .failed
      $0.status = AnswerStatus("5xx")
      $0.priceID = "price_1"
      $0.customerID = "cus_slow"
      $0.sessionID = "cs_slow"
    }
    #expect(try jobs.current(job).request == job.request)
    #expect(try jobs.run(job).total == 1)
  }

  @Test func `Events are counted as they are listed`() throws {
    let jobs = try Self.store()
    let reader = jobs.store.reader
    var filter = EventFilter()
    #expect(try reader.total(filter) == ListTotal(exact: try reader.events(filter, limit: 100).count))
    filter.app = "ios"
    #expect(try reader.total(filter) == ListTotal(exact: try reader.events(filter, limit: 100).count))
    filter.since = jobs.store.now
    #expect(try reader.total(filter).count == 0)
    #expect(ListTotal(counted: 10_001) == ListTotal(counted: 20_000))
    #expect(ListTotal(counted: 10_001).isMore)
    #expect(!ListTotal(counted: 10_000).isMore)
  }

  @Test func `Receipts of a time are counted by their ids`() throws {
    let jobs = try JobStore(failed: 3)
    let receipts = try jobs.store.reader.receipts(ReceiptFilter(), limit: 10)
    let middle = try #require(receipts[1].receipt?.createdAt)
    var filter = ReceiptFilter()
    filter.since = middle
    #expect(try jobs.store.reader.total(filter) == ListTotal(exact: 2))
    filter.until = middle
    #expect(try jobs.store.reader.total(filter) == ListTotal(exact: 0))
    filter.since = nil
    #expect(try jobs.store.reader.total(filter) == ListTotal(exact: 1))
    filter.userID = "u1"
    #expect(try jobs.store.reader.total(filter) == ListTotal(exact: 1))
  }

  @Test func `A survey counts a part of a group in steps, with the times of its ends`() throws {
    let jobs = try JobStore(failed: 5)
    let made = try jobs.store.reader.receipts(ReceiptFilter(), limit: 10).compactMap(\.receipt?.createdAt)
    func survey(_ filter: ReceiptFilter, step: Int) throws -> (groups: [ReceiptGroup], said: [Int]) {
      var said: [Int] = []
      return (try jobs.store.reader.survey(filter, step: step) { said.append($0) }, said)
    }
    var filter = ReceiptFilter()
    let whole = try survey(filter, step: 2)
    #expect(whole.groups.map(\.count) == [5])
    #expect(whole.said == [5], "a stored count")
    #expect(whole.groups.map { [$0.oldest, $0.newest] } == [[made[4], made[0]]])
    filter.since = made[3]
    for (step, said) in [(1, [1, 2, 3, 4, 4, 4]), (2, [2, 4, 4, 4]), (3, [3, 4, 4]), (5, [4, 4])] {
      let part = try survey(filter, step: step)
      #expect(part.groups.map(\.count) == [4])
      #expect(part.said == said)
      #expect(part.groups.map { [$0.oldest, $0.newest] } == [[made[3], made[0]]])
    }
    filter.until = made[1]
    #expect(try survey(filter, step: 2).groups.map(\.newest) == [made[2]])
    filter.since = jobs.store.now.advanced(by: .hours(1))
    #expect(try survey(filter, step: 2).groups == [])
  }

  @Test func `Several states are listed, counted and summed up together`() throws {
    let jobs = try Self.store()
    #expect(try Self.names(jobs) { $0.states = [.failed, .pending] } == ["bad", "down", "open", "slow"])
    #expect(try Self.names(jobs) { $0.states = [.failed, .waiting] } == ["bad", "down", "slow"])
    #expect(
      try Self.names(jobs) {
        $0.states = [.failed, .pending]
        $0.objectID = "sub_bad"
      } == ["bad"])
    #expect(
      try Self.names(jobs) {
        $0.states = [.delivered, .pending]
        $0.objectID = "sub_bad"
      } == [])
    let job = try jobs.start(.cancel) { $0.states = [.failed, .pending] }
    #expect(try jobs.run(job).count(.cancelled) == 4)
  }

  @Test func `A state of a stored job that is not known chooses nothing`() {
    var filter = ReceiptFilter()
    filter.states = [.failed, .waiting]
    let stored = JobSource.filter(filter, limit: nil)
    #expect(stored.json["state"] == "waiting,failed")
    #expect(JobSource(stored.json.text) == stored)
    #expect(JobSource(#"{"state":"waiting,lost"}"#) == .ids(count: 0))
    #expect(JobSource(#"{"state":""}"#) == .ids(count: 0))
  }

  @Test func `A list reads no content, and is the same also if that is damaged`() throws {
    let jobs = try Self.store()
    let context = try jobs.store.post("c1")
    func listed() throws -> [PurchaseRecord] {
      try jobs.store.reader.receiptPage(ReceiptFilter(), limit: 100).entries
    }
    let before = try listed()
    #expect(before.compactMap(\.receipt?.body) == Array(repeating: [], count: 6))
    #expect(before.compactMap(\.receipt?.destination).count == 6)
    try jobs.store.execute("UPDATE purchases SET body = x'00', dictionary = 99")
    try jobs.store.execute("UPDATE contexts SET ply_context = '', frame = x'00', dictionary = 99")
    #expect(throws: StoreFault.self) { try jobs.store.reader.receipts(ReceiptFilter(), limit: 100) }
    #expect(try listed() == before)
    let now = jobs.store.now
    #expect(throws: StoreFault.self) {
      try jobs.store.reader.contexts(ContextFilter(), now: now, limit: 10)
    }
    let contexts = try jobs.store.reader.contexts(ContextFilter(), now: now, limit: 10, hasContent: false)
    #expect(contexts.map(\.id) == [context])
  }

  @Test func `Changes by an operator are compared a part at a time, and no change is left out`() throws {
    let store = try TestStore()
    for number in 0..<10 {
      let actor = number == 0 || number == 6 ? "ann" : "bob"
      try store.apply(WriteAudit(AuditEntry(at: store.now, actor: actor, action: "apps \(number)")))
    }
    var filter = AuditFilter()
    func pages(comparing bound: Int) throws -> (found: [[String]], compared: [Int?]) {
      var (found, compared): ([[String]], [Int?]) = ([], [])
      filter.after = nil
      repeat {
        let page = try store.reader.auditPage(filter, limit: 2, comparing: bound)
        found.append(page.entries.map(\.entry.action))
        compared.append(page.compared)
        filter.after = page.next
      } while filter.after != nil
      return (found, compared)
    }
    filter.actor = "ann"
    let byAnn = try pages(comparing: 4)
    #expect(byAnn.found == [["apps 6"], [], ["apps 0"]])
    #expect(byAnn.compared == [4, 4, nil])
    #expect(try pages(comparing: 100).found == [["apps 6", "apps 0"]])
    filter.action = "apps 6"
    #expect(try pages(comparing: 100).found == [["apps 6"]])
    filter = AuditFilter()
    filter.action = "apps"
    let all = try pages(comparing: 4)
    #expect(all.found.flatMap(\.self).count == 10)
    #expect(all.compared.allSatisfy { $0 == nil })
    filter = AuditFilter()
    #expect(try pages(comparing: 1).found.flatMap(\.self).count == 10)
  }

  @Test func `Changes of a period are found, also if a clock was a little behind`() throws {
    let store = try TestStore()
    func moment(_ seconds: Int64) -> Timestamp { TestStore.start.advanced(by: .seconds(seconds)) }
    for seconds: Int64 in [0, 3600, 7200, 7199, 10_800] {
      try store.apply(WriteAudit(AuditEntry(at: moment(seconds), actor: "ann", action: "\(seconds)")))
    }
    func found(_ since: Int64?, _ until: Int64?) throws -> [String] {
      var filter = AuditFilter()
      filter.since = since.map(moment)
      filter.until = until.map(moment)
      return try store.reader.audit(filter, limit: 10).map(\.entry.action)
    }
    #expect(try found(7199, 7201) == ["7199", "7200"])
    #expect(try found(7200, nil) == ["10800", "7200"])
    #expect(try found(nil, 3600) == ["0"])
    #expect(try found(20_000, nil) == [])
    #expect(try found(nil, nil).count == 5)
  }
}
