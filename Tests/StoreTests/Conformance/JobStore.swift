// Helpers for the suites about jobs.

import Domain
import Store
import TestSupport
import Testing

/// A store with failed receipts, and a job runner.
final class JobStore {
  let store: TestStore
  private var works: [JobRowID: JobWork] = [:]
  /// How many replays of each app may be due at once.
  var windows: [AppSlug: Int] = [:]

  init(failed: Int = 5) throws {
    store = try TestStore()
    for number in 0..<failed { try purchase("\(number)", .failed(.status(422)), status: 422) }
  }

  @discardableResult
  func purchase(
    _ n: String, _ decision: Delivery.Decision?, status: Int64 = 200, app: AppSlug = "ios"
  ) throws -> ReceiptID {
    try store.ingest(Said.completed(n, prices: ["price_1"]), app: app)
    try store.endWaits()
    store.advance(hour)
    try store.endWaits()
    var filter = ReceiptFilter()
    filter.objectID = "sub_\(n)"
    let record = try #require(try store.reader.receipts(filter, limit: 1).first)
    if let decision { try end(record.receiptID, decision, status: status, app: app) }
    return try #require(record.receipt?.id)
  }

  func end(
    _ id: ReceiptID, _ decision: Delivery.Decision, status: Int64 = 200, app: AppSlug = "ios"
  ) throws {
    let report = AttemptReport(at: store.now, status: status)
    _ = try store.apply(RecordAttempt(of: id, app: app, report: report, decision: decision))
  }

  func start(
    _ kind: JobKind = .replay, force: Bool = false, rate: Double? = nil, price: PriceID? = nil,
    limit: Int? = nil, _ change: (inout ReceiptFilter) -> Void = { $0.state = .failed }
  ) throws -> Job {
    var filter = ReceiptFilter()
    change(&filter)
    return try store.apply(
      StartJob(
        JobRequest(
          kind: kind, source: .filter(filter, limit: limit), force: force, ratePerSecond: rate,
          priceID: price, actor: "ann", reason: "why")))
  }

  /// Runs steps until there is nothing to do for now.
  @discardableResult
  func run(_ job: Job, stepsMax: Int = .max) throws -> Job {
    var work = works[job.row] ?? JobWork(job: job.row)
    work.windows = windows
    defer { works[job.row] = work }
    for _ in 0..<stepsMax {
      guard case .apply(let step) = try work.next(store.reader, now: store.now) else { break }
      try store.apply(step)
    }
    return try current(job)
  }

  func current(_ job: Job) throws -> Job { try #require(try store.reader.job(id: job.id)) }

  func states() throws -> [String] {
    try store.receipts().compactMap(\.receipt?.state.rawValue)
  }

  /// Records this decision for every due receipt.
  func deliver(_ decision: Delivery.Decision = .delivered(importID: "imp")) throws {
    for due in try store.reader.due(app: "ios", now: store.now, limit: 10_000) { try end(due.id, decision) }
  }
}
