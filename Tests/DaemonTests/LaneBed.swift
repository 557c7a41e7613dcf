// A lane without a dispatcher, with a time that the test sets.

import Domain
import Formats
import Platform
import Testing

@testable import Daemon
@testable import Service
@testable import Store

extension LaneTests {
  /// A lane and its current time.
  struct Bed {
    static let start: Int64 = 1_800_000_000_000
    var lane: Lane
    var milliseconds: Int64 = 0

    init(
      concurrency: Int = 3, rate: Double = 1000, failures: Int = 2, openFor: Duration = .milliseconds(100),
      breaker: Breaker = Breaker(), readsPauses: Bool = true
    ) throws {
      let policy = Bench.delivery(concurrency: concurrency, rate: rate, failures: failures, openFor: openFor)
      let app = try App(Bench.app(delivery: policy))
      lane = Lane(
        app, try #require(app.routes.first), breaker: breaker, now: Timestamp(unixMilliseconds: Self.start),
        monotonic: MonotonicInstant(nanoseconds: 0))
      // No replays, except in tests that set them.
      lane.rest(until: nil, replays: true)
      if readsPauses { lane.use(AppPause(), now: now) }
    }

    /// Installs a new configuration of the app.
    mutating func use(_ app: App) throws {
      lane.use(app, try #require(app.routes.first), now: now, monotonic: monotonic)
    }

    var now: Timestamp { Self.at(milliseconds) }
    var monotonic: MonotonicInstant { MonotonicInstant(nanoseconds: milliseconds * 1_000_000) }

    static func at(_ milliseconds: Int64) -> Timestamp { Timestamp(unixMilliseconds: start + milliseconds) }

    var room: Int { mutating get { lane.room(now: now, monotonic: monotonic) } }
    var wait: Int64? { mutating get { lane.waitTime(now: now, monotonic: monotonic)?.milliseconds } }

    static func due(_ rows: [PurchaseRowID]) -> [StoreReader.DueReceipt] {
      rows.map { row in
        StoreReader.DueReceipt(
          row: row, id: "rcp_\(row)", processor: "stripe", isReversal: false, body: [], spentAttempts: 0,
          retrySince: at(0), pausedBase: .zero)
      }
    }

    /// Offers new receipts and replays, and returns the admitted rows.
    mutating func admit(new: [PurchaseRowID], replays: [PurchaseRowID]) -> [PurchaseRowID] {
      lane.admit(Self.due(new), replays: Self.due(replays), now: now, monotonic: monotonic).map(\.receipt.row)
    }

    /// Offers receipts and returns the admitted rows.
    mutating func admit(_ rows: PurchaseRowID...) -> [PurchaseRowID] {
      let due = rows.map { row in
        StoreReader.DueReceipt(
          row: row, id: "rcp_\(row)", processor: "stripe", isReversal: false, body: [], spentAttempts: 0,
          retrySince: now, pausedBase: .zero)
      }
      return lane.admit(due, now: now, monotonic: monotonic).map(\.receipt.row)
    }

    mutating func end(
      _ row: PurchaseRowID, _ verdict: Verdict, wasAnswered: Bool = false, next: Lane.Due? = nil
    ) {
      lane.judge(verdict, row: row, wasAnswered: wasAnswered, now: now)
      lane.finish(row: row, next: next)
    }
  }
}
