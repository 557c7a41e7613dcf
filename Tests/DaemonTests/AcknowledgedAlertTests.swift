// The alert about failed receipts, while somebody takes care of them.

import Domain
import Formats
import Testing

@testable import Config
@testable import Service
@testable import Store
@testable import Upkeep

@Suite("Alerts of acknowledged failures") struct AcknowledgedAlertTests {
  @Test func `receipt_failed ends with an acknowledgement, and fires again once the group grows`() throws {
    let bench = try AlertBench([AlertBench.alert([.receiptFailed], every: .minutes(10))])
    try bench.fail(1)
    try bench.live { run in
      #expect(try bench.pass(.seconds(30), &run).map(\.notice) == ["receipt_failed shop firing"])
      _ = try bench.bench.store(
        AcknowledgeFailures(app: "shop", FailureChoice(), owner: "bob", note: "", actor: "ann"))
      #expect(try bench.pass(.minutes(2), &run).map(\.notice) == ["receipt_failed shop resolved"])
      try bench.fail(2)
      let again = try bench.pass(.minutes(9), &run)
      #expect(again.map(\.notice) == ["receipt_failed shop firing"])
    }
  }

  @Test("receipt_failed ends when no receipt is failed any more", arguments: [true, false])
  func cancelled(isAcknowledged: Bool) throws {
    let bench = try AlertBench([AlertBench.alert([.receiptFailed], every: .minutes(10))])
    try bench.fail(1)
    try bench.live { run in
      #expect(try bench.pass(.seconds(30), &run).map(\.notice) == ["receipt_failed shop firing"])
      if isAcknowledged {
        _ = try bench.bench.store(
          AcknowledgeFailures(app: "shop", FailureChoice(), owner: "bob", note: "", actor: "ann"))
      }
      try bench.bench.store(
        CancelReceipt(id: try #require(try bench.bench.receipt(1)?.receipt).id, note: "x"))
      #expect(try bench.pass(.minutes(9), &run).map(\.notice) == ["receipt_failed shop resolved"])
    }
  }

  @Test func `Failures are quiet only when their groups of every processor are acknowledged`() {
    let known = FailureAcknowledgement(
      entered: 2, owner: "bob", note: "", actor: "ann", at: Timestamp(unixMilliseconds: 0))
    func group(_ processor: ProcessorName, _ acknowledgement: FailureAcknowledgement?) -> FailureGroup {
      FailureGroup(
        app: "shop", processor: processor, reason: "http_422", cause: nil, count: 2, entered: 2,
        acknowledgement: acknowledgement)
    }
    let failures = [FailureCount(reason: "http_422", cause: "", count: 4)]
    let one = OpenFailures([group("stripe", known), group("swedbank", nil)])
    #expect(one.among(failures, app: "shop") == failures)
    let both = OpenFailures([group("stripe", known), group("swedbank", known)])
    #expect(both.among(failures, app: "shop").isEmpty)
    // A receipt that failed again after a replay counts once, and one that ended does not count.
    let few = OpenFailures([group("stripe", nil)])
    #expect(few.among(failures, app: "shop").map(\.count) == [2])
    #expect(OpenFailures([]).among(failures, app: "shop").isEmpty)
  }
}
