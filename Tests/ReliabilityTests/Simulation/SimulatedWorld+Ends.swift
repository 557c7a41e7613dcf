// Operators, and the expected final states. One thread.

import Domain
import Formats
import Platform
import SQLiteStore
import Sandbox
import SimulatedDisk
import Store

@testable import Daemon
@testable import Service

extension SimulatedWorld {
  /// Checks the whole database against the promises. Ages are on the monotonic clock, whatever the wall clock
  /// says.
  func checkEverything(_ connection: Connection, _ store: StoreReader) throws {
    try memory.checkEverything(connection, wall: wall, now: now)
    memory.faults += try store.contradictions()
    try lookAtCalmApp(connection)
  }

  /// No receipt of the healthy app waits longer for its first attempt than its lane may take (R11).
  private func lookAtCalmApp(_ connection: Connection) throws {
    guard let since = worksSince(Self.calmApp), now - since > Self.minute, !hasWildClock else { return }
    let late = try connection.prepare(
      """
      SELECT object_id, receipt_id, ready_at FROM purchases
      WHERE app = ?1 AND state = 'pending' AND attempts = 0 AND ready_at < ?2
      """
    ).all([.text(Self.calmApp), .integer(wall - Self.minute)]) { row throws(SQLiteError) in
      (try row.text(0), id: try row.text(1), readyAt: row.integer(2))
    }
    // The daemon may notice changes by receiptctl late.
    for (object, id, readyAt) in late where !memory.touched.contains(Memory.key(Self.calmApp, object)) {
      // It finds with its next look what another relay has stored, if the notification is lost, and what was
      // stored by a commit whose answer was lost.
      let looks = lookInterval + Self.minute
      if unannounced.contains(id), min(now - since, wall - readyAt) < looks { continue }
      memory.faults.append("R11: \(object) of the calm app waits for its first try")
    }
  }

  private func records() throws -> [(
    id: String, app: String, object: String, state: String
  )] {
    try reader().prepare(
      """
      SELECT receipt_id, app, \(Memory.objectSQL), state FROM purchases
      WHERE state IS NOT NULL ORDER BY row_id
      """
    ).all { row throws(SQLiteError) in
      (try row.text(0), try row.text(1), try row.text(2), try row.text(3))
    }
  }

  func reader() throws(SQLiteError) -> Connection {
    try Connection(path: disk.path(), mode: .readOnly, busyTimeout: .zero)
  }

  func guest(_ core: RelayCore) throws -> StoreWriter {
    try StoreWriter(
      path: disk.path(), role: .guest, rules: core.apps.current.rules,
      random: SeededGenerator(seed: random.next()))
  }

