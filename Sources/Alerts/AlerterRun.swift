// The steps of the alerter, and its state. The alerter's thread.

internal import Configuration
internal import Domain
internal import Durations
internal import HTTPClient
internal import Health
internal import JSON
internal import Persistence
internal import Platform
internal import Store
internal import Telemetry

/// One run of the alerter, from start to stop.
struct AlerterRun {
  let alerter: Alerter
  let transport: any HTTPTransport
  private let clock: any Clock
  private let log: Log
  private let host = HostName.current()
  private let startedAt: MonotonicInstant
  private var watch: AlertWatch
  private var plan: AlertPlan
  var couriers: [AlertCourier] = []
  var beat: Heartbeats?
  private var lookAt: MonotonicInstant
  private var healthAt: MonotonicInstant
  private var isReadingFailing = false
  /// Whether a check has succeeded since the plan was last set. Until then nothing is known to be over.
  private var hasChecked = false
  /// What the couriers before the plan's have sent. It may not be on disk yet.
  private var sentBefore: [AlertRecord] = []
  /// Which alerts this instance sends.
  private var duty: AlertDuty
  /// The tag of the first courier's transfers. Transfers of an older plan have smaller tags. The heartbeat
  /// has the tag before it.
  var firstTag: UInt64 = 0

  init(_ alerter: Alerter, reader: StoreReader, plan: AlertPlan) {
    self.alerter = alerter
    transport = alerter.transport
    clock = alerter.dependencies.clock
    log = alerter.dependencies.log
    watch = AlertWatch(reader: reader, sources: alerter.sources)
    self.plan = plan
    duty = alerter.ownership.doesSharedWork ? .all : .none
    startedAt = clock.monotonic
    lookAt = startedAt
    healthAt = startedAt
    use(plan)
  }

  private var now: Timestamp { Timestamp(unixMilliseconds: clock.wallMilliseconds) }
  var monotonic: MonotonicInstant { clock.monotonic }

  /// Runs steps until the stop.
  mutating func loop() {
    while let sleep = step() { handleAnswers(within: sleep) }
    _ = transport.cancelAll()
  }

  /// Does what is due now, without waiting.
  /// - Returns: for how long nothing is due except answers; nil after the stop.
  mutating func step() -> Duration? {
    let news = alerter.worker.read { inbox in
      defer { inbox = Alerter.Inbox(isStopping: inbox.isStopping) }
      return inbox
    }
    if news.isStopping { return nil }
    changeDuty(to: duty(after: duty))
    if let plan = news.plan { use(plan) }
    guard duty == .all else {
      if duty == .database { checkDatabase() }
      return Alerter.dutyPause
    }
    let monotonic = monotonic
    if let isMoving = news.pulse { beat?.pulse(isMoving, monotonic: monotonic) }
    if !couriers.isEmpty, monotonic >= lookAt {
      check()
      lookAt = monotonic.advanced(by: isReadingFailing ? min(Alerter.faultPause, lookInterval) : lookInterval)
    }
    if news.isHealthDue || monotonic >= healthAt { checkHealth(monotonic) }
    for index in couriers.indices { send(index) }
    sendHeartbeat()
    return sleepTime()
  }

  /// Handles the answers of the addresses; waits for them at most `time`.
  mutating func handleAnswers(within time: Duration) {
    for completion in transport.run(timeout: time) { finish(completion) }
  }

  private mutating func changeDuty(to next: AlertDuty) {
    guard next != duty else { return }
    let previous = duty
    duty = next
    cancelNotices()
    guard next == .all else { return }
    // What another instance has sent meanwhile is in the database, and newer than what is known here: except
    // what could not be saved, because the database could not be reached.
    use(plan) { previous == .database && $0.key.condition == AlertCondition.database.text }
  }

  /// Sends what is known about the database without reading it.
  private mutating func checkDatabase() {
    noteDatabaseTrouble()
    for index in couriers.indices { send(index) }
  }

