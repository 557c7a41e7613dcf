// Jobs of operators: from the dashboard, through the committer, or by a receiptctl process, which may die
// between two steps. One thread.

import Domain
import Platform
import SQLiteStore
import SimulatedDisk

@testable import Daemon
@testable import Service
@testable import Store

extension SimulatedWorld {
  /// An operator starts a job, or changes one.
  func operateJobs(_ core: RelayCore) throws {
    if oneIn(3) { return try changeJob(core) }
    let app = oneIn(3) ? nil : Self.apps.randomElement(using: &random)
    let states: [ReceiptState] = [.failed, .failed, .cancelled, .delivered, .waiting]
    let state = states.randomElement(using: &random) ?? .failed
    var request = JobRequest(source: .ids(count: 0), actor: "operator")
    request.kind = oneIn(6) ? .cancel : .replay
    request.force = oneIn(2)
    request.ratePerSecond = [nil, nil, 0.01, 1].randomElement(using: &random) ?? nil
    let found = try receipts(of: app, state: state)
    if oneIn(3) {
      let named = found.filter { _ in oneIn(4) }
      request.source = .ids(count: named.count)
      return try name(named, request, core)
    }
    var filter = ReceiptFilter()
    (filter.app, filter.state) = (app.map(AppSlug.init), state)
    let isCut = state == .delivered
    request.source = .filter(filter, limit: isCut ? 3 : nil)
    // Receipts that a clock running ahead created do not match.
    guard let job = try start(request, core), !isCut, !hasWildClock else { return }
    // A replay omits receipts that cannot be sent or are unpaid, and a cancellation omits cancelled ones.
    let meant = found.filter { receipt in
      request.kind == .replay
        ? !["user", "price", "subscription", "payment"].contains(receipt.reason) : state != .cancelled
    }
    jobs.begin(job, candidates: Dictionary(uniqueKeysWithValues: meant.map { ($0.key, state.rawValue) }))
  }

  /// - Returns: its row; nil when the caller gets no answer.
  private func start(_ request: JobRequest, _ core: RelayCore) throws -> Int64? {
    let command = Audited(StartJob(request)) { job in
      AuditEntry(at: job.createdAt, actor: "operator", action: "receipts replay", subject: job.id.text)
    }
    if oneIn(2) {
      // From the dashboard.
      _ = core.committer.submit(command, from: .internal) { _ in }
      return nil
    }
    let writer = try guest(core)
    do throws(StoreFault) {
      return try writer.apply(command, now: Timestamp(unixMilliseconds: wall)).row.number
    } catch {
      return nil
    }
  }

  /// Adds receipts one by one, as receiptctl does for a list of ids; it may be killed between two steps.
  private func name(
    _ found: [(key: String, id: ReceiptID, reason: String)], _ request: JobRequest, _ core: RelayCore
  ) throws {
    let writer = try guest(core)
    let moment = Timestamp(unixMilliseconds: wall)
    do throws(StoreFault) {
      let job = try writer.apply(StartJob(request), now: moment)
      if oneIn(4) { return }
      let ids = found.map(\.id)
      let half = ids.count / 2
      _ = try writer.apply(
        ExtendJob(job: job.id, from: nil, to: "half", receipts: Array(ids[..<half]), isLast: false),
        now: moment)
      if oneIn(4) { return }
      _ = try writer.apply(
        ExtendJob(job: job.id, from: "half", to: "all", receipts: Array(ids[half...]), isLast: true),
        now: moment)
    } catch {
      // The power was cut meanwhile.
    }
    announce(to: core)
  }

  private func changeJob(_ core: RelayCore) throws {
    let open = try reader().prepare("SELECT id FROM jobs WHERE ended_at IS NULL").all {
      row throws(SQLiteError) in try row.text(0)
    }
    guard let id = open.randomElement(using: &random) else { return }
    let changes: [ChangeJob.Change] = [.pause, .pause, .resume, .cancel]
    let change = ChangeJob(id: JobID(id), changes.randomElement(using: &random) ?? .resume)
    _ = core.committer.submit(change, from: .internal) { _ in }
  }

  /// At the end no job stays paused.
  func resumeJobs() throws {
    let writer = try StoreWriter(path: disk.path(), role: .guest, rules: AppDirectory(configuration).rules)
    let paused = try reader().prepare("SELECT id FROM jobs WHERE state = 'paused'").all {
      row throws(SQLiteError) in try row.text(0)
    }
    for id in paused {
      _ = try writer.apply(ChangeJob(id: JobID(id), .resume), now: Timestamp(unixMilliseconds: wall))
    }
  }

  private func receipts(of app: String?, state: ReceiptState) throws -> [(
    key: String, id: ReceiptID, reason: String
  )] {
    try reader().prepare(
      """
      SELECT app, \(Memory.objectSQL), receipt_id, reason FROM purchases
      WHERE (?1 IS NULL OR app = ?1) AND state = ?2 ORDER BY receipt_id DESC
      """
    ).all([.optional(app), .text(state.rawValue)]) { row throws(SQLiteError) in
      (
        Memory.key(try row.text(0), try row.text(1)), ReceiptID(try row.text(2)),
        try row.optionalText(3) ?? ""
      )
    }
  }
}
