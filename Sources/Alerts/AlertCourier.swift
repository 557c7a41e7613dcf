// One address and what is on its way there: one notice at a time, none too soon after the one before, and
// after a failure none until its pause is over. Nothing is queued: what is told is what is true when there is
// a turn for it. The alerter's thread.

internal import Configuration
internal import Domain
internal import HTTPClient
internal import Platform
internal import Store

/// Brings notices to one address.
struct AlertCourier {
  let alert: Configuration.Alert
  let address: AlertPlan.Address
  var book: AlertBook
  /// What the last look found.
  var troubles: [Trouble.Key: Trouble] = [:]
  private(set) var sending: AlertBook.Notice?
  private var failures = 0
  private(set) var restUntil: MonotonicInstant?

  init(_ alert: Configuration.Alert, _ address: AlertPlan.Address, records: [AlertRecord]) {
    self.alert = alert
    self.address = address
    book = AlertBook(
      destination: address.digest, everyMilliseconds: alert.everyMilliseconds, records: records,
      conditions: alert.on)
  }

  /// What goes now; nil when there is nothing, or no turn for it.
  mutating func next(
    now: Timestamp, monotonic: MonotonicInstant, isCertain: (Trouble.Key) -> Bool
  ) -> AlertBook.Notice? {
    guard sending == nil else { return nil }
    if let restUntil, monotonic < restUntil { return nil }
    restUntil = nil
    sending = book.next(troubles, now: now, isCertain: isCertain)
    return sending
  }

  /// What became of a notice.
  struct Outcome {
    /// What to keep of it.
    var record: AlertRecord?
    var hasArrived = false
    /// Whether it is the first that failed, or the first that arrived after one that failed.
    var isNews = false
  }

  mutating func finish(_ result: TransferResult, now: Timestamp, monotonic: MonotonicInstant) -> Outcome {
    guard let notice = sending else { return Outcome() }
    sending = nil
    let schedule = Alerter.retryMilliseconds
    guard let status = result.status, (200...299).contains(status) else {
      defer { failures += 1 }
      restUntil = monotonic.advanced(byMilliseconds: schedule[min(failures, schedule.count - 1)])
      let isDoubtful = result.status == nil && result.requestWasSent
      return Outcome(record: isDoubtful ? book.noteDoubt(notice, now: now) : nil, isNews: failures == 0)
    }
    let wasFailing = failures > 0
    failures = 0
    restUntil = monotonic.advanced(byMilliseconds: Alerter.paceMilliseconds)
    return Outcome(record: book.note(notice, now: now), hasArrived: true, isNews: wasFailing)
  }

  /// What is under way is given up, and may arrive all the same.
  /// - Returns: what to keep of it.
  mutating func abandon(now: Timestamp) -> AlertRecord? {
    defer { sending = nil }
    return sending.flatMap { book.noteDoubt($0, now: now) }
  }
}

extension AlertBook.Notice {
  var key: Trouble.Key {
    switch self {
    case .firing(let trouble, _): trouble.key
    case .resolved(let key, _): key
    }
  }
}