  /// - Parameter isKnown: whether what was sent is still known; the rest is read from the database.
  private mutating func use(_ plan: AlertPlan, keeping isKnown: (AlertRecord) -> Bool = { _ in true }) {
    cancelNotices()
    sentBefore = couriers.flatMap(\.ledger.records).filter(isKnown)
    firstTag += UInt64(Alerter.transfersMax) + 1
    self.plan = plan
    beat = plan.heartbeat.map { Heartbeats($0.address, every: $0.every, monotonic) }
    lookAt = monotonic
    hasChecked = false
    couriers = plan.alerts.map { AlertCourier($0.alert, $0.address, records: sentBefore) }
    if couriers.isEmpty, let stored = try? watch.reader.alerts() { restore(stored) }
  }

  private mutating func cancelNotices() {
    keep(SaveAlerts(sent: couriers.indices.compactMap { couriers[$0].abandon(now: now) }))
    _ = transport.cancelAll()
  }

  /// Adds what was sent before the start, or by another instance.
  private mutating func restore(_ stored: [AlertRecord]) {
    var records = couriers.flatMap(\.ledger.records)
    for older in [sentBefore, stored] {
      records += older.filter { record in !records.contains { $0.key == record.key } }
    }
    for index in couriers.indices {
      couriers[index].restore(records)
      _ = couriers[index].ledger.forgetApps(except: plan.apps.map(\.slug))
    }
    // Drops saved alerts that no rule claims.
    let kept = couriers.reduce(into: Set()) { $0.formUnion($1.ledger.records.map(\.key)) }
    keep(SaveAlerts(forgotten: records.map(\.key).filter { !kept.contains($0) }))
  }

  /// The time between two checks: a quarter of the shortest `every`, within the limits.
  private var lookInterval: Duration {
    let shortest = plan.alerts.map(\.alert.every).min() ?? .longest
    let longest = alerter.dependencies.lookInterval
    return max(Alerter.lookIntervalMin, min(longest, shortest / 4))
  }

  private mutating func check() {
    do throws(StoreFault) {
      let stored = hasChecked ? nil : try watch.reader.alerts()
      let findings = try watch.check(
        for: couriers.map(\.alert), apps: plan.apps, now: now, monotonic: monotonic)
      if let stored { restore(stored) }
      hasChecked = true
      for index in couriers.indices {
        couriers[index].troubles = findings.troubles(for: couriers[index].alert, apps: plan.apps)
        let over = couriers[index].ledger.forgetWhatIsOver(now: now)
        keep(SaveAlerts(forgotten: over))
      }
      isReadingFailing = false
    } catch {
      // The last results stay valid until the store can be read again.
      noteDatabaseTrouble()
      if !isReadingFailing {
        log.error("could not check the alert conditions; trying again", ["error": error.description])
      }
      isReadingFailing = true
    }
  }

  /// The database's own trouble is known without reading it.
  private mutating func noteDatabaseTrouble() {
    let trouble = watch.databaseTrouble(now: now)
    for index in couriers.indices where couriers[index].alert.on.contains(.database) {
      couriers[index].troubles[.database] = trouble
    }
  }

  private mutating func checkHealth(_ monotonic: MonotonicInstant) {
    guard let health = alerter.sources.health else { return }
    healthAt = monotonic.advanced(by: HealthMonitor.lookInterval)
    guard let report = health.check(now: now, monotonic: monotonic) else { return }
    let stored = ServiceReport(name: .health, at: report.at, content: report.stored.text)
    let isQueued = alerter.sources.committer.submit(SaveServiceReport(stored), from: .internal) { result in
      if case .failure = result { health.couldNotStore() }
    }
    if !isQueued { health.couldNotStore() }
  }

