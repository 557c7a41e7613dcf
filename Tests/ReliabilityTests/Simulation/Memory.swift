// The promises to clients, and the requests that servers saw: a small independent model. The database is
// checked against it after every commit. It contains only the contract's promises, not the relay's rules.

import SQLiteStore
import Store

/// What was promised, and what was seen.
struct Memory {
  /// A context that was answered 2xx.
  struct Context {
    var app: String
    var user: String
    var blob: String
    var at: Int64
  }

  /// A receipt as of the last check.
  struct Seen {
    var id: String
    var state: String
    var body: [UInt8]
    var at: Int64
    /// When it was last changed; wall clock.
    var changedAt: Int64
    /// The checkout session, if known.
    var session: String?
    var attempts: Int64
    var reason: String?
    /// Whether retention has deleted it.
    var isDeleted = false
  }

  var contexts: [String: Context] = [:]
  /// Events that were answered 2xx, and when.
  var events: [String: Int64] = [:]
  /// Events that Stripe stopped sending while the relay was down: only the relay's own backfill can get them.
  var missed: Set<String> = []
  /// The row of an event, which is stored once while it is kept, and when it was stored. If the relay fetched
  /// it, that is before Stripe was answered.
  var rows: [String: (row: Int64, at: Int64)] = [:]
  var seen: [String: Seen] = [:]
  /// Requests that reached the destinations, by app and object.
  var arrivals: [String: [Arrival]] = [:]
  /// Objects whose receipt an operator has replayed or changed.
  var touched: Set<String> = []
  /// Apps that another relay owns now.
  var foreignApps: Set<String> = []
  var faults: [String] = []

  /// Promised data must not be missing before this age.
  static let keptTime: Int64 = 5 * 86_400_000

  static func key(_ app: String, _ object: String) -> String { "\(app) \(object)" }

  /// The name of an object here. The copy of its receipt for a second destination has another one.
  static func object(_ id: String, copyFor destination: String) -> String { id + destination }
  /// The same for a row of `purchases`.
  static let objectSQL = "object_id || copy_for"

  mutating func arrived(_ arrival: Arrival) {
    let key = Self.key(arrival.app, arrival.objectID)
    if seen[key]?.state == "delivered" {
      faults.append("R3: \(key) was sent again after its 2xx was recorded")
    }
    if seen[key]?.state == "cancelled" { faults.append("\(key) was sent although it is cancelled") }
    arrivals[key, default: []].append(arrival)
  }

  /// Checks everything.
  mutating func checkEverything(_ connection: Connection, wall: Int64, now: Int64) throws {
    try checkReceipts(connection, now: now)
    if try connection.integer(LookupMemory.unplannedSQL) != 0 {
      faults.append("a lookup of nothing, or no lookup of missing data")
    }
    for (name, sql) in Promises.faults where try connection.integer(sql) != 0 { faults.append(name) }
    var events: Set<String> = []
    try connection.prepare("SELECT event_id, row_id, received_at FROM events").forEach {
      row throws(SQLiteError) in
      let (id, number) = (try row.text(0), row.integer(1))
      events.insert(id)
      let at = now - (wall - row.integer(2))
      let known = rows[id]
      // Once retention has deleted it, the relay may fetch it again; what it sold is known still.
      if let known, known.row != number, now - known.at < Self.keptTime {
        faults.append("R2: the event \(id) was taken in again")
      }
      if known?.row != number { rows[id] = (number, at) }
      // For this event there was no answer.
      if missed.contains(id), self.events[id] == nil { self.events[id] = at }
    }
    // Retention counts from the first reception, whose answer may have been lost.
    for (id, at) in self.events where !events.contains(id) {
      guard now - min(at, rows[id]?.at ?? at) < Self.keptTime else { continue }
      faults.append("R1: the event \(id) was acknowledged and is gone")
    }
    var found: [String: (String, String, String)] = [:]
    let stored = try connection.prepare(
      "SELECT id, app, user_id, coalesce(frame, CAST(ply_context AS BLOB)), dictionary FROM contexts"
    ).all { row throws(SQLiteError) in
      (
        id: try row.text(0), app: try row.text(1), user: try row.text(2), bytes: row.blob(3),
        dictionary: row.isNull(4) ? nil : row.integer(4)
      )
    }
    for context in stored {
      let text = String(decoding: try StoredTexts.text(context.bytes, context.dictionary), as: UTF8.self)
      found[context.id] = (context.app, context.user, text)
    }
    for (id, promised) in contexts where now - promised.at < Self.keptTime {
      let isThere = found[id].map { $0 == (promised.app, promised.user, promised.blob) } ?? false
      if !isThere { faults.append("R1: the context \(id) was acknowledged and is gone or altered") }
    }
  }

