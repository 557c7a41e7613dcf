// The notices to one address: one at a time, with a pace between two and a pause after a failure. Nothing is
// queued: each notice has the state at the time it is sent. The alerter's thread.

internal import Config
internal import Domain
internal import Platform
internal import Reports
internal import Service
internal import Store

/// Sends notices to one address.
struct AlertCourier {
  /// Without conditions if the address is not configured any more: then only ends are sent.
  private(set) var alert: Configuration.Alert
  let target: AlertTarget
  var ledger: AlertLedger
  /// The troubles that the last check found.
  var troubles: [Finding.Key: Finding] = [:]
  private(set) var sending: AlertLedger.Notice?
  /// The notices that no attempt was accepted of yet: whether each is of a start, and its first attempt.
  private var tried: [Finding.Key: (isFiring: Bool, at: Timestamp)] = [:]
  private var failures = 0
  private(set) var restUntil: MonotonicInstant?

  init(_ alert: Configuration.Alert, _ target: AlertTarget) {
    self.alert = alert
    self.target = target
    ledger = AlertLedger(destination: target.digest, every: alert.every, records: [])
  }

  /// Replaces what is known to have been sent.
  mutating func restore(_ records: [AlertRecord]) {
    ledger = AlertLedger(destination: target.digest, every: alert.every, records: records)
  }

  /// The courier of an address that is not configured any more, which sends the ends of what fires.
  func retired() -> AlertCourier {
    var courier = AlertCourier(alert, target)
    courier.alert.on = []
    return courier
  }

  /// Whether its rule is about the trouble. An app that was removed can only have stranded receipts.
  func watches(_ key: Finding.Key, apps: [AppConfiguration]) -> Bool {
    guard alert.on.contains(key.condition) else { return false }
    guard let app = key.app else { return true }
    if let own = alert.apps { return own.contains(app) }
    if case .oldestPending = key.condition { return true }
    return apps.contains { $0.slug == app }
  }

  /// Whether no notice may be sent to the address now.
  func isBusy(_ monotonic: MonotonicInstant) -> Bool {
    sending != nil || restUntil.map { monotonic < $0 } ?? false
  }

  /// Whether an alert of the same incident with another limit was reported and still fires.
  func fires(sameAs key: Finding.Key) -> Bool {
    ledger.records.contains { record in
      let other = Finding.Key(record.key)
      return record.isFiring && other != key && other.isSameIncident(as: key) && troubles[other] != nil
    }
  }

  /// Returns the notice to send now; nil if there is none.
  mutating func next(
    _ duty: AlertDuty, now: Timestamp, isWatched: (Finding.Key) -> Bool, isCertain: (Finding.Key) -> Bool
  ) -> AlertLedger.Notice? {
    let own = troubles.filter { duty.includes($0.key) }
    sending = ledger.next(own, now: now, isWatched: isWatched) { duty.includes($0) && isCertain($0) }
    noteAttempt(now)
    return sending
  }

  private mutating func noteAttempt(_ now: Timestamp) {
    // A trouble that ended before any notice of it arrived has another notice when it comes back.
    tried = tried.filter { key, _ in
      troubles[key] != nil || ledger.records.contains { $0.isFiring && $0.key == ledger.key(of: key) }
    }
    guard let sending, tried[sending.key]?.isFiring != sending.isFiring else { return }
    tried[sending.key] = (sending.isFiring, now)
  }

  /// The id of the notice under way: the same for each attempt, so that the receiver of a webhook can ignore
  /// all but the first.
  var messageID: String {
    guard let sending, let attempt = tried[sending.key] else { return "" }
    let key = sending.key
    return "msg_"
      + AlertNotice.digest(
        of: [
          ledger.destination, key.condition.text, key.app?.text ?? "", attempt.isFiring ? "firing" : "over",
          attempt.at.rfc3339,
        ].joined(separator: "\n"))
  }

  /// The result of sending a notice.
  struct Outcome {
    /// The record to save.
    var record: AlertRecord?
    var hasArrived = false
    /// Whether it is the first failure, or the first success after a failure.
    var isNews = false
  }

  mutating func finish(_ attempt: AlertAttempt, now: Timestamp, monotonic: MonotonicInstant) -> Outcome {
    guard let notice = sending else { return Outcome() }
    sending = nil
    let schedule = Alerter.retryPauses
    guard attempt.isAccepted else {
      defer { failures += 1 }
      let step = attempt.isRefusal ? schedule.count - 1 : min(failures, schedule.count - 1)
      restUntil = monotonic.advanced(by: max(schedule[step], attempt.retryAfter ?? .zero))
      return Outcome(
        record: attempt.mayHaveArrived ? ledger.noteUnanswered(notice, now: now) : nil, isNews: failures == 0)
    }
    let wasFailing = failures > 0
    failures = 0
    tried[notice.key] = nil
    restUntil = monotonic.advanced(by: Alerter.paceInterval)
    return Outcome(record: ledger.note(notice, now: now), hasArrived: true, isNews: wasFailing)
  }

  /// Whether it is not worth another attempt to send the ends to an address that is not configured any more.
  func hasGivenUp(_ attempt: AlertAttempt) -> Bool {
    alert.on.isEmpty && (attempt.isRefusal || failures >= Alerter.lastAttemptsMax)
  }

  /// Cancels the notice under way, which may arrive nevertheless.
  /// - Returns: the record to save.
  mutating func abandon(now: Timestamp) -> AlertRecord? {
    defer { sending = nil }
    return sending.flatMap { ledger.noteUnanswered($0, now: now) }
  }
}

extension AlertLedger.Notice {
  var key: Finding.Key {
    switch self {
    case .firing(let key, _, _): key
    case .resolved(let key, _): key
    }
  }

  /// Whether it reports a trouble, not its end.
  var isFiring: Bool { if case .firing = self { true } else { false } }
}
