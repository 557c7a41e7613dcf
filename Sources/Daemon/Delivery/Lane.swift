// One app's deliveries to one destination: what is under way, what may start now, and when to check again.
// Each app has its own lanes, so that a failing app never delays another (R11), and each of its destinations
// has its own, so that a destination that is down stops only its own receipts. New receipts go before
// replays, so that a large replay does not delay a purchase. The dispatcher's thread; no I/O, and callers
// pass the time.

internal import Domain
internal import HTTPClient
internal import Partners
internal import Platform
internal import Service
internal import Store

/// The state of one app's deliveries to one destination.
struct Lane {
  /// When a receipt is due, and in which queue.
  struct Due: Equatable {
    var at: Timestamp
    var isReplay: Bool
  }

  /// New receipts sent before each replay while both are due.
  static let newPerReplay = 9

  private(set) var app: App
  private(set) var route: DeliveryRoute
  /// Counts the lane's configurations, and the requests of operators to try again.
  private(set) var generation = 0
  private(set) var breaker: Breaker
  /// An operator's pause of the app. Nil until it is read: an app that is paused must stay so, so nothing
  /// starts before.
  private(set) var pause: AppPause?
  /// The same as it was read: a step of the clock moves `pause` before what is stored.
  private(set) var storedPause: AppPause?
  /// Whether the log's last entry about the pause says that deliveries are held.
  var isLoggedAsHeld = false
  private var bucket: TokenBucket
  /// Receipts being sent, and receipts whose outcome is not on disk yet; they must not be sent again (R3).
  private(set) var underWay: Set<PurchaseRowID> = []
  /// Those of `underWay` that the destination has not answered yet.
  private var sending: Set<PurchaseRowID> = []
  /// Those of `underWay` that are replays.
  private var replays: Set<PurchaseRowID> = []
  /// How many new receipts have started since the last replay, counted while replays were due.
  private var newSinceReplay = 0
  /// The row of the probe that is under way.
  private var probe: PurchaseRowID?
  /// Separates failures of the destination from failures of single receipts.
  private(set) var failures = DeliveryFailures()
  /// When the next new receipt is due, as far as known; nil if there is none.
  private var dueAt: Timestamp?
  /// The same for replays.
  private var replaysDueAt: Timestamp?
  /// When to read the due receipts again after a failed read.
  var readsAgainAt: MonotonicInstant?
  private(set) var isRetired = false
  /// Whether the app is configured without the destination: then its breaker stops nothing, and stays closed.
  private var isUnused = false
  /// The parts of the request that all deliveries of the lane share.
  private var request: TransferRequest

  init(_ app: App, _ route: DeliveryRoute, breaker: Breaker, now: Timestamp, monotonic: MonotonicInstant) {
    self.app = app
    self.route = route
    self.breaker = breaker
    self.breaker.adopt(policy: app.delivery.breaker, now: now)
    bucket = Self.bucket(app, monotonic)
    request = Self.request(app, route)
    note(anythingDueAt: now)
  }

  /// The app's name and the destination's.
  var place: AppDestination { AppDestination(app.slug, route.name) }

  private static func request(_ app: App, _ route: DeliveryRoute) -> TransferRequest {
    TransferRequest(
      method: .post, url: route.destination.url, timeout: app.delivery.timeout,
      connectTimeout: app.delivery.connectTimeout
    ).with(route.destination.certificates)
  }

  /// The request that delivers a receipt.
  /// - Parameter isProbe: a probe does not trust a kept connection, or the address that it was made to.
  func request(for receipt: StoreReader.DueReceipt, isProbe: Bool, now: Timestamp) -> TransferRequest {
    var request = request
    request.wantsFreshConnection = isProbe
    request.body = receipt.body
    request.headers = route.destination.headers(for: receipt.outgoing(at: now))
      .map { TransferHeader($0.name, $0.value) }
    return request
  }

  /// The meaning of an answer, with the id under which the destination knows the receipt.
  func verdict(
    on answer: DeliveryAnswer, for receipt: StoreReader.DueReceipt, now: Timestamp
  ) -> Verdict {
    let verdict = route.destination.verdict(on: answer, now: now)
    guard verdict.lacksImportID else { return verdict }
    return .delivered(importID: route.destination.importID(of: receipt.outgoing(at: now)))
  }

  private static func bucket(_ app: App, _ now: MonotonicInstant) -> TokenBucket {
    TokenBucket(ratePerSecond: app.delivery.ratePerSecond, nowMilliseconds: now.nanoseconds / 1_000_000)
  }

  /// Installs a new configuration. It may have fixed the cause of an open breaker, so a probe is due at once.
  mutating func use(_ app: App, _ route: DeliveryRoute, now: Timestamp, monotonic: MonotonicInstant) {
    if app.delivery != self.app.delivery { bucket = Self.bucket(app, monotonic) }
    if route.differs(from: self.route) { breaker.endRest() }
    self.app = app
    self.route = route
    request = Self.request(app, route)
    generation += 1
    failures.forgetRecent()
    (isRetired, isUnused) = (false, false)
    breaker.probeNow(now: now)
    note(anythingDueAt: now)
  }

