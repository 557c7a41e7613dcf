// The log's lines about receipts: their content, and that too many of them delay nothing else.

import Domain
import Platform
import Store
import TestSupport
import Testing

@testable import Service

@Suite("The log of receipts") struct ReceiptLogTests {
  /// The transitions of receipts that were bought, delivered, refused and replayed.
  private static func transitions() throws -> [ReceiptTransition] {
    let all = Monitor<[ReceiptTransition]>([])
    let bench = try Bench([Bench.app()], isStarted: false) { more in all.withLock { $0 += more } }
    try bench.committer.start()
    for number in 1...2 { try bench.sell(number) }
    for (number, decision) in [
      (1, Delivery.Decision.delivered(importID: "imp-1")), (2, .failed(.status(422))),
    ] {
      let report = AttemptReport(at: bench.now, status: number == 1 ? 200 : 422)
      let id = try #require(try bench.receipt(number)).receiptID
      try bench.store(RecordAttempt(of: id, app: "shop", report: report, decision: decision))
    }
    let failed = try #require(try bench.receipt(2)?.receipt).id
    try bench.store(ReplayReceipt(id: failed, force: false, dueAt: bench.now))
    try bench.store(CancelReceipt(id: failed, note: "x"))
    // The notification of the last change may still be pending.
    bench.stop()
    return all.withLock { $0 }
  }

  private static func lines(_ level: Log.Level, _ write: (ReceiptLog) -> Void) -> [String] {
    let lines = Monitor<[String]>([])
    let log = Log(level: level) { line in
      lines.withLock { $0.append(String(decoding: line.dropLast(), as: UTF8.self)) }
    }
    let receiptLog = ReceiptLog(log, metrics: Metrics())
    write(receiptLog)
    receiptLog.stop()
    return lines.withLock { $0 }
  }

  @Test func `Each change is one line that names its receipt and its cause`() throws {
    let transitions = try Self.transitions()
    #expect(transitions.map(\.to) == [.pending, .pending, .delivered, .failed, .pending, .cancelled])
    #expect(transitions.prefix(2).map(\.cause.eventID) == ["evt_shop_1", "evt_shop_2"])
    let lines = Self.lines(.info) { $0.note(transitions) }
    let expected = [
      "info a receipt is ready app=shop", "info a receipt is ready app=shop", "info delivered app=shop",
      "warning a receipt failed; look at it with receiptctl receipts show, fix the cause, then replay it",
      "info a receipt is pending again app=shop", "info a receipt was cancelled app=shop",
    ]
    #expect(lines.count == expected.count)
    for (line, expected) in zip(lines, expected) { #expect(line.contains(expected), "\(line)") }
    #expect(lines[0].contains("event=evt_shop_1"))
    #expect(lines[0].contains("user=~"))
    #expect(lines[2].contains("import_id=imp-1"))
    #expect(lines[2].contains("from=pending"))
    #expect(lines[3].contains("reason=http_422"))
    #expect(lines[3].contains("status=422"))
    #expect(!lines.joined().contains("user-1"))
  }

  @Test(arguments: [
    (Reason.payment, "its payment never came; if it comes, the receipt continues automatically"),
    (.subscription, "its subscription has no id yet, which comes with the payment"),
    (.user, "supply it with receiptctl receipts complete"), (.gaveUp, "fix the cause, then replay it"),
  ])
  func `A failure's line names only a remedy that helps`(reason: Reason, remedy: String) throws {
    var failed = try #require(try Self.transitions().first { $0.to == .failed })
    failed.reason = reason
    let lines = Self.lines(.warning) { $0.note([failed]) }
    #expect(lines.count == 1)
    #expect(lines.first?.contains(remedy) == true, "\(lines)")
  }

  @Test func `At level warning only failures are written, at level error nothing is collected`() throws {
    let transitions = try Self.transitions()
    #expect(Self.lines(.warning) { $0.note(transitions) }.count == 1)
    #expect(Self.lines(.error) { $0.note(transitions) }.isEmpty)
  }

  @Test func `Lines beyond the rate are left out and counted, and no thread waits`() throws {
    let one = try #require(try Self.transitions().first)
    let metrics = Metrics()
    let lines = Monitor<[String]>([])
    let log = ReceiptLog(
      Log { line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }, metrics: metrics)
    // No thread writes, as if the log were blocked.
    for _ in 0..<30 { log.note(Array(repeating: one, count: 1000)) }
    let written = log.write(atMost: ReceiptLog.linesPerSecondMax)
    #expect(written == ReceiptLog.linesPerSecondMax)
    #expect(lines.withLock { $0.count } == ReceiptLog.linesPerSecondMax + 1)
    #expect(lines.withLock { $0.last }?.contains("count=29000") == true)
    log.stop()
    #expect(lines.withLock { $0.count } == ReceiptLog.waitingMax + 1)
    #expect(metrics.logLinesLeftOut.snapshot() == [LabelValues(): 29_000])
  }

  @Test func `The rate of lines is limited for batches of any size`() {
    let start = MonotonicInstant(nanoseconds: 0)
    var budget = LineBudget(now: start)
    var written = 0
    for millisecond in Int64(0)..<3000 {
      // Ten per millisecond.
      let lines = min(10, budget.left(now: start.advanced(by: .milliseconds(millisecond))))
      budget.spend(lines)
      written += lines
    }
    #expect(written == 3 * ReceiptLog.linesPerSecondMax)
    #expect(budget.renewal == start.advanced(by: .seconds(3)))
  }

  @Test("A warning that any client can cause is written once a second, with the number of the others")
  func limiter() throws {
    let limiter = LogLimiter()
    let now = MonotonicInstant.now()
    let first = limiter.admit("a", now: now)
    #expect(first == 0)
    for _ in 0..<5 { #expect(limiter.admit("a", now: now.advanced(by: .milliseconds(999))) == nil) }
    let other = limiter.admit("b", now: now)
    #expect(other == 0)
    let again = limiter.admit("a", now: now.advanced(by: .seconds(1)))
    #expect(again == 5)
  }
}
