// The relay as one of several on a database behind a network: what the other relays do, and what is checked
// then. In a world with SQLite alone nothing of this happens. One thread.

import Domain
import Platform
import SQLiteStore
import Store

@testable import Daemon
@testable import Service

extension SimulatedWorld {
  // MARK: Ownership

  /// Since when the relay could work for an app, or for all apps; nil while it cannot. The promises about
  /// time are kept by the relay that owns the app, and only while the database can be reached.
  func worksSince(_ name: String) -> Int64? {
    guard let database else { return upSince }
    return database.worksSince(name).map { max($0, upSince) }
  }

  /// When the relay could not work for an app.
  func interruptions(of app: String) -> [ClosedRange<Int64>] {
    downs + (database?.interruptions(of: app) ?? [])
  }

  /// Checks a request that reached a destination.
  func noteArrival(_ arrival: Arrival) {
    memory.arrived(arrival)
    let epoch = database?.epoch(of: arrival.app)
    let right = Fence(app: AppSlug(arrival.app), owner: Int64(lives), epoch: epoch ?? 0)
    deliveries.check(arrival, right, handedOver: database?.handedOver ?? [], &memory)
    guard let database else { return }
    if epoch == nil || !database.isOwner(of: arrival.app) {
      memory.faults.append("\(arrival.app): a delivery was started by a relay that does not own the app")
    }
    database.threaten(arrival.app)
  }

  /// A relay that begins to send the alerts knows what is in the database. Notices that it could not save
  /// before, because an answer was lost, are not.
  func noteDuty() {
    guard let epoch = database?.epoch(of: SharedDatabase.shared), epoch != dutyEpoch else { return }
    dutyEpoch = epoch
    alerts.forget()
  }

  /// Whether to look for troubles. While the alerter may not send, or cannot read, its steps are a second
  /// apart.
  func isLookForTroublesDue() -> Bool {
    let isOnDuty = worksSince(SharedDatabase.shared) != nil
    guard isOnDuty || now - troublesCheckedAt >= Self.minute else { return false }
    troublesCheckedAt = now
    return true
  }

  // MARK: Commits

  /// The times of the transactions that were stored since the last call.
  func drainCommits() throws -> [Int64] {
    guard let database else { return [wall] }
    let (walls, unknown, hasFailed) = database.drainCommits()
    // Nobody is notified of a commit whose answer was lost.
    for wall in unknown {
      let receipts = try (eye ?? reader()).prepare(
        "SELECT receipt_id FROM purchases WHERE state IS NOT NULL AND updated_at = ?1"
      ).all([.integer(wall)]) { row throws(SQLiteError) in try row.text(0) }
      unannounced.formUnion(receipts)
    }
    if hasFailed {
      alerts.noteLostCommit()
      lookups.noteLostCommit()
    }
    memory.foreignApps = database.foreign
    return walls
  }

  // MARK: Other relays

  /// Gives a request to the relay, or to another one.
  func submit<Command: StoreCommand>(
    _ command: Command, of app: AppSlug, _ core: RelayCore,
    completion: @escaping @Sendable (Result<Command.Outcome, StoreFault>) -> Void
  ) -> Bool {
    guard let database, oneIn(4), let other = try? guest(core) else {
      return core.committer.submit(command, from: .external(app: app), completion: completion)
    }
    var changes = other.apply(
      [Submission(command, completion: completion)], now: Timestamp(unixMilliseconds: wall)
    ).changes
    unannounced.formUnion(changes.transitions.map(\.receiptID.text))
    database.noteElsewhere()
    // A notification does not have them.
    changes.transitions = []
    if !changes.isEmpty { database.announce(changes) }
    return true
  }

  /// Notifies the relay of a change by another program, unless that is lost.
  func announce(to core: RelayCore) {
    if let database {
      database.announce(nil)
    } else if oneIn(2) {
      core.checkAll()
    }
  }

  /// The relay's log, in which outcomes that were refused are counted.
  func log() -> Log {
    guard let database else { return Log(level: .error, clock: clock) { _ in } }
    return Log(level: .warning, clock: clock) { line in
      let text = String(decoding: line, as: UTF8.self)
      if text.contains("the outcome of a delivery was not stored") { database.noteFenced() }
    }
  }
}