  private mutating func send(_ index: Int) {
    let age = monotonic.duration(since: startedAt)
    let window = AlertWatch.window(of: couriers[index].alert)
    let notice = couriers[index].next(duty, now: now, monotonic: monotonic) { key in
      (hasChecked || key == .database) && (!key.condition.isForgottenAtStop || age >= window)
    }
    guard let notice else { return }
    let body = message(notice).body(host: host)
    let request = Self.request(.post, couriers[index].address, body: body)
    start(request, tag: firstTag + UInt64(index))
  }

  private func message(_ notice: AlertLedger.Notice) -> AlertNotice {
    switch notice {
    case .resolved(let key, let since):
      return AlertNotice(endOf: key.condition, app: key.app, since: since, now: now)
    case .firing(var trouble, let since):
      // For a trouble that lasts, report the total since it began.
      if case .receiptFailed = trouble.key.condition, let app = trouble.key.app,
        let whole = try? watch.failures(of: app, since: since, now: now), whole.value > trouble.value
      {
        trouble = whole
      }
      return AlertNotice(trouble, since: since, now: now)
    }
  }

  private mutating func start(_ request: TransferRequest, tag: UInt64) {
    do throws(TransferFailure) {
      try transport.start(request, tag: tag)
    } catch {
      let result = TransferResult(
        status: nil, failure: error, requestWasSent: false, duration: .zero)
      finish(TransferCompletion(tag: tag, result: result))
    }
  }

  private mutating func finish(_ completion: TransferCompletion) {
    let result = completion.result
    let status = result.status.map { String($0) } ?? result.failureText ?? "none"
    if completion.tag == firstTag - 1 {
      let monotonic = monotonic
      guard let isNews = beat?.finish(result, monotonic: monotonic) else { return }
      report(beat?.isFailing == true, isNews, "heartbeat", status, plan.heartbeat?.address.label)
      return
    }
    guard completion.tag >= firstTag, couriers.indices.contains(Int(completion.tag - firstTag)) else {
      return
    }
    let index = Int(completion.tag - firstTag)
    guard let notice = couriers[index].sending else { return }
    let outcome = couriers[index].finish(result, now: now, monotonic: monotonic)
    let name = notice.key.condition.name
    alerter.sources.metrics.alerts.increment(name, outcome.hasArrived ? "told" : "failed")
    report(!outcome.hasArrived, outcome.isNews, name, status, couriers[index].address.label)
    if let record = outcome.record { keep(SaveAlerts(sent: [record])) }
    guard outcome.hasArrived, let record = outcome.record else { return }
    log.info(
      "sent an alert",
      [
        "alert": record.key.condition, "app": record.key.app?.text,
        "state": record.isFiring ? "firing" : "resolved",
        "to": couriers[index].address.label,
      ])
  }

  /// Logs the first failure, and the first success after it.
  func report(_ isFailing: Bool, _ isNews: Bool, _ name: String, _ status: String, _ label: String?) {
    guard isNews else { return }
    if isFailing {
      log.warning(
        "could not send an alert; trying again. Test it with: receiptctl alerts test",
        ["alert": name, "to": label, "status": status])
    } else {
      log.info("alerts can be sent again", ["alert": name, "to": label])
    }
  }

  /// Saves alerts. An alert that cannot be saved is sent again after a restart.
  private func keep(_ command: SaveAlerts) {
    guard !command.sent.isEmpty || !command.forgotten.isEmpty else { return }
    _ = alerter.sources.committer.submit(command, from: .internal) { _ in }
  }

  private func sleepTime() -> Duration {
    let monotonic = monotonic
    var until = monotonic.advanced(by: .hours(1))
    if !couriers.isEmpty { until = min(until, lookAt) }
    if alerter.sources.health != nil { until = min(until, healthAt) }
    for rest in couriers.compactMap(\.restUntil) where rest > monotonic { until = min(until, rest) }
    if let beat = beat?.nextAt { until = min(until, beat) }
    return max(.zero, until.duration(since: monotonic))
  }
}
