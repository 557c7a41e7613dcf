// The notices to one address: one at a time, with a pace between two and a pause after a failure. Nothing is
// queued: each notice has the state at the time it is sent. The alerter's thread.

internal import Configuration
internal import Domain
internal import HTTPClient
internal import Platform
internal import Store
internal import Telemetry

/// Sends notices to one address.
struct AlertCourier {
  let alert: Configuration.Alert
  let address: AlertPlan.Address
  var ledger: AlertLedger
  /// The troubles that the last check found.
  var troubles: [Trouble.Key: Trouble] = [:]
  private(set) var sending: AlertLedger.Notice?
  private var failures = 0
  private(set) var restUntil: MonotonicInstant?

  init(_ alert: Configuration.Alert, _ address: AlertPlan.Address, records: [AlertRecord]) {
    self.alert = alert
    self.address = address
    ledger = Self.ledger(alert, address, records)
  }

  private static func ledger(
    _ alert: Configuration.Alert, _ address: AlertPlan.Address, _ records: [AlertRecord]
  ) -> AlertLedger {
    AlertLedger(
      destination: address.digest, every: alert.every, records: records,
      conditions: alert.on)
  }

  /// Replaces what is known to have been sent.
  mutating func restore(_ records: [AlertRecord]) { ledger = Self.ledger(alert, address, records) }

  /// Returns the notice to send now; nil if there is none, or if none may be sent yet.
  mutating func next(
    _ duty: AlertDuty, now: Timestamp, monotonic: MonotonicInstant, isCertain: (Trouble.Key) -> Bool
  ) -> AlertLedger.Notice? {
    guard sending == nil else { return nil }
    if let restUntil, monotonic < restUntil { return nil }
    restUntil = nil
    let own = troubles.filter { duty.includes($0.key) }
    sending = ledger.next(own, now: now) { duty.includes($0) && isCertain($0) }
    return sending
  }

  /// The result of sending a notice.
  struct Outcome {
    /// The record to save.
    var record: AlertRecord?
    var hasArrived = false
    /// Whether it is the first failure, or the first success after a failure.
    var isNews = false
  }

  mutating func finish(_ result: TransferResult, now: Timestamp, monotonic: MonotonicInstant) -> Outcome {
    guard let notice = sending else { return Outcome() }
    sending = nil
    let schedule = Alerter.retryPauses
    guard let status = result.status, (200...299).contains(status) else {
      defer { failures += 1 }
      restUntil = monotonic.advanced(by: schedule[min(failures, schedule.count - 1)])
      let mayHaveArrived = result.status == nil && result.requestWasSent
      return Outcome(
        record: mayHaveArrived ? ledger.noteUnanswered(notice, now: now) : nil, isNews: failures == 0)
    }
    let wasFailing = failures > 0
    failures = 0
    restUntil = monotonic.advanced(by: Alerter.paceInterval)
    return Outcome(record: ledger.note(notice, now: now), hasArrived: true, isNews: wasFailing)
  }

  /// Cancels the notice under way, which may arrive nevertheless.
  /// - Returns: the record to save.
  mutating func abandon(now: Timestamp) -> AlertRecord? {
    defer { sending = nil }
    return sending.flatMap { ledger.noteUnanswered($0, now: now) }
  }
}

extension AlertLedger.Notice {
  var key: Trouble.Key {
    switch self {
    case .firing(let trouble, _): trouble.key
    case .resolved(let key, _): key
    }
  }
}

extension AlerterRun {
  static func request(
    _ method: TransferRequest.Method, _ address: AlertPlan.Address, body: [UInt8] = []
  ) -> TransferRequest {
    var headers = [TransferHeader("User-Agent", Version.userAgent)]
    if method == .post { headers.append(TransferHeader("Content-Type", "application/json")) }
    return TransferRequest(
      method: method, url: address.url, headers: headers, body: body,
      timeout: Alerter.timeout, connectTimeout: .seconds(5))
  }
}
