// The steps of the dispatcher, and its state. The dispatcher's thread.

internal import Domain
internal import Formats
internal import HTTPClient
internal import Platform
internal import Reports
internal import Service
internal import Store

/// One run of the dispatcher, from start to stop.
struct DispatcherRun: NetworkRun {
  /// An attempt under way.
  struct Attempt {
    var place: AppDestination
    var lease: Lease
    var receipt: StoreReader.DueReceipt
    var isProbe: Bool
    var startedAt: Timestamp
    /// The generation of the lane's configuration that it was sent with.
    var generation: Int
    /// Where it was sent.
    var route: DeliveryRoute
  }

  /// A due receipt that cannot be read, and why.
  struct Unreadable {
    var row: PurchaseRowID
    /// Nil if that cannot be read, either.
    var id: ReceiptID?
    var isReplay: Bool
    var fault: StoreFault
  }

  /// The due receipts of a lane, as read from the database.
  private struct DueReceipts {
    var receipts: [StoreReader.DueReceipt] = []
    var unreadable: [Unreadable] = []
    /// Whether the database has no more; false if it was not read.
    var isAll = false
  }

  let dispatcher: Dispatcher
  let parts: WorkerParts
  let reader: StoreReader
  let clock: any Clock
  let log: Log
  private var random: any RandomNumberGenerator & Sendable
  var lanes: [AppDestination: Lane] = [:]
  /// The lanes of each configured app.
  var places: [AppSlug: [AppDestination]] = [:]
  /// The lease under which each app delivers. The lanes of an app without one start nothing.
  var leases: [AppSlug: Lease] = [:]
  /// Those of `leases` that are being given up: what is under way is completed, and nothing new begins.
  var ending: Set<AppSlug> = []
  var transfers: Transfers<Attempt>
  var unstored: [(attempt: Fenced<RecordAttempt>, at: MonotonicInstant)] = []
  private var watch: ClockWatch
  /// When to check all lanes for receipts without a notification.
  private var lookAt: MonotonicInstant
  /// When to read the pauses of apps again.
  var pausesReadAt: MonotonicInstant
  /// When deliveries under way are cancelled; nil until a stop is requested.
  private var stopAt: MonotonicInstant?

  init(_ dispatcher: Dispatcher, reader: StoreReader) {
    self.dispatcher = dispatcher
    self.reader = reader
    parts = dispatcher.parts
    clock = parts.dependencies.clock
    log = parts.dependencies.log
    random = parts.dependencies.random
    transfers = Transfers(parts.transport)
    lookAt = clock.monotonic
    pausesReadAt = clock.monotonic
    watch = ClockWatch(clock)
    use(parts.directory)
  }

  var now: Timestamp { Timestamp(unixMilliseconds: clock.wallMilliseconds) }
  var monotonic: MonotonicInstant { clock.monotonic }

  mutating func step() -> Duration? {
    if let clockStep = watch.clockStep(clock) { followClock(by: clockStep) }
    let isStopping = readInbox()
    followOwnership()
    if isStopping, stopAt == nil { stopAt = parts.stopDeadline() }
    if let stopAt {
      if isAllStored || monotonic >= stopAt { return nil }
    } else {
      followPauses()
      startDueReceipts()
    }
    storeAgain()
    noteUnderWay()
    guard let stopAt else { return sleepTime() }
    return storingWait(atMost: stopAt.duration(since: monotonic))
  }

  mutating func handleAnswers(within time: Duration) {
    // A lease may have ended while the due receipts were read.
    followOwnership()
    let completions = transfers.run(timeout: time)
    // Decisions about these answers must use the corrected clock.
    if let clockStep = watch.clockStep(clock) { followClock(by: clockStep) }
    for completion in completions { finish(completion) }
  }

  mutating func cancelCalls() {
    for completion in transfers.cancelAll() { finish(completion) }
  }

  /// Whether no attempt is under way and every outcome is on disk. An outcome that is not stored would be
  /// sent again after the next start.
  private var isAllStored: Bool { transfers.calls.isEmpty && lanes.values.allSatisfy(\.underWay.isEmpty) }

