// One app's deliveries: what is under way, what may start now, and when to look again. Each app has a lane of
// its own, so that one app's trouble delays no other (R11). Within a lane new receipts go before replays, so
// that no replay of thousands delays a purchase of now. The dispatcher's thread; does no I/O and asks
// nobody for the time.

internal import Apps
internal import Destinations
internal import Domain
internal import HTTPClient
internal import Platform
internal import Store

/// The state of one app's deliveries.
struct Lane {
  /// When a receipt is due, and in which queue.
  struct Due: Equatable {
    var at: Timestamp
    var isReplay: Bool
  }

  /// How many new receipts go before a replay, where both are due.
  static let newPerReplay = 9

  private(set) var app: App
  /// Counts the configurations that the lane has had.
  private(set) var edition = 0
  private(set) var breaker: Breaker
  private var bucket: TokenBucket
  /// Receipts that are being sent, or whose outcome is not on disk yet; none of them may be sent again (R3).
  private(set) var underWay: Set<Int64> = []
  /// Those of them that are with the destination.
  private var sending: Set<Int64> = []
  /// Those under way that are replays.
  private var replays: Set<Int64> = []
  /// How many new receipts have started since the last replay while replays were due.
  private var newSinceReplay = 0
  /// The row of the probe that is under way.
  private var probe: Int64?
  /// When the database has a new receipt for this lane, as far as is known; nil when it has none.
  private var dueAt: Timestamp?
  /// The same for replays.
  private var replaysDueAt: Timestamp?
  private var isRetired = false
  /// What every delivery of the lane has in common.
  private(set) var request: TransferRequest

  init(_ app: App, breaker: Breaker, now: Timestamp, monotonic: MonotonicInstant) {
    self.app = app
    self.breaker = breaker
    self.breaker.adopt(policy: app.delivery.breaker, now: now)
    bucket = Self.bucket(app, monotonic)
    request = Self.request(app)
    note(anythingDueAt: now)
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
    note(anythingDueAt: now)
  }

  /// The app is no longer configured: nothing more starts.
  mutating func retire() { isRetired = true }

  /// The database has a new receipt at that moment.
  mutating func note(dueAt moment: Timestamp) { dueAt = min(dueAt ?? moment, moment) }

  /// The database has a replay at that moment.
  mutating func note(replaysDueAt moment: Timestamp) {
    replaysDueAt = min(replaysDueAt ?? moment, moment)
  }

  /// The database may have anything at that moment.
  mutating func note(anythingDueAt moment: Timestamp) {
    note(dueAt: moment)
    note(replaysDueAt: moment)
  }

  /// The wall clock jumped. What is due by it now, the database knows.
  mutating func clockJumped(byMilliseconds jump: Int64, now: Timestamp) {
    breaker.clockJumped(byMilliseconds: jump)
    breaker.adopt(policy: app.delivery.breaker, now: now)
    note(anythingDueAt: now)
  }

  /// Whether the database may have a new receipt, or a replay, that can start now.
  func mayHave(replay: Bool, now: Timestamp) -> Bool {
    guard let moment = replay ? replaysDueAt : dueAt else { return false }
    return moment <= now && (!replay || replayPlaces > 0)
  }

  /// How many receipts may start now.
  mutating func room(now: Timestamp, monotonic: MonotonicInstant) -> Int {
    guard !isRetired, mayHave(replay: false, now: now) || mayHave(replay: true, now: now) else { return 0 }
    return places(now: now, monotonic: monotonic)
  }

