// What the world checks while the relay runs: its lookups, its notices and its decisions about tokens. One
// thread.

import Domain
import Formats
import Platform
import SQLiteStore
import SimulatedDisk
import Store

@testable import Config
@testable import Daemon
@testable import HTTPServer
@testable import Service

extension SimulatedWorld {
  // MARK: Lookups

  /// Checks the lookups of the last step.
  func judgeLookups() throws {
    let (questions, answers) = stripe.drainLog()
    guard !disk.isPowerCut, !questions.isEmpty || !answers.isEmpty else { return }
    try lookups.judge(questions, answers, eye ?? reader(), isStrict: !hasWildClock, &memory.faults)
  }

  /// Records the weather at Stripe's API.
  func noteStripe(_ app: String, _ weather: Weather) {
    guard Self.appsThatAsk.contains(app) else { return }
    let fine = stripeFineSince[app]
    stripeFineSince[app] = weather == .fine ? max(fine ?? now, stripeRestsUntil[app] ?? now) : nil
    // The longest rest that an answer can ask for.
    if weather == .resting { stripeRestsUntil[app] = Int64.max }
    if weather != .resting, stripeRestsUntil[app] == Int64.max {
      stripeRestsUntil[app] = now + Self.day
      if weather == .fine { stripeFineSince[app] = now + Self.day }
    }
  }

  /// Checks that no lookup is left: while the relay runs and Stripe answers, one that is due is made.
  func judgeLeftLookups() throws {
    for app in Self.appsThatAsk {
      guard let fineSince = stripeFineSince[app], let worksSince = worksSince(app) else { continue }
      let lasts = now - max(worksSince, fineSince)
      guard lasts > Self.leftAfter.milliseconds else { continue }
      let left = try (eye ?? reader()).prepare(
        "SELECT count(*) FROM look_ups WHERE app = ?1 AND due_at < ?2"
      ).first([.text(app), .integer(wall - Self.leftAfter.milliseconds)]) { row throws(SQLiteError) in
        row.integer(0)
      }
      if let left, left > 0 {
        memory.faults.append("\(app): \(left) lookups are due for hours, and Stripe is not asked")
      }
    }
  }

  /// Twice the longest time between two looks of the worker, and an hour.
  private static let leftAfter: Duration = .hours(3)

  // MARK: Alerts

  static let conditions: [AlertCondition] = [
    .breakerOpen, .receiptFailed, .oldestPending(over: .hours(1)),
  ]

  /// Checks the notices of the last step.
  func judgeNotices() throws {
    guard !disk.isPowerCut else { return }
    if isLookForTroublesDue() { try checkTroubles(eye ?? reader()) }
    noteDuty()
    let (notices, heard) = receivers.drainLog()
    alerts.judge(notices, heard, isStrict: !hasWildClock, now: now, &memory.faults)
    guard !hasWildClock else { return }
    try judgeLeftLookups()
    // Another relay sends the alerts while this one has no right to.
    guard let since = worksSince(SharedDatabase.shared) else { return }
    memory.faults += alerts.faults(SimulatedReceivers.calm, since: since, now: now)
    if let fineSince = receiverFineSince {
      memory.faults += alerts.faults(SimulatedReceivers.stormy, since: max(since, fineSince), now: now)
    }
    if now - max(since, receivers.beatAt ?? since) > Self.hour + Self.minute * 10 {
      memory.faults.append("no sign of life for \(now - max(since, receivers.beatAt ?? since)) ms")
    }
  }

  /// Finds troubles without the relay's own queries.
  private func checkTroubles(_ reader: SQLiteStore.Connection) throws {
    for app in Self.apps {
      func check(_ condition: AlertCondition, _ isThere: Bool) {
        alerts.check(.init(condition: condition.text, app: app), isThere: isThere, now: now)
      }
      let open = try reader.prepare("SELECT 1 FROM breakers WHERE app = ?1 AND state <> 'closed'").first([
        .text(app)
      ]) { _ throws(SQLiteError) in true }
      check(.breakerOpen, open ?? false)
      let oldest =
        try reader.prepare(
          "SELECT min(retry_since) FROM purchases WHERE app = ?1 AND state = 'pending'"
        ).first([.text(app)]) { row throws(SQLiteError) in row.optionalInteger(0) } ?? nil
      check(.oldestPending(over: .hours(1)), oldest.map { wall - $0 > Self.hour } ?? false)
      // Counted by the minute, within the last hour.
      let failed = try reader.prepare(
        """
        SELECT 1 FROM purchases p JOIN failure_counts f ON f.app = p.app AND f.reason = p.reason
          AND f.last_cause = coalesce(p.last_cause, '')
        WHERE p.app = ?1 AND p.state = 'failed' AND f.minute >= ?2 LIMIT 1
        """
      ).first([.text(app), .integer((wall - Self.hour) / Self.minute)]) { _ throws(SQLiteError) in true }
      check(.receiptFailed, failed ?? false)
    }
  }

  // MARK: Tokens

  /// A caller presents a token to the relay.
  /// - Parameter attempts: how many earlier attempts were refused although the token was valid.
  func knock(_ app: String, _ token: KnockingToken, attempts: Int, _ core: RelayCore) {
    guard let configured = core.apps.current[AppSlug(app)] else { return }
    let gate = ClientGate(
      services: ListenerServices(
        metrics: core.metrics, log: Log(level: .error, clock: clock) { _ in }, clock: clock),
      apps: core.apps, fetcher: core.keyFetcher)
    let head = RequestHead.simulated(
      "POST", "/v1/\(app)/contexts", [("Authorization", "Bearer \(token.text)")])
    let (provider, knocks, clock) = (provider, knocks, clock)
    let decide: @Sendable (Result<TokenUser?, Problem>) -> Void = { result in
      provider.judge(token, app: app, result.map { $0?.id.text }, now: clock.monotonicMilliseconds)
      knocks.withLock { $0.append((app, token, attempts, (try? result.get()) != nil)) }
    }
    switch gate.poster(head, configured) {
    case .failure(let problem): decide(.failure(problem))
    case .success(let caller): _ = gate.authorize(caller, configured, decided: decide)
    }
  }

  /// A caller that was refused with a valid token retries.
  func answerKnocks() {
    let answers = knocks.withLock { knocks in
      defer { knocks = [] }
      return knocks
    }
    memory.faults += provider.drainFaults()
    for (app, token, attempts, isAccepted) in answers where !isAccepted {
      let lasts = min(now - upSince, 15 * Self.minute)
      guard lasts == 15 * Self.minute, provider.isCurrent(token, app: app, for: lasts, now: now) else {
        continue
      }
      if attempts >= 3 { memory.faults.append("\(app): a good token was refused for minutes") }
      agenda.add(.knock(app, token, attempts: attempts + 1), at: now + 61 * Self.second)
    }
  }
}