  /// Starts nothing more, because the app is no longer configured.
  mutating func retire() { isRetired = true }

  /// Starts nothing more, because the app sends nothing to the destination any more. The breaker is closed,
  /// because no probe would close it.
  mutating func retireUnused(now: Timestamp) {
    (isRetired, isUnused) = (true, true)
    breaker = Breaker(pausedTime: breaker.pausedTime(now: now))
  }

  /// Notes that a new receipt is due at that time.
  mutating func note(dueAt moment: Timestamp) { dueAt = min(dueAt ?? moment, moment) }

  /// Notes that a replay is due at that time.
  mutating func note(replaysDueAt moment: Timestamp) {
    replaysDueAt = min(replaysDueAt ?? moment, moment)
  }

  /// Notes that a new receipt or a replay may be due at that time.
  mutating func note(anythingDueAt moment: Timestamp) {
    note(dueAt: moment)
    note(replaysDueAt: moment)
  }

  /// Total time that this lane was paused; does not count toward a receipt's retry limit.
  func pausedTime(now: Timestamp) -> Duration {
    breaker.pausedTime(now: now) + (pause?.pausedTime(now: now) ?? .zero)
  }

  /// Adopts what is stored about the app's pause.
  /// - Returns: whether an operator asked to try again at once.
  @discardableResult mutating func use(_ pause: AppPause, now: Timestamp) -> Bool {
    storedPause = pause
    guard self.pause != pause else { return false }
    defer { self.pause = pause }
    guard let known = self.pause else { return false }
    let wantsRetry = pause.retryAt != nil && pause.retryAt != known.retryAt
    if wantsRetry {
      breaker.retryNow(now: now)
      generation += 1
    }
    if wantsRetry || known.isActive(now: now) && !pause.isActive(now: now) { note(anythingDueAt: now) }
    return wantsRetry
  }

  /// Adjusts the breaker and the pause to a step of the wall clock. Due times must be read from the database
  /// again.
  mutating func clockStepped(by step: Duration, now: Timestamp) {
    breaker.clockStepped(by: step)
    pause?.clockStepped(by: step)
    breaker.adopt(policy: app.delivery.breaker, now: now)
    note(anythingDueAt: now)
  }

  /// Whether the database may have a new receipt, or a replay, that may start now.
  func mayHave(replay: Bool, now: Timestamp) -> Bool {
    guard let moment = replay ? replaysDueAt : dueAt else { return false }
    return moment <= now && (!replay || replayPlaces > 0)
  }

  /// How many receipts may start now.
  mutating func room(now: Timestamp, monotonic: MonotonicInstant) -> Int {
    guard !isRetired, mayHave(replay: false, now: now) || mayHave(replay: true, now: now) else { return 0 }
    if let readsAgainAt, monotonic < readsAgainAt { return 0 }
    return places(now: now, monotonic: monotonic)
  }

  private mutating func places(now: Timestamp, monotonic: MonotonicInstant) -> Int {
    guard freePlaces > 0, let pause, !pause.isActive(now: now) else { return 0 }
    guard bucket.waitTime(nowMilliseconds: monotonic.nanoseconds / 1_000_000) == .zero else { return 0 }
    switch breaker.admission(now: now, probing: probe != nil) {
    case .none: return probesAnother(now: now) ? 1 : 0
    case .probe: return 1
    case .free: return freePlaces
    }
  }

  /// Whether another receipt is tried before the next regular probe, because the destination answered the
  /// last one.
  func probesAnother(now: Timestamp) -> Bool {
    guard breaker.state != .closed, probe == nil, failures.othersLeft > 0 else { return false }
    if let rest = breaker.restUntil, now < rest { return false }
    return breaker.probeAt.map { now < $0 } ?? false
  }

  /// How many of the due receipts at the head of the queue may be unable to start.
  var unstartableMax: Int { underWay.count + failures.alone.count + failures.tried.count }

  /// The due receipts that may start, in sending order: while deliveries are stopped, those that have failed
  /// before go last, and those that fail alone never take all places.
  func startable(_ rows: [PurchaseRowID]) -> [PurchaseRowID] {
    var room = max(1, app.delivery.concurrency / 4) - sending.count(where: failures.alone.contains)
    let open = rows.filter { row in
      guard !underWay.contains(row) else { return false }
      guard failures.alone.contains(row) else { return true }
      room -= 1
      return room >= 0
    }
    guard breaker.state != .closed else { return open }
    return open.filter { !failures.hasFailed($0) } + open.filter(failures.hasFailed)
  }

  /// While outcomes are being stored, the next receipts are already sent: at most `concurrency` at the
  /// destination, and at most twice as many under way, because those may be sent again after a crash.
  private var freePlaces: Int {
    min(app.delivery.concurrency - sending.count, 2 * app.delivery.concurrency - underWay.count)
  }

  /// How many more replays may be sent at once.
  private var replayPlaces: Int {
    app.delivery.replayConcurrency - replays.reduce(0) { $0 + (sending.contains($1) ? 1 : 0) }
  }