  private mutating func places(now: Timestamp, monotonic: MonotonicInstant) -> Int {
    guard freePlaces > 0 else { return 0 }
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

  /// How many more replays may be with the destination.
  private var replayPlaces: Int {
    app.delivery.replayConcurrency - replays.reduce(0) { $0 + (sending.contains($1) ? 1 : 0) }
  }

  /// Of receipts that are due, those that start now: none that is under way (R3). New ones come first; one
  /// replay follows on every `newPerReplay` of them, so that replays go on under any load.
  mutating func admit(
    _ new: [StoreReader.DueReceipt], replays: [StoreReader.DueReceipt] = [], now: Timestamp,
    monotonic: MonotonicInstant
  ) -> [(receipt: StoreReader.DueReceipt, isProbe: Bool)] {
    var admitted: [(StoreReader.DueReceipt, Bool)] = []
    var (new, waiting) = (new[...], replays[...])
    while true {
      new = new.drop { underWay.contains($0.row) }
      waiting = waiting.drop { underWay.contains($0.row) }
      let isReplay =
        !waiting.isEmpty && replayPlaces > 0 && (new.isEmpty || newSinceReplay >= Self.newPerReplay)
      guard let receipt = isReplay ? waiting.first : new.first,
        !isRetired, places(now: now, monotonic: monotonic) > 0,
        bucket.take(nowMilliseconds: monotonic.nanoseconds / 1_000_000)
      else { return admitted }
      if isReplay {
        self.replays.insert(receipt.row)
        newSinceReplay = 0
      } else if !waiting.isEmpty {
        newSinceReplay += 1
      }
      let isProbe = breaker.state != .closed
      if isProbe { probe = receipt.row }
      underWay.insert(receipt.row)
      sending.insert(receipt.row)
      admitted.append((receipt, isProbe))
    }
  }

  /// No further new receipt, or no further replay, is due before that moment; nil for "until told otherwise".
  mutating func rest(until moment: Timestamp?, replays: Bool = false) {
    if replays { replaysDueAt = moment } else { dueAt = moment }
  }

  /// A try ended with this verdict; its outcome is not on disk yet.
  mutating func judge(_ verdict: Verdict, detail: String? = nil, row: Int64, now: Timestamp) {
    end(row: row)
    breaker.record(verdict, detail: detail, policy: app.delivery.breaker, now: now)
  }

  /// A try could not be started; it comes again then.
  mutating func putBack(row: Int64, until moment: Timestamp) {
    abandon(row: row)
    underWay.remove(row)
    rest(until: moment, replays: replays.remove(row) != nil)
  }

  /// A try was given up before it could be judged.
  mutating func abandon(row: Int64) { end(row: row) }

  /// The destination no longer has it.
  private mutating func end(row: Int64) {
    sending.remove(row)
    if probe == row { probe = nil }
  }

  /// The outcome of a try is on disk.
  /// - Parameter next: when the receipt is due again. Its queue may be another one than it was admitted from,
  ///   because an operator may have replayed it meanwhile.
  mutating func settle(row: Int64, next: Due?) {
    underWay.remove(row)
    replays.remove(row)
    guard let next else { return }
    if next.isReplay { note(replaysDueAt: next.at) } else { note(dueAt: next.at) }
  }

  /// In how many milliseconds to look again; nil when only news can change anything.
  mutating func waitMilliseconds(now: Timestamp, monotonic: MonotonicInstant) -> Int64? {
    let replaysDueAt = replayPlaces > 0 ? replaysDueAt : nil
    guard !isRetired, freePlaces > 0, var moment = dueAt ?? replaysDueAt else { return nil }
    if let replaysDueAt { moment = min(moment, replaysDueAt) }
    if case .none(let until) = breaker.admission(now: now, probing: probe != nil) {
      moment = max(moment, until)
    }
    let tokens = bucket.waitMilliseconds(nowMilliseconds: monotonic.nanoseconds / 1_000_000)
    return max(moment.milliseconds(since: now), tokens, 0)
  }
}

extension Lane.Due {
  /// - Returns: nil when the receipt is not to be sent.
  init?(_ receipt: Receipt?) {
    guard let receipt, receipt.state == .pending, let at = receipt.nextAttemptAt else { return nil }
    self.init(at: at, isReplay: receipt.isReplay)
  }
}
