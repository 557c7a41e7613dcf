// What one address was told, and what it is to be told next: one notice when a trouble begins, another each
// `every` while it lasts, one when it is over. Pure: it neither looks nor sends. The alerter's thread.

internal import Configuration
internal import Domain
internal import Store

/// The book of one address.
struct AlertBook {
  /// What to tell.
  enum Notice: Equatable {
    case firing(Trouble, since: Timestamp)
    case resolved(Trouble.Key, since: Timestamp)
  }

  /// A digest of the address.
  let destination: String
  let everyMilliseconds: Int64
  private var told: [Trouble.Key: AlertRecord] = [:]

  /// - Parameter records: what was told before; of any address.
  init(destination: String, everyMilliseconds: Int64, records: [AlertRecord], conditions: [AlertCondition]) {
    self.destination = destination
    self.everyMilliseconds = everyMilliseconds
    for record in records where record.key.destination == destination {
      guard let condition = conditions.first(where: { $0.text == record.key.condition }) else { continue }
      told[Trouble.Key(condition: condition, app: record.key.app)] = record
    }
  }

  /// What it keeps on record.
  var records: [AlertRecord] { Array(told.values) }

  /// The next thing to tell; the newest state counts, whatever it was in between.
  /// - Parameter isCertain: whether the absence of a trouble means that it is over.
  func next(
    _ troubles: [Trouble.Key: Trouble], now: Timestamp, isCertain: (Trouble.Key) -> Bool
  ) -> Notice? {
    var repeats: [Trouble] = []
    for trouble in troubles.values.sorted(by: { Self.order($0.key, $1.key) }) {
      guard let record = told[trouble.key] else { return .firing(trouble, since: trouble.since) }
      // One that comes and goes is told of no more often than one that stays.
      guard isDue(record, now) else { continue }
      if !record.isFiring { return .firing(trouble, since: trouble.since) }
      repeats.append(trouble)
    }
    let over = told.filter { $0.value.isFiring && troubles[$0.key] == nil && isCertain($0.key) }
    if let key = over.keys.sorted(by: Self.order).first, let record = over[key] {
      return .resolved(key, since: record.since)
    }
    return repeats.first.map { .firing($0, since: told[$0.key]?.since ?? $0.since) }
  }

  /// The notice has arrived.
  /// - Returns: what to keep of it.
  mutating func note(_ notice: Notice, now: Timestamp) -> AlertRecord {
    let record: AlertRecord
    switch notice {
    case .firing(let trouble, let since):
      record = AlertRecord(key: key(of: trouble.key), isFiring: true, since: since, toldAt: now)
      told[trouble.key] = record
    case .resolved(let key, let since):
      let toldAt = told[key]?.toldAt ?? now
      record = AlertRecord(key: self.key(of: key), isFiring: false, since: since, toldAt: toldAt)
      told[key] = record
    }
    return record
  }

  /// The notice was sent, and its answer is not known: it may have arrived. It is sent again as soon as
  /// possible; if the trouble is over by then, its end is sent, because the address may know of its start.
  /// - Returns: what to keep of it; nil when the address knows of the trouble already.
  mutating func noteDoubt(_ notice: Notice, now: Timestamp) -> AlertRecord? {
    guard case .firing(let trouble, let since) = notice, told[trouble.key]?.isFiring != true else {
      return nil
    }
    let record = AlertRecord(
      key: key(of: trouble.key), isFiring: true, since: since,
      toldAt: now.advanced(byMilliseconds: -everyMilliseconds))
    told[trouble.key] = record
    return record
  }

  /// Drops what is over and was told so long ago that it holds nothing back any more.
  /// - Returns: what need not be kept.
  mutating func forgetWhatIsOver(now: Timestamp) -> [AlertRecord.Key] {
    let over = told.filter { !$0.value.isFiring && isDue($0.value, now) }
    for key in over.keys { told[key] = nil }
    return over.values.map(\.key)
  }

  /// Drops what the configuration is not about any more.
  mutating func forgetApps(except apps: [String]) -> [AlertRecord.Key] {
    let gone = told.filter { key, _ in key.app.map { !apps.contains($0) } ?? false }
    for key in gone.keys { told[key] = nil }
    return gone.values.map(\.key)
  }

  /// A clock that was set back holds nothing back.
  private func isDue(_ record: AlertRecord, _ now: Timestamp) -> Bool {
    let passed = now.milliseconds(since: record.toldAt)
    return passed >= everyMilliseconds || passed < 0
  }

  private func key(of key: Trouble.Key) -> AlertRecord.Key {
    AlertRecord.Key(destination: destination, condition: key.condition.text, app: key.app)
  }

  private static func order(_ left: Trouble.Key, _ right: Trouble.Key) -> Bool {
    (left.condition.text, left.app ?? "") < (right.condition.text, right.app ?? "")
  }
}
