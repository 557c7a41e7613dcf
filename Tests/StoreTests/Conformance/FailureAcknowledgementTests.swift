// Groups of failures: acknowledged, quiet, growing, resolved.

import Domain
import Store
import TestSupport
import Testing

@Suite("Acknowledged failures", .everyEngine)
struct FailureAcknowledgementTests {
  private static func groups(_ jobs: JobStore) throws -> [String] {
    let groups = try jobs.store.reader.failureGroups()
    let loud = Dictionary(grouping: groups.filter { $0.attention != .acknowledged }, by: \.app)
    #expect(try jobs.store.reader.loudFailures() == loud.mapValues { $0.reduce(0) { $0 + $1.growth } })
    for app in Set(groups.map(\.app)) {
      #expect(try jobs.store.reader.loudFailures(app: app)[app] == loud[app]?.reduce(0) { $0 + $1.growth })
    }
    return groups.map {
      "\($0.app) \($0.reason) \($0.count) \($0.attention.rawValue) \($0.growth)"
    }
  }

  private static func acknowledge(_ jobs: JobStore, _ filter: FailureChoice = FailureChoice()) throws -> Int {
    try jobs.store.apply(
      AcknowledgeFailures(app: "ios", filter, owner: "bob", note: "asked them", actor: "ann"))
  }

  @Test func `A group is new, then acknowledged, then growing by the receipts that failed since`() throws {
    let jobs = try JobStore(failed: 3)
    #expect(try Self.groups(jobs) == ["ios http_422 3 new 3"])
    #expect(try Self.acknowledge(jobs) == 1)
    #expect(try Self.groups(jobs) == ["ios http_422 3 acknowledged 0"])
    let known = try #require(try jobs.store.reader.failureGroups().first?.acknowledgement)
    #expect(known.owner == "bob")
    #expect(known.note == "asked them")
    #expect(known.actor == "ann")
    #expect(known.at == jobs.store.now)
    for number in 0..<2 { try jobs.purchase("more\(number)", .failed(.status(422)), status: 422) }
    #expect(try Self.groups(jobs) == ["ios http_422 5 growing 2"])
    #expect(try Self.acknowledge(jobs) == 1)
    #expect(try Self.groups(jobs) == ["ios http_422 5 acknowledged 0"])
    #expect(try jobs.store.apply(ReopenFailures(app: "ios", FailureChoice())) == 1)
    #expect(try Self.groups(jobs) == ["ios http_422 5 new 5"])
    #expect(try jobs.store.apply(ReopenFailures(app: "ios", FailureChoice())) == 0)
  }

  @Test func `As many new failures as a replay has taken out are noticed`() throws {
    let jobs = try JobStore(failed: 2)
    _ = try Self.acknowledge(jobs)
    let id = try #require(try jobs.store.receipts().first?.receipt?.id)
    _ = try jobs.store.apply(ReplayReceipt(id: id, force: false, dueAt: jobs.store.now))
    try jobs.deliver()
    #expect(try Self.groups(jobs) == ["ios http_422 1 acknowledged 0"])
    try jobs.purchase("more", .failed(.status(422)), status: 422)
    #expect(try Self.groups(jobs) == ["ios http_422 2 growing 1"])
  }

  @Test func `A receipt that fails again after a replay counts as growth`() throws {
    let jobs = try JobStore(failed: 1)
    _ = try Self.acknowledge(jobs)
    let record = try #require(try jobs.store.receipts().first)
    let id = try #require(record.receipt?.id)
    _ = try jobs.store.apply(ReplayReceipt(id: id, force: false, dueAt: jobs.store.now))
    try jobs.end(record.receiptID, .failed(.status(422)), status: 422)
    #expect(try Self.groups(jobs) == ["ios http_422 1 growing 1"])
  }

  @Test func `A replay that empties the group resolves it: what fails later is new`() throws {
    let jobs = try JobStore(failed: 2)
    _ = try Self.acknowledge(jobs)
    try jobs.run(try jobs.start())
    try jobs.deliver()
    #expect(try Self.groups(jobs).isEmpty)
    _ = try jobs.store.apply(RetainPast())
    try jobs.purchase("more", .failed(.status(422)), status: 422)
    #expect(try Self.groups(jobs) == ["ios http_422 1 new 1"])
  }

  @Test func `Only the named groups are acknowledged; those that need attention come first`() throws {
    let jobs = try JobStore(failed: 3)
    try jobs.purchase("other", .failed(.status(400)), status: 400)
    try jobs.purchase("web", .failed(.status(422)), status: 422, app: "web")
    #expect(try Self.acknowledge(jobs, FailureChoice(reason: "http_500")) == 0)
    #expect(try Self.acknowledge(jobs, FailureChoice(processor: "swedbank")) == 0)
    #expect(try Self.acknowledge(jobs, FailureChoice(reason: "http_422", cause: "")) == 0)
    #expect(
      try Self.acknowledge(jobs, FailureChoice(processor: "stripe", reason: "http_422", cause: "http_422"))
        == 1)
    #expect(
      try Self.groups(jobs) == [
        "ios http_400 1 new 1", "web http_422 1 new 1", "ios http_422 3 acknowledged 0",
      ])
  }
}