  /// Selects the due receipts that start now, without those under way (R3). New ones go first; after
  /// `newPerReplay` of them one replay follows, so that replays make progress under any load.
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
        bucket.acquire(nowMilliseconds: monotonic.nanoseconds / 1_000_000)
      else { return admitted }
      if isReplay {
        self.replays.insert(receipt.row)
        newSinceReplay = 0
      } else if !waiting.isEmpty {
        newSinceReplay += 1
      }
      let isProbe = breaker.state != .closed
      if isProbe {
        if !probesAnother(now: now) { failures.beginRound() }
        probe = receipt.row
      }
      underWay.insert(receipt.row)
      sending.insert(receipt.row)
      admitted.append((receipt, isProbe))
    }
  }

  /// Notes that no further new receipt, or replay, is due before that time; nil until another notification.
  mutating func rest(until moment: Timestamp?, replays: Bool = false) {
    if replays { replaysDueAt = moment } else { dueAt = moment }
  }

  /// Notes that receipts which were held back in a round of probes are due again with the next one.
  mutating func noteHeldBack() {
    if !failures.tried.isEmpty, let probeAt = breaker.probeAt { note(anythingDueAt: probeAt) }
  }

  /// Records the verdict of an attempt; its outcome is not on disk yet.
  /// - Parameter wasAnswered: whether the destination got the request.
  mutating func judge(
    _ verdict: Verdict, detail: String? = nil, row: PurchaseRowID, price: PriceID? = nil,
    wasAnswered: Bool = false, now: Timestamp
  ) {
    let (before, wasProbe) = (breaker.state, probe == row)
    let isAlone = failures.alone.contains(row)
    end(row: row)
    guard !isUnused else { return }
    if failures.concernsDestination(verdict, of: row, state: before) {
      breaker.record(verdict, detail: detail, policy: app.delivery.breaker, now: now)
    }
    failures.record(
      verdict, of: row, price: price, wasProbe: wasProbe, wasAnswered: wasAnswered, before: before,
      after: breaker.state)
    // Others may have waited for the round, or for the place of one that fails alone.
    if isAlone || before != breaker.state || failures.othersLeft > 0 { note(anythingDueAt: now) }
  }

  /// Marks a receipt in flight without sending it, until `finish`.
  mutating func hold(row: PurchaseRowID) { underWay.insert(row) }

  /// Puts back an attempt that could not be started; it is due again at that time.
  mutating func putBack(row: PurchaseRowID, until moment: Timestamp) {
    abandon(row: row)
    underWay.remove(row)
    rest(until: moment, replays: replays.remove(row) != nil)
  }

  /// Ends an attempt without a verdict.
  mutating func abandon(row: PurchaseRowID) { end(row: row) }

  /// The destination does not hold the receipt any more.
  private mutating func end(row: PurchaseRowID) {
    sending.remove(row)
    if probe == row { probe = nil }
  }

  /// Forgets receipts that failed alone, and that an operator or an erasure has ended since.
  mutating func keepAlone(_ pending: [PurchaseRowID]) { failures.keepAlone(Set(pending)) }

  /// Records that the outcome of an attempt is on disk.
  /// - Parameter next: when the receipt is due again. Its queue may differ from the one it came from, because
  ///   an operator may have replayed it meanwhile.
  mutating func finish(row: PurchaseRowID, next: Due?) {
    underWay.remove(row)
    replays.remove(row)
    guard let next else { return failures.forget(row) }
    if next.isReplay { note(replaysDueAt: next.at) } else { note(dueAt: next.at) }
  }

  /// How long until the next check; nil to wait for a notification.
  mutating func waitTime(now: Timestamp, monotonic: MonotonicInstant) -> Duration? {
    let replaysDueAt = replayPlaces > 0 ? replaysDueAt : nil
    guard !isRetired, freePlaces > 0, let pause, var moment = dueAt ?? replaysDueAt else { return nil }
    if let replaysDueAt { moment = min(moment, replaysDueAt) }
    if case .none(let until) = breaker.admission(now: now, probing: probe != nil), !probesAnother(now: now) {
      moment = max(moment, until)
    }
    if pause.isActive(now: now) {
      guard let until = pause.until else { return nil }
      moment = max(moment, until)
    }
    let tokens = bucket.waitTime(nowMilliseconds: monotonic.nanoseconds / 1_000_000)
    let read = readsAgainAt?.duration(since: monotonic) ?? .zero
    return max(moment.duration(since: now), tokens, read, .zero)
  }
}

extension StoreReader.DueReceipt {
  fileprivate func outgoing(at now: Timestamp) -> OutgoingReceipt {
    OutgoingReceipt(id: id, processor: processor, isReversal: isReversal, body: body, sentAt: now)
  }
}

extension Lane.Due {
  /// - Returns: nil if the receipt is not to be sent.
  init?(_ receipt: Receipt?) {
    guard let receipt, receipt.state == .pending, let at = receipt.nextAttemptAt else { return nil }
    self.init(at: at, isReplay: receipt.isReplay)
  }
}
