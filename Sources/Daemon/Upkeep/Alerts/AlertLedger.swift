// The notices that one address got, and the next one: one when a trouble begins, another each `every` while
// it lasts, one when it is over. Pure: it neither reads the store nor sends. The alerter's thread.

internal import Config
internal import Domain
internal import Formats
internal import Service
internal import Store

/// The notices of one address.
struct AlertLedger {
  /// A notice to send.
  enum Notice: Equatable {
    case firing(Finding.Key, Finding, since: Timestamp)
    case resolved(Finding.Key, since: Timestamp)
  }

  /// A digest of the address.
  let destination: String
  let every: Duration
  private var notified: [Finding.Key: AlertRecord] = [:]

  /// - Parameter records: the alerts of this address that its rule watches, or that no rule watches any more.
  init(destination: String, every: Duration, records: [AlertRecord]) {
    self.destination = destination
    self.every = every
    for record in records { notified[Finding.Key(record.key)] = record }
  }

  /// The records to store.
  var records: [AlertRecord] { Array(notified.values) }

  /// Returns the next notice. Only the current state counts, not the states in between.
  /// - Parameters:
  ///   - isWatched: whether a rule still watches for the trouble. The end of one that is not is sent first:
  ///     a notice of the rule that replaced it must not share its incident.
  ///   - isCertain: whether the absence of a trouble means that it is over.
  func next(
    _ troubles: [Finding.Key: Finding], now: Timestamp, isWatched: (Finding.Key) -> Bool,
    isCertain: (Finding.Key) -> Bool
  ) -> Notice? {
    let over = notified.filter { $0.value.isFiring && troubles[$0.key] == nil && isCertain($0.key) }
      .sorted { Self.order($0.key, $1.key) }
    if let (key, record) = over.first(where: { !isWatched($0.key) }) {
      return .resolved(key, since: record.since)
    }
    var repeated: Notice?
    for (key, finding) in troubles.sorted(by: { Self.order($0.key, $1.key) }) {
      let begin = Notice.firing(key, finding, since: finding.since ?? now)
      guard let record = notified[key] else { return begin }
      // A trouble that comes and goes is notified no more often than one that lasts.
      guard isDue(record, now) else { continue }
      if !record.isFiring { return begin }
      repeated = repeated ?? .firing(key, finding, since: record.since)
    }
    if let (key, record) = over.first { return .resolved(key, since: record.since) }
    return repeated
  }

  /// Records that the notice has arrived.
  /// - Returns: the record to save.
  mutating func note(_ notice: Notice, now: Timestamp) -> AlertRecord {
    let record: AlertRecord
    switch notice {
    case .firing(_, _, let since):
      record = AlertRecord(key: key(of: notice.key), isFiring: true, since: since, notifiedAt: now)
    case .resolved(let key, let since):
      // An unanswered notice may have arrived, so the next one must not follow it sooner than any other.
      let notifiedAt = notified[key]?.notifiedAt ?? now
      record = AlertRecord(key: self.key(of: key), isFiring: false, since: since, notifiedAt: notifiedAt)
    }
    notified[notice.key] = record
    return record
  }

  /// Records that the notice was sent without an answer, so it may have arrived. It is sent again as soon as
  /// possible. If the trouble is over by then, its end is sent, because the receiver may know of its start.
  /// - Returns: the record to save; nil for the notice of an end, which changes nothing until it is answered.
  mutating func noteUnanswered(_ notice: Notice, now: Timestamp) -> AlertRecord? {
    guard case .firing(let key, _, let since) = notice else { return nil }
    let record = AlertRecord(
      key: self.key(of: key), isFiring: true, since: since, notifiedAt: now, isUnanswered: true)
    notified[key] = record
    return record
  }

  /// How long an alert that is over stays on the dashboard.
  private static let history: Duration = .days(7)

  /// Drops ended alerts. Those of a rule stay for the dashboard; another notice does not wait for them.
  /// - Parameter isWatched: whether a rule still watches for the trouble.
  /// - Returns: the records to delete.
  mutating func forgetWhatIsOver(now: Timestamp, isWatched: (Finding.Key) -> Bool) -> [AlertRecord.Key] {
    let over = notified.filter { key, record in
      let age = now.duration(since: record.notifiedAt)
      let isHistory = isWatched(key) && (.zero..<Self.history).contains(age)
      return !record.isFiring && isDue(record, now) && !isHistory
    }
    for key in over.keys { notified[key] = nil }
    return over.values.map(\.key)
  }

  /// Gives up the ends that could not be sent to an address that is not configured any more.
  /// - Returns: the records to delete.
  mutating func forgetAll() -> [AlertRecord.Key] {
    defer { notified = [:] }
    return notified.values.map(\.key)
  }

  /// If the clock was set back, the notice is due.
  private func isDue(_ record: AlertRecord, _ now: Timestamp) -> Bool {
    if record.isUnanswered { return true }
    let passed = now.duration(since: record.notifiedAt)
    return passed >= every || passed < .zero
  }

  /// The key of the trouble's record.
  func key(of key: Finding.Key) -> AlertRecord.Key {
    AlertRecord.Key(destination: destination, condition: key.condition.text, app: key.app)
  }

  private static func order(_ left: Finding.Key, _ right: Finding.Key) -> Bool {
    (left.condition.text, left.app ?? "") < (right.condition.text, right.app ?? "")
  }
}

extension Finding.Key {
  /// The trouble of a stored alert.
  init(_ key: AlertRecord.Key) {
    let known = AlertCondition(parsing: key.condition).flatMap { $0.text == key.condition ? $0 : nil }
    self.init(condition: known ?? .unknown(text: key.condition), app: key.app)
  }

  /// Whether both are of one app and have one condition, whatever its limit.
  func isSameIncident(as other: Finding.Key) -> Bool {
    app == other.app && condition.name == other.condition.name
  }
}