  /// - Returns: whether to stop.
  private mutating func readInbox() -> Bool {
    let news = dispatcher.worker.dequeueAll(leaving: Dispatcher.Inbox())
    let now = now
    if let directory = news.directory { use(directory) }
    for (app, moment) in news.dueAt {
      for place in places[app] ?? [] { lanes[place]?.note(dueAt: moment) }
    }
    for (app, moment) in news.replaysDueAt {
      for place in places[app] ?? [] { lanes[place]?.note(replaysDueAt: moment) }
    }
    // Another run of the app's lanes has another set of receipts under way.
    for item in news.stored where leases[item.place.app] == item.lease {
      let wasAlone = lanes[item.place]?.failures.alone.contains(item.row) == true
      lanes[item.place]?.finish(row: item.row, next: item.next)
      if wasAlone, let lane = lanes[item.place] { noteAlone(lane) }
    }
    unstored += news.unstored
    let looksAgain = monotonic >= lookAt
    if looksAgain {
      lookAt = monotonic.advanced(by: lookInterval)
      forgetEnded()
    }
    if news.checksPauses || news.checksAll { pausesReadAt = monotonic }
    if news.checksAll || looksAgain {
      for place in lanes.keys { lanes[place]?.note(anythingDueAt: now) }
    }
    return news.isStopping
  }

  private mutating func startDueReceipts() {
    for place in lanes.keys {
      do throws(StoreFault) {
        try startDueReceipts(of: place)
      } catch {
        // The other apps go on, because one row of this app may be unreadable (R11).
        let monotonic = monotonic
        parts.logFault(
          "could not read the due receipts; trying again", error, app: place.app,
          ["destination": place.destination.text])
        lanes[place]?.readsAgainAt = monotonic.advanced(by: Dispatcher.faultPause)
      }
    }
  }

  private mutating func startDueReceipts(of place: AppDestination) throws(StoreFault) {
    guard var known = lanes[place], mayStart(place.app) else { return }
    // One timestamp for both queries: a receipt that becomes due between them would be in neither result.
    let now = now
    let room = known.room(now: now, monotonic: monotonic)
    guard room > 0 else { return }
    let new = try due(known, isReplay: false, now: now, room: room)
    // If new receipts fill the room, one replay may still be next.
    let replays = try due(known, isReplay: true, now: now, room: max(1, room - new.receipts.count))
    if !new.receipts.isEmpty || !replays.receipts.isEmpty { try followPause(of: place) }
    guard var lane = lanes[place] else { return }
    reschedule(new.unreadable + replays.unreadable, lane: &lane)
    let admitted = lane.admit(new.receipts, replays: replays.receipts, now: now, monotonic: monotonic)
    for (found, isReplay) in [(new, false), (replays, true)] where found.isAll {
      guard found.receipts.allSatisfy({ lane.underWay.contains($0.row) }) else { continue }
      let next = try reader.nextDue(place, isReplay: isReplay, after: now)
      lane.rest(until: next, replays: isReplay)
      lane.noteHeldBack()
    }
    lanes[place] = lane
    for (receipt, isProbe) in admitted { send(receipt, isProbe: isProbe, lane: lane) }
  }

  /// Another probe is chosen from this many of the newest due receipts.
  private static let candidatesMax = 200

  /// New receipts, or replays, that are due and may start, up to `room`.
  private func due(
    _ lane: Lane, isReplay: Bool, now: Timestamp, room: Int
  ) throws(StoreFault) -> DueReceipts {
    var found = DueReceipts()
    guard lane.mayHave(replay: isReplay, now: now) else { return found }
    // Receipts under way are still due in the database, so the limit includes them.
    let limit = room + lane.unstartableMax
    let rows: [PurchaseRowID]
    var rest: ArraySlice<PurchaseRowID>
    if lane.probesAnother(now: now) {
      let newest = try reader.newestDue(
        lane.place, isReplay: isReplay, now: now, limit: limit + Self.candidatesMax)
      rows = newest.map(\.row)
      let open = newest.filter { !lane.underWay.contains($0.row) }
      rest = lane.failures.another(of: open).map { [$0.row] } ?? []
    } else {
      rows = try reader.dueRows(lane.place, isReplay: isReplay, now: now, limit: limit)
      rest = lane.startable(rows)[...]
    }
    while !rest.isEmpty {
      if found.receipts.count == room { return found }
      let next = Array(rest.prefix(room - found.receipts.count))
      rest = rest.dropFirst(next.count)
      for (row, id, result) in try reader.due(rows: next, now: now) {
        switch result {
        case .success(let receipt): found.receipts.append(receipt)
        case .failure(let fault):
          found.unreadable.append(Unreadable(row: row, id: id, isReplay: isReplay, fault: fault))
        }
      }
    }
    found.isAll = rows.count < limit
    return found
  }