  private static let receipts = """
    SELECT app, object_id, receipt_id, state, coalesce(body, x''), reason, session_id, updated_at, dictionary,
      attempts, copy_for
    FROM purchases
    WHERE state IS NOT NULL
    """
  /// Receipts that the commit of a time changed. For a statement that is prepared once.
  static let changedReceipts = receipts + " AND updated_at = ?1"

  /// Checks the receipts that the commit at this time changed.
  /// - Parameter question: `changedReceipts`.
  mutating func checkChanges(_ question: Statement, wall: Int64, now: Int64) throws {
    for (key, after) in try read(question, [.integer(wall)], now: now) {
      if let before = seen[key] { compare(before, with: after, key, now: now) }
      record(after, key)
    }
  }

  private mutating func checkReceipts(_ connection: Connection, now: Int64) throws {
    let current = try read(connection.prepare(Self.receipts), [], now: now)
    for (key, before) in seen { compare(before, with: current[key], key, now: now) }
    // Receipts that retention deleted have ended. They stay in the model, so that their return is detected.
    for (key, receipt) in current { record(receipt, key) }
  }

  private mutating func record(_ receipt: Seen, _ key: String) {
    var receipt = receipt
    checkOwner(of: receipt, key)
    if let before = seen[key], before.state == receipt.state {
      receipt.at = before.at
    }
    seen[key] = receipt
    guard receipt.state == "delivered" else { return }
    let isAccepted = arrivals[key]?.contains { $0.status == 200 && $0.body == receipt.body } ?? false
    if !isAccepted { faults.append("R3: \(key) is delivered to nobody") }
  }

  /// No outcome of a delivery is stored after another relay has become the app's owner: it may be delivering
  /// the receipt.
  private mutating func checkOwner(of receipt: Seen, _ key: String) {
    guard let before = seen[key], foreignApps.contains(where: { key.hasPrefix("\($0) ") }) else { return }
    let isOutcome =
      receipt.attempts > before.attempts || (before.state == "pending" && receipt.state == "failed")
    if isOutcome { faults.append("\(key) has an outcome of a relay that does not own its app") }
  }

  private mutating func read(
    _ question: Statement, _ values: [StoreValue], now: Int64
  ) throws -> [String: Seen] {
    var current: [String: Seen] = [:]
    try question.forEach(values) { row throws(SQLiteError) in
      let (app, id, copyFor) = (try row.text(0), try row.text(1), try row.text(10))
      let object = Self.object(id, copyFor: copyFor)
      let body = try? StoredTexts.text(row.blob(4), row.isNull(8) ? nil : row.integer(8))
      let seen = Seen(
        id: try row.text(2), state: try row.text(3), body: body ?? [], at: now,
        changedAt: row.integer(7), session: try row.optionalText(6), attempts: row.integer(9),
        reason: try row.optionalText(5))
      current[Self.key(app, object)] = seen
      if ["waiting", "failed", "cancelled"].contains(seen.state), row.isNull(5) {
        faults.append("R4: \(app) \(object) is \(seen.state) without a reason")
      }
      // A subscription's receipt may have been under its checkout's key until the subscription was known.
      if let session = try row.optionalText(6), session != id {
        let old = self.seen.removeValue(forKey: Self.key(app, Self.object(session, copyFor: copyFor)))
        if let old, old.id != seen.id, !old.body.isEmpty { faults.append("R2: two receipts for \(session)") }
      }
    }
    return current
  }

  private mutating func compare(_ before: Seen, with after: Seen?, _ key: String, now: Int64) {
    guard let after else {
      let hasEnded = ["delivered", "failed", "cancelled"].contains(before.state)
      if !hasEnded || now - before.at < Self.keptTime {
        faults.append("R4: the receipt of \(key) vanished while it was \(before.state)")
      }
      seen[key]?.isDeleted = true
      return
    }
    if after.id != before.id { faults.append("R2: \(key) has another receipt than before") }
    guard !touched.contains(key) else { return }
    if before.state == "delivered", after.state != "delivered" {
      faults.append("R3: \(key) was delivered and is \(after.state)")
    }
    // An unsent receipt is rebuilt when its context turns out to belong to another purchase.
    if before.state == "delivered", after.body != before.body {
      faults.append("\(key) has other bytes than were delivered")
    }
  }
}