  /// An operator changes a receipt with receiptctl.
  func operate(_ core: RelayCore) throws {
    let writer = try guest(core)
    guard let record = try records().randomElement(using: &random) else { return }
    let key = Memory.key(record.app, record.object)
    let moment = Timestamp(unixMilliseconds: wall)
    let id = ReceiptID(record.id)
    let before = memory.touched
    memory.touched.insert(key)
    do throws(StoreFault) {
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        _ = try writer.apply(ReplayReceipt(id: id, force: false, dueAt: moment), now: moment)
        // Without force a delivered receipt is not sent again (R3).
        if record.state == "delivered" { memory.touched = before }
      case 2:
        let isForced = oneIn(3)
        _ = try writer.apply(ReplayReceipt(id: id, force: isForced, dueAt: moment), now: moment)
        if !isForced, record.state == "delivered" { memory.touched = before }
      case 3: _ = try writer.apply(CancelReceipt(id: id, note: "why not"), now: moment)
      case 4: try claim(id, AppSlug(record.app), moment, writer)
      default:
        let command = CompleteReceipt(id: id, userID: "found", priceID: nil, contextID: nil)
        _ = try writer.apply(command, now: moment)
      }
    } catch {
      // A requested power cut hit the operator's command.
      return
    }
    try memory.checkEverything(try reader(), wall: wall, now: now)
    announce(to: core)
  }

  /// A customer claims a purchase that lacks its user, with one of two tokens.
  private func claim(
    _ id: ReceiptID, _ app: AppSlug, _ moment: Timestamp, _ writer: StoreWriter
  ) throws(StoreFault) {
    for user: UserID in ["found", "late"] {
      let offer = OfferClaim(id, app: app, origin: .page, lifetime: .days(7))
      guard case .offered(_, let token) = try writer.apply(offer, now: moment) else { return }
      _ = try writer.apply(UseClaim(token, app: app, userID: user), now: moment)
    }
  }

  /// When everything is healthy again, an operator replays what the relay gave up and what an operator
  /// cancelled.
  func replayEverything() throws {
    let writer = try StoreWriter(path: disk.path(), role: .guest, rules: AppDirectory(configuration).rules)
    let stopped = try reader().prepare(
      """
      SELECT receipt_id FROM purchases
      WHERE state IN ('failed', 'cancelled') AND reason IN ('gave_up', 'operator')
      """
    ).all { row throws(SQLiteError) in try row.text(0) }
    let moment = Timestamp(unixMilliseconds: wall)
    for id in stopped {
      _ = try writer.apply(ReplayReceipt(id: ReceiptID(id), force: false, dueAt: moment), now: moment)
    }
  }

  /// Whether no disturbance can have led to another outcome.
  private func isSure(_ story: Story, _ taken: [Int64]) -> Bool {
    if Story.Kind.ofAPI.contains(story.kind), story.kind != .sessionInAPI {
      // The relay waits at most a day for facts that only Stripe's API has.
      guard story.app == Self.calmApp, let since = taken.min() else { return false }
      return !interruptions(of: story.app).contains {
        $0.overlaps(since...since + Self.day) && $0.upperBound - $0.lowerBound > Self.hour
      }
    }
    if story.kind == .noPrice, let taken = taken.min(), let madeAt = events[story.number].first?.madeAt {
      // A context that was posted after the purchase belongs to it only if the event arrives within a day, by
      // the relay's clock.
      let posted = story.contexts.compactMap { blob in memory.contexts.values.first { $0.blob == blob }?.at }
      if posted.contains(where: { $0 > madeAt && (hasWildClock || taken - $0 > 20 * Self.hour) }) {
        return false
      }
    }
    return !story.isRegular || ![.noPrice, .noUser, .placeholder].contains(story.kind)
  }

  /// Checks the final state of every story.
  func compareEnds() {
    for story in stories where !events[story.number].isEmpty {
      let key = Memory.key(story.app, story.objectID)
      let name = Memory.object(story.objectID, copyFor: SimulatedDestinations.webhook.text)
      let copy = story.app == Self.doubleApp ? Memory.key(story.app, name) : nil
      let taken = events[story.number].map { event in
        memory.events[event.id].map { min($0, memory.rows[event.id]?.at ?? $0) }
      }
      guard taken.allSatisfy({ $0 != nil }) else {
        memory.faults.append("\(key): an event was never taken")
        continue
      }
      compareEnd(story, key, story.end, taken.compactMap(\.self))
      // What an operator changes in the first concerns the copy, too.
      guard let copy, !memory.touched.contains(key) else { continue }
      compareEnd(story, copy, story.endOfCopy, taken.compactMap(\.self))
    }
  }

  private func compareEnd(_ story: Story, _ key: String, _ end: ReceiptState?, _ taken: [Int64]) {
    let found = memory.seen[key]
    if story.kind == .foreign, memory.arrivals[key] != nil {
      memory.faults.append("\(key): a foreign sale was sent")
    }
    guard !memory.touched.contains(key) else { return }
    // What the relay gave up early is deleted before the operator replays everything.
    if let found, found.reason == "gave_up", found.isDeleted { return }
    if isSure(story, taken), found?.state != end?.rawValue {
      let (state, due) = (found?.state ?? "none", end?.rawValue ?? "none")
      memory.faults.append("\(key), \(story.kind): \(state) at the end, not \(due)")
    }
    if found?.state == "delivered" { compare(story, key, firstTakenAt: taken.min() ?? 0) }
  }

  /// Checks what the destination received for a story.
  private func compare(_ story: Story, _ key: String, firstTakenAt: Int64) {
    let sent = memory.arrivals[key]?.last.flatMap { try? JSONValue(parsing: $0.body) }
    // A webhook has the receipt in `data`.
    let told = sent?["data"] ?? sent
    let user = told?["user_id"]?.stringValue
    if user != story.user {
      memory.faults.append("\(key): sent with the user \(user ?? "-"), not \(story.user)")
    }
    let context = told?["ply_context"]?.stringValue
    let owner = memory.contexts.values.first { $0.blob == context }
    if let owner, owner.user != story.user || owner.app != story.app {
      memory.faults.append("R5: \(key) was sent with a context of \(owner.app) \(owner.user)")
    }
    // A session that only Stripe's API has is found if the relay was running to ask for it.
    let asked = firstTakenAt - Self.minute...firstTakenAt + 2 * Self.minute
    if story.kind == .sessionInAPI, story.app == Self.calmApp, !hasWildClock,
      !interruptions(of: story.app).contains(where: { $0.overlaps(asked) }),
      !unannounced.contains(memory.seen[key]?.id ?? ""),
      memory.seen[key]?.session != story.purchase.sessionID
    {
      memory.faults.append("\(key): its session, which Stripe knows, was not found")
    }
    guard story.contexts.count == 1, !story.isRegular else { return }
    let posted = memory.contexts.values.first { $0.blob == story.contexts[0] }
    // A context posted after the purchase is found only in the window before the user is known, which may be
    // long after the first event.
    let madeAt = events[story.number].first?.madeAt ?? 0
    if Story.Kind.withLateUser.contains(story.kind), let posted, posted.at > madeAt { return }
    // Before the first event, and within the window of all of them.
    if let posted, posted.at < firstTakenAt, firstTakenAt - posted.at < 20 * Self.hour, !hasWildClock,
      context != posted.blob
    {
      let late = posted.at > madeAt ? ", posted after its purchase" : ""
      memory.faults.append(
        "R2: \(key), \(story.kind), was sent without the context that arrived before its first event\(late)")
    }
  }
}