  private mutating func send(_ receipt: StoreReader.DueReceipt, isProbe: Bool, lane: Lane) {
    let now = now
    guard let lease = parts.ownership.lease(of: lane.place.app), lease == leases[lane.place.app]
    else {
      lanes[lane.place]?.putBack(row: receipt.row, until: now)
      return
    }
    let attempt = Attempt(
      place: lane.place, lease: lease, receipt: receipt, isProbe: isProbe, startedAt: now,
      generation: lane.generation, route: lane.route)
    let request = lane.request(for: receipt, isProbe: isProbe, now: now)
    do throws(TransferFailure) {
      try transfers.start(request, for: attempt)
    } catch .poolFull {
      let again = now.advanced(by: Dispatcher.faultPause)
      lanes[lane.place]?.putBack(row: receipt.row, until: again)
    } catch {
      // Nothing was sent; the verdict is that of a failed connection.
      finish(
        attempt,
        TransferResult(
          status: nil, headers: [], body: [], failure: error, requestWasSent: false, duration: .zero))
    }
  }

  /// Ends the deliveries of an app under way: another program may begin them now.
  mutating func cancelDeliveries(of app: AppSlug) {
    transfers.cancel { $0.place.app == app }
  }

  mutating func finish(_ attempt: Attempt, _ result: TransferResult) {
    // One moment for the breaker and for the receipt: `Expedite` finds the receipts that wait for the
    // breaker's probe by its time, and would leave out one that is due a millisecond later.
    let now = now
    observe(result, at: attempt.place)
    var report = AttemptReport(
      startedAt: attempt.startedAt, duration: result.duration,
      status: result.status.map(Int64.init),
      // The destination decides whether it has to read the answer.
      error: result.failure == .codedAnswer ? nil : result.failure?.rawValue, detail: result.detail,
      isAmbiguous: result.status == nil && result.requestWasSent, response: result.body)
    guard var lane = lanes[attempt.place] else { return }
    // An attempt that was cancelled here says nothing about the destination.
    let wasCancelled = result.failure == .cancelled && result.status == nil
    let judged = wasCancelled ? nil : judge(result, attempt, at: now, lane: &lane, report: &report)
    if judged == nil { lane.abandon(row: attempt.receipt.row) }
    lanes[attempt.place] = lane
    if result.failure != .cancelled { note(result, at: attempt.place, lane) }
    store(
      Fenced(
        attempt.lease.fence,
        RecordAttempt(
          of: attempt.receipt.id, to: attempt.place, sent: attempt.receipt.body, report: report,
          decision: judged ?? .retry(at: now, spent: false), breaker: lane.breaker, decidedAt: now)))
    if judged != nil, attempt.isProbe, lane.breaker.state == .open { giveUpOverdue(at: attempt.place) }
  }

  /// - Returns: nil if the answer says nothing about the present configuration.
  private mutating func judge(
    _ result: TransferResult, _ attempt: Attempt, at now: Timestamp, lane: inout Lane,
    report: inout AttemptReport
  ) -> Delivery.Decision? {
    let answered = lane.verdict(on: DeliveryAnswer(result), for: attempt.receipt, now: now)
    let verdict = lane.failures.own(answered, of: attempt.receipt.row)
    if case .misconfigured(let reason) = answered, (result.status ?? 0) / 100 == 2 {
      report.error = reason.text
    }
    parts.metrics.attempted(at: attempt.place, verdict: verdict, duration: report.duration)
    if isOfPrevious(verdict, attempt, lane) { return nil }
    let before = lane.breaker
    lane.judge(
      verdict, detail: result.detail, row: attempt.receipt.row, price: attempt.receipt.price,
      wasAnswered: result.status != nil || result.requestWasSent, now: now)
    warnIfAlone(verdict, attempt, lane)
    let paused = lane.pausedTime(now: now) - attempt.receipt.pausedBase
    let decision = Delivery.decide(
      verdict,
      budget: RetryBudget(
        spentAttempts: attempt.receipt.spentAttempts, startedAt: attempt.receipt.retrySince,
        pausedTime: paused),
      probe: attempt.isProbe, policy: lane.app.delivery, now: now, random: &random)
    DeliveryLog(log).write(
      verdict, at: attempt.place, receipt: attempt.receipt.id, report: report, isProbe: attempt.isProbe,
      before: before, after: lane.breaker, advice: lane.route.advice)
    return decision
  }

