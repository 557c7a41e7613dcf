// The alert about failed receipts, while somebody takes care of them.

import Domain
import Formats
import Store
import Testing

@testable import Config
@testable import Daemon
@testable import Upkeep

@Suite("Alerts of acknowledged failures") struct AcknowledgedAlertTests {
  @Test("receipt_failed ends with an acknowledgement, and fires again once the group grows")
  func quiet() throws {
    let bench = try AlertBench([AlertBench.alert([.receiptFailed], every: .minutes(10))])
    defer { bench.stop() }
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
}
