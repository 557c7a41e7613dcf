// The alert about a pause, and that a pause makes no other alert fire.

import Domain
import Formats
import Store
import Testing

@testable import Config
@testable import Upkeep

@Suite("Alerts of a paused app") struct PauseAlertTests {
  @Test("app_paused fires while it lasts, with who, why and the command, and is resolved at its end")
  func pause() throws {
    let bench = try AlertBench([AlertBench.alert([.appPaused])])
    _ = try bench.bench.store(PauseApp(app: "shop", for: .minutes(5), actor: "ann", reason: "flood"))
    try bench.live { run in
      let first = try bench.pass(.seconds(30), &run)
      #expect(first.map(\.notice) == ["app_paused shop firing"])
      #expect(first.first?["summary"]?.stringValue?.contains("by ann") == true)
      #expect(first.first?["summary"]?.stringValue?.contains("flood") == true)
      #expect(first.first?["commands"] == ["receiptctl apps resume shop"])
      #expect(try bench.pass(.minutes(5), &run).map(\.notice) == ["app_paused shop resolved"])
    }
  }

  @Test("contexts_unjoined fires while contexts are posted that no purchase claims, and names no user (R7)")
  func unjoined() throws {
    let bench = try AlertBench([AlertBench.alert([.contextsUnjoined])])
    for number in 1...20 { try bench.bench.buy(number) }
    try bench.live { run in
      #expect(try bench.pass(.minutes(1), &run).isEmpty, "no context was posted")
      for number in 101...110 { try bench.bench.post(number) }
      let first = try bench.pass(.minutes(2), &run)
      #expect(first.map(\.notice) == ["contexts_unjoined shop firing"])
      let summary = try #require(first.first?["summary"]?.stringValue)
      #expect(summary.contains("20 of 20 receipts of the last 6 hours have no context"))
      let commands: JSONValue = [
        "receiptctl status --joins --app shop", "receiptctl receipts list --app shop --join none --limit 5",
      ]
      #expect(first.first?["commands"] == commands)
      let later = try bench.pass(.hours(7), &run, step: .minutes(5)).map(\.notice)
      #expect(later.last == "contexts_unjoined shop resolved")
    }
  }

  @Test("While it is paused its receipts are not overdue, and afterwards their age counts from the end")
  func overdue() throws {
    let condition = try #require(AlertCondition(parsing: "oldest_pending>5m"))
    let bench = try AlertBench([AlertBench.alert([condition])])
    try bench.bench.sell(1)
    _ = try bench.bench.store(PauseApp(app: "shop", for: nil, actor: "ann", reason: nil))
    try bench.live { run in
      #expect(try bench.pass(.minutes(60), &run).isEmpty)
      _ = try bench.bench.store(ResumeApp(app: "shop"))
      #expect(try bench.pass(.minutes(4), &run).isEmpty)
      #expect(try bench.pass(.minutes(2), &run).map(\.notice) == ["oldest_pending>5m shop firing"])
    }
  }
}