  /// Whether a verdict concerns a previous configuration and not the current one: a refusal of the earlier
  /// credentials, or any failure at another address. A receipt that was accepted is delivered.
  private func isOfPrevious(_ verdict: Verdict, _ attempt: Attempt, _ lane: Lane) -> Bool {
    switch verdict {
    case .delivered: false
    case .misconfigured: attempt.generation != lane.generation
    case .retry, .coolDown, .refused: lane.route.differs(from: attempt.route)
    }
  }

  /// Logs that a receipt failed while others pass: its failure says nothing about the destination.
  private func warnIfAlone(_ verdict: Verdict, _ attempt: Attempt, _ lane: Lane) {
    guard case .retry(let reason, _) = verdict, lane.breaker.state == .closed,
      lane.failures.alone.contains(attempt.receipt.row),
      let count = parts.faultLines.admit("\(attempt.place) fails alone", now: monotonic)
    else { return }
    let id = attempt.receipt.id.text
    log.warning(
      "a receipt fails while others pass; it is retried separately. See: receiptctl receipts show \(id)",
      [
        "app": attempt.place.app.text, "destination": attempt.place.destination.text, "receipt": id,
        "cause": reason.text, "left_out": count > 0 ? String(count) : nil,
      ])
  }
}

// MARK: - Sleep

// How long the dispatcher may sleep. The dispatcher's thread.

extension DispatcherRun {
  var lookInterval: Duration { parts.dependencies.lookInterval }

  func sleepTime() -> Duration {
    var sleep = min(lookInterval, max(.zero, pausesReadAt.duration(since: monotonic)))
    // Receipts of an app of another instance are not due here.
    for var lane in lanes.values where mayStart(lane.place.app) {
      if let wait = lane.waitTime(now: now, monotonic: monotonic) { sleep = min(sleep, wait) }
    }
    // Deliveries under way end with the lease, also if nobody notices that it has ended.
    if parts.ownership.apps != nil, !transfers.calls.isEmpty { sleep = min(sleep, Self.ownershipPause) }
    return storingWait(atMost: sleep)
  }

  /// How often the leases are checked while deliveries are under way.
  private static let ownershipPause: Duration = .milliseconds(200)

  /// The time until the next retry of storing an outcome.
  func storingWait(atMost sleep: Duration) -> Duration {
    let monotonic = monotonic
    return max(.zero, unstored.reduce(sleep) { min($0, $1.at.duration(since: monotonic)) })
  }
}

// MARK: - Giving up

// Gives up receipts whose destination has been down too long. The dispatcher's thread.

extension DispatcherRun {
  /// Gives up the receipts of a lane whose retry time is used up. While the destination is down they are not
  /// attempted, so this check must find them. Until that is stored they count as under way (R3).
  mutating func giveUpOverdue(at place: AppDestination) {
    guard let lane = lanes[place], let lease = leases[place.app] else { return }
    let policy = lane.app.delivery.retry
    let cutoff = now - policy.giveUpAfter
    let paused = lane.pausedTime(now: now)
    // If the read fails, the next failed probe checks again.
    let overdue = try? reader.overdue(place, now: now, cutoff: cutoff, limit: GiveUp.rowsMax)
    let receipts = (overdue ?? []).filter { item in
      RetryBudget(
        spentAttempts: 0, startedAt: item.budget.since,
        pausedTime: paused - item.budget.pausedBase
      ).isUsedUp(policy: policy, now: now) && !(item.id.purchaseRow.map(lane.underWay.contains) ?? false)
    }.map(\.id)
    guard !receipts.isEmpty else { return }
    let rows = receipts.compactMap(\.purchaseRow)
    let (log, app, worker, again) = (log, place.app, dispatcher.worker, now + Dispatcher.faultPause)
    let command = Fenced(lease.fence, GiveUp(app: app, receipts: receipts, cutoff: cutoff))
    let isQueued = parts.committer.submit(command, from: .internal) { result in
      // Another instance delivers the app now.
      if case .success(nil) = result { return }
      if case .success((let count, let madeSince)??) = result {
        let command = SuggestedReplay.text(app: app, reason: Reason.gaveUp.text, since: madeSince)
        log.warning(
          "gave up receipts; replay them once the destination is back: \(command)",
          ["app": app.text, "count": String(count)])
      }
      worker.post { inbox in
        inbox.stored += rows.map { row in
          Dispatcher.StoredOutcome(place: place, lease: lease, row: row, next: nil)
        }
        // Those that were replayed meanwhile, or that could not be given up, are still to be sent.
        inbox.dueAt.merge([app: again]) { min($0, $1) }
        inbox.replaysDueAt.merge([app: again]) { min($0, $1) }
      }
    }
    if isQueued { for row in rows { lanes[place]?.hold(row: row) } }
  }
}

