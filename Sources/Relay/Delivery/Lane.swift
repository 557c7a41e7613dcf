// One app's deliveries: what is under way, what may start now, and when to look again. Each app has a lane of
// its own, so that one app's trouble delays no other (R11). The dispatcher's thread; does no I/O and asks
// nobody for the time.

internal import Destinations
internal import Domain
internal import HTTPClient
internal import Platform
internal import Store

/// The state of one app's deliveries.
struct Lane {
  private(set) var app: App
  /// Counts the configurations that the lane has had.
  private(set) var edition = 0
  private(set) var breaker: Breaker
  private var bucket: TokenBucket
  /// Receipts that are being sent, or whose outcome is not on disk yet; none of them may be sent again (R3).
  private(set) var underWay: Set<Int64> = []
  /// Those of them that are with the destination.
  private var sending: Set<Int64> = []
  /// The row of the probe that is under way.
  private var probe: Int64?
  /// When the database has something for this lane, as far as is known; nil when it has nothing.
  private var dueAt: Timestamp?
  private var isRetired = false
  /// What every delivery of the lane has in common.
  private(set) var request: TransferRequest

  init(_ app: App, breaker: Breaker, now: Timestamp, monotonic: MonotonicInstant) {
    self.app = app
    self.breaker = breaker
    self.breaker.adopt(policy: app.delivery.breaker, now: now)
    bucket = Self.bucket(app, monotonic)
    request = Self.request(app)
    dueAt = now
  }

  private static func request(_ app: App) -> TransferRequest {
    TransferRequest(
      method: .post, url: app.destination.url,
      headers: app.destination.headers.map { TransferHeader($0.name, $0.value) },
      timeoutMilliseconds: Int(clamping: app.delivery.timeoutMilliseconds),
      connectTimeoutMilliseconds: Int(clamping: app.delivery.connectTimeoutMilliseconds))
  }

  private static func bucket(_ app: App, _ now: MonotonicInstant) -> TokenBucket {
    TokenBucket(ratePerSecond: app.delivery.ratePerSecond, nowMilliseconds: now.nanoseconds / 1_000_000)
  }

  /// The configuration was read again. What stopped the deliveries may be mended: a probe tells.
  mutating func use(_ app: App, now: Timestamp, monotonic: MonotonicInstant) {
    if app.delivery != self.app.delivery { bucket = Self.bucket(app, monotonic) }
    if app.speaksDifferently(from: self.app) { breaker.endRest() }
    self.app = app
    request = Self.request(app)
    edition += 1
    isRetired = false
    breaker.probeNow(now: now)
    dueAt = now
  }

  /// The app is no longer configured: nothing more starts.
  mutating func retire() { isRetired = true }

  /// The database has something at that moment.
  mutating func note(dueAt moment: Timestamp) { dueAt = min(dueAt ?? moment, moment) }

  /// The wall clock jumped. What is due by it now, the database knows.
  mutating func clockJumped(byMilliseconds jump: Int64, now: Timestamp) {
    breaker.clockJumped(byMilliseconds: jump)
    breaker.adopt(policy: app.delivery.breaker, now: now)
    dueAt = now
  }

  /// How many receipts may start now.
  mutating func room(now: Timestamp, monotonic: MonotonicInstant) -> Int {
    guard !isRetired, let dueAt, dueAt <= now, freePlaces > 0 else { return 0 }
    guard bucket.waitMilliseconds(nowMilliseconds: monotonic.nanoseconds / 1_000_000) == 0 else { return 0 }
    switch breaker.admission(now: now, probing: probe != nil) {
    case .none: return 0
    case .probe: return 1
    case .free: return freePlaces
    }
  }

  /// The destination has its next receipts while the outcomes of the last ones are being written. As many may
  /// wait for that as may be sent at once, for those are sent again after a crash.
  private var freePlaces: Int {
    min(app.delivery.concurrency - sending.count, 2 * app.delivery.concurrency - underWay.count)
  }

  /// Of receipts that are due, those that start now: none that is under way (R3).
  mutating func admit(
    _ due: [StoreReader.DueReceipt], now: Timestamp, monotonic: MonotonicInstant
  ) -> [(receipt: StoreReader.DueReceipt, isProbe: Bool)] {
    var admitted: [(StoreReader.DueReceipt, Bool)] = []
    for receipt in due where !underWay.contains(receipt.row) {
      guard room(now: now, monotonic: monotonic) > 0,
        bucket.take(nowMilliseconds: monotonic.nanoseconds / 1_000_000)
      else { break }
      let isProbe = breaker.state != .closed
      if isProbe { probe = receipt.row }
      underWay.insert(receipt.row)
      sending.insert(receipt.row)
      admitted.append((receipt, isProbe))
    }
    return admitted
  }

  /// Nothing more is due before that moment; nil for "until told otherwise".
  mutating func rest(until moment: Timestamp?) { dueAt = moment }

  /// A try ended with this verdict; its outcome is not on disk yet.
  mutating func judge(_ verdict: Verdict, row: Int64, now: Timestamp) {
    end(row: row)
    breaker.record(verdict, policy: app.delivery.breaker, now: now)
  }

  /// A try could not be started; it comes again then.
  mutating func putBack(row: Int64, until moment: Timestamp) {
    abandon(row: row)
    underWay.remove(row)
    dueAt = moment
  }

  /// A try was given up before it could be judged.
  mutating func abandon(row: Int64) { end(row: row) }

  /// The destination no longer has it.
  private mutating func end(row: Int64) {
    sending.remove(row)
    if probe == row { probe = nil }
  }

  /// The outcome of a try is on disk.
  mutating func settle(row: Int64, now: Timestamp) {
    underWay.remove(row)
    // There is room again; whether there is something for it, the database knows.
    note(dueAt: now)
  }

  /// In how many milliseconds to look again; nil when only news can change anything.
  mutating func waitMilliseconds(now: Timestamp, monotonic: MonotonicInstant) -> Int64? {
    guard !isRetired, let dueAt, freePlaces > 0 else { return nil }
    var moment = dueAt
    if case .none(let until) = breaker.admission(now: now, probing: probe != nil) {
      moment = max(moment, until)
    }
    let tokens = bucket.waitMilliseconds(nowMilliseconds: monotonic.nanoseconds / 1_000_000)
    return max(moment.milliseconds(since: now), tokens, 0)
  }
}