// MARK: - Unreadable

// Reschedules receipts that cannot be read, so that they do not hold up others. The dispatcher's thread.

extension DispatcherRun {
  /// The pause before an unreadable receipt is read again. It stays pending, and is delivered once the
  /// database is repaired.
  private static var pause: Duration { .hours(1) }

  /// Reschedules due receipts whose content is damaged, or whose dictionary is unknown.
  func reschedule(_ unreadable: [Unreadable], lane: inout Lane) {
    guard let fault = unreadable.last?.fault else { return }
    let (worker, place) = (dispatcher.worker, lane.place)
    parts.logFault(
      "could not read due receipts; they stay pending and are tried again in an hour, others are delivered",
      fault, app: place.app,
      ["destination": place.destination.text, "receipts": String(unreadable.count)])
    for _ in unreadable { parts.metrics.unreadableReceipts.increment(place.app.text) }
    for receipt in unreadable { lane.hold(row: receipt.row) }
    let until = now.advanced(by: Self.pause)
    let again = now.advanced(by: Dispatcher.faultPause)
    guard let lease = leases[place.app] else { return }
    let command = Fenced(lease.fence, Reschedule(unreadable.compactMap(\.id), until: until))
    _ = parts.committer.submit(command, from: .internal) { result in
      let next: Timestamp = if case .success = result { until } else { again }
      worker.post { inbox in
        inbox.stored += unreadable.map { receipt in
          Dispatcher.StoredOutcome(
            place: place, lease: lease, row: receipt.row,
            next: Lane.Due(at: next, isReplay: receipt.isReplay))
        }
      }
    }
  }
}

// MARK: - Pauses

// Follows operators' pauses of apps. The dispatcher's thread.

extension DispatcherRun {
  /// Reads the apps' pauses when that is due, and passes them to the lanes.
  mutating func followPauses() {
    let monotonic = monotonic
    guard monotonic >= pausesReadAt else { return }
    do throws(StoreFault) {
      let pauses = try reader.pauses()
      for place in lanes.keys { use(pauses[place.app] ?? AppPause(), of: place) }
      pausesReadAt = monotonic.advanced(by: lookInterval)
    } catch {
      parts.logFault(
        "could not read which apps are paused; trying again", error)
      pausesReadAt = monotonic.advanced(by: Dispatcher.faultPause)
    }
  }

  /// Reads the pause of a lane's app after its due receipts: a pause that was stored before one of them, or
  /// with it, holds it.
  private mutating func followPause(of place: AppDestination) throws(StoreFault) {
    let pause = try reader.pause(of: place.app)
    // After a step of the clock the lane's is right, and what is stored follows.
    if lanes[place]?.storedPause != pause { use(pause, of: place) }
  }

  /// Sets the pause of a lane. Logs when holding the deliveries begins and ends: the program that changed the
  /// pause cannot know when that is. Only the program that delivers the app logs it.
  private mutating func use(_ pause: AppPause, of place: AppDestination) {
    let now = now
    if lanes[place]?.use(pause, now: now) ?? false, let app = lanes[place]?.app { expedite(app) }
    let isHeld = pause.isActive(now: now)
    guard let lane = lanes[place], lane.isLoggedAsHeld != isHeld, mayStart(place.app) else { return }
    lanes[place]?.isLoggedAsHeld = isHeld
    let fields: LogFields = ["app": place.app.text, "destination": place.destination.text]
    if isHeld {
      log.info("an operator holds the deliveries", fields + ["until": pause.until?.rfc3339])
    } else {
      log.info("the operator's hold on the deliveries has ended", fields)
    }
  }
}
