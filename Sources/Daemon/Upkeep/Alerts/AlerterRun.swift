// The steps of the alerter, and its state. The alerter's thread.

internal import Config
internal import Domain
internal import Formats
public import HTTPClient
internal import Platform
internal import Service
internal import Store

/// One run of the alerter, from start to stop.
public struct AlerterRun: NetworkRun {
  /// What a transfer is for.
  public enum Call {
    case heartbeat
    /// An association file.
    case association
    /// The notice of a courier, by its index.
    case notice(Int)
  }

  let alerter: Alerter
  public var transfers: Transfers<Call>
  let clock: any Clock
  let log: Log
  private let host = HostName.current()
  private let startedAt: MonotonicInstant
  private var watch: AlertWatch
  var plan: AlertPlan
  var couriers: [AlertCourier] = []
  var beat: Heartbeats?
  private var associations = AssociationWatch()
  /// The e-mails under way, each with the index of its courier; nil for one of an older plan.
  var mails: [(courier: Int?, program: MailDelivery)] = []
  private var lookAt: MonotonicInstant
  private var healthAt: MonotonicInstant
  private var isReadingFailing = false
  /// Whether a check has succeeded since the plan was last set. Until then nothing is known to be over.
  private var hasChecked = false
  /// Which alerts this instance sends.
  private var duty: AlertDuty

  init(_ alerter: Alerter, reader: StoreReader) {
    self.alerter = alerter
    transfers = Transfers(alerter.transport)
    clock = alerter.dependencies.clock
    log = alerter.dependencies.log
    watch = AlertWatch(reader: reader, sources: alerter.sources)
    plan = alerter.plan
    duty = alerter.ownership.doesSharedWork ? .all : .none
    startedAt = clock.monotonic
    lookAt = startedAt
    healthAt = startedAt
    use(plan)
    restoreHealth()
  }

  /// Adds what an earlier process, or another instance, has reported.
  private mutating func restoreHealth() {
    guard let stored = try? watch.reader.serviceReport(.health),
      let report = HealthReport(stored: stored.content)
    else { return }
    alerter.sources.health?.restore(report)
    associations.use(plan.apps, earlier: report.associations, now: monotonic)
    alerter.sources.health?.found(associations.faults)
  }

  var now: Timestamp { Timestamp(unixMilliseconds: clock.wallMilliseconds) }
  var monotonic: MonotonicInstant { clock.monotonic }

  public mutating func step() -> Duration? {
    let news = alerter.worker.dequeueAll(leaving: Alerter.Inbox())
    if news.isStopping { return nil }
    changeDuty(to: duty(after: duty))
    if let plan = news.plan { use(plan) }
    guard duty == .all else {
      if duty == .database { checkDatabase() }
      return mails.isEmpty ? Alerter.dutyPause : MailDelivery.stepPause
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
    askForAssociations()
    return sleepTime()
  }

  public mutating func handleAnswers(within time: Duration) {
    for completion in transfers.run(timeout: time) { finish(completion) }
    handleMails()
  }

  public mutating func cancelCalls() {
    mails = []
    transfers.discardAll()
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
    restoreHealth()
  }

  /// Sends what is known about the database without reading it.
  private mutating func checkDatabase() {
    noteDatabaseTroubles()
    for index in couriers.indices { send(index) }
  }

  /// - Parameter isKnown: whether what was sent is still known; the rest is read from the database.
  private mutating func use(_ plan: AlertPlan, keeping isKnown: (AlertRecord) -> Bool = { _ in true }) {
    cancelNotices()
    // It may not be on disk yet.
    let sent = couriers.flatMap(\.ledger.records).filter(isKnown)
    let firing = Set(sent.filter(\.isFiring).map(\.key.destination))
    self.plan = plan
    let isConfigured = { (place: AppDestination) in
      plan.apps.contains { $0.slug == place.app && $0.destinationAdvice(place.destination) != nil }
    }
    alerter.sources.metrics.certificates.keep(isConfigured)
    alerter.sources.metrics.contacts.keep(isConfigured)
    beat = plan.heartbeat.map { Heartbeats($0.address, every: $0.every, monotonic) }
    associations.use(plan.apps, now: monotonic)
    alerter.sources.health?.found(associations.faults)
    lookAt = monotonic
    hasChecked = false
    let before = couriers
    couriers = plan.alerts.map { AlertCourier($0.alert, $0.target) }
    for courier in before where firing.contains(courier.target.digest) {
      guard !couriers.contains(where: { $0.target.digest == courier.target.digest }) else { continue }
      couriers.append(courier.retired())
    }
    assign(sent)
    if couriers.isEmpty, let stored = try? watch.reader.alerts() { restore(stored) }
  }

  /// Gives each alert that was sent to the couriers whose rules watch for it, or else to the first courier of
  /// its address, which sends its end.
  private mutating func assign(_ records: [AlertRecord]) {
    var shares = couriers.map { _ in [AlertRecord]() }
    for record in records {
      let own = couriers.indices.filter { couriers[$0].target.digest == record.key.destination }
      let key = Finding.Key(record.key)
      let watching = own.filter { couriers[$0].watches(key, apps: plan.apps) }
      for index in watching.isEmpty ? Array(own.prefix(1)) : watching { shares[index].append(record) }
    }
    for (index, share) in shares.enumerated() { couriers[index].restore(share) }
  }

  private mutating func cancelNotices() {
    keep(SaveAlerts(sent: couriers.indices.compactMap { couriers[$0].abandon(now: now) }))
    for index in mails.indices {
      mails[index].courier = nil
      mails[index].program.cancel()
    }
    transfers.discardAll()
    associations.cancel()
  }

  /// Adds what was sent before the start, or by another instance.
  private mutating func restore(_ stored: [AlertRecord]) {
    let known = couriers.flatMap(\.ledger.records)
    let older = stored.filter { record in !known.contains { $0.key == record.key } }
    assign(known + older)
    let lost = older.filter { record in !couriers.contains { $0.target.digest == record.key.destination } }
    for record in lost where record.isFiring { reportUnended(record) }
    keep(SaveAlerts(forgotten: lost.map(\.key)))
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
        for: couriers.map(\.alert), apps: plan.apps, associations: associations.faults, now: now,
        monotonic: monotonic)
      if let stored { restore(stored) }
      hasChecked = true
      for index in couriers.indices {
        couriers[index].troubles = findings.troubles(for: couriers[index].alert, apps: plan.apps)
        let (courier, apps) = (couriers[index], plan.apps)
        let over = couriers[index].ledger.forgetWhatIsOver(now: now) { courier.watches($0, apps: apps) }
        keep(SaveAlerts(forgotten: over))
      }
      isReadingFailing = false
    } catch {
      // The last results stay valid until the store can be read again.
      noteDatabaseTroubles()
      if !isReadingFailing {
        log.error("could not check the alert conditions; trying again", ["error": error.description])
      }
      isReadingFailing = true
    }
  }

  /// The database's own troubles are known without reading it.
  private mutating func noteDatabaseTroubles() {
    let troubles = watch.databaseTroubles(now: now, monotonic: monotonic)
    for index in couriers.indices {
      for key in Finding.Key.ofDatabase where couriers[index].alert.on.contains(key.condition) {
        couriers[index].troubles[key] = troubles.first { $0.key == key }
      }
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
    let monotonic = monotonic
    let own = couriers[index]
    let siblings = couriers.filter { $0.target.digest == own.target.digest }
    guard !siblings.contains(where: { $0.isBusy(monotonic) }) else { return }
    let age = monotonic.duration(since: startedAt)
    let window = AlertWatch.window(of: own.alert)
    let isWatched = { [apps = plan.apps] (key: Finding.Key) in own.watches(key, apps: apps) }
    let hasChecked = hasChecked
    let notice = couriers[index].next(duty, now: now, isWatched: isWatched) { key in
      // The end of one limit would end the incident of the others.
      if own.target.sharesIncidents, siblings.contains(where: { $0.fires(sameAs: key) }) { return false }
      return !isWatched(key)
        || (hasChecked || Finding.Key.ofDatabase.contains(key))
          && age >= key.condition.observation(window: window, isOfApp: key.app != nil) ?? .zero
    }
    guard let notice else { return }
    let message = couriers[index].target.message(
      self.notice(notice, id: couriers[index].messageID), sentAt: clock.wallMilliseconds, host: host,
      userAgent: Version.userAgent)
    start(message, of: index)
  }

  private func notice(_ notice: AlertLedger.Notice, id: String) -> AlertNotice {
    switch notice {
    case .resolved(let key, let since):
      return AlertNotice(endOf: key.condition, app: key.app, since: since, id: id, now: now)
    case .firing(let key, var finding, let since):
      // For a trouble that lasts, report the total since it began.
      if case .receiptFailed = key.condition, let app = key.app,
        let whole = try? watch.failures(of: app, since: since, now: now), whole.value > finding.value
      {
        finding = whole
      }
      return AlertNotice(key, finding, since: since, id: id, now: now)
    }
  }

  private func sleepTime() -> Duration {
    let monotonic = monotonic
    var until = monotonic.advanced(by: .hours(1))
    if !couriers.isEmpty { until = min(until, lookAt) }
    if alerter.sources.health != nil { until = min(until, healthAt) }
    if !mails.isEmpty { until = min(until, monotonic.advanced(by: MailDelivery.stepPause)) }
    for rest in couriers.compactMap(\.restUntil) where rest > monotonic { until = min(until, rest) }
    if let beat = beat?.nextAt { until = min(until, beat) }
    if let question = associations.nextAt { until = min(until, question) }
    return max(.zero, until.duration(since: monotonic))
  }
}

// MARK: - Heartbeat

// Sending the heartbeat. The alerter's thread.

extension AlerterRun {
  /// Sends the heartbeat if it is due.
  mutating func sendHeartbeat() {
    guard var beat else { return }
    defer { self.beat = beat }
    switch beat.step(monotonic: monotonic, isReady: alerter.sources.unreadiness().isEmpty) {
    case .none: break
    case .ask:
      let alerter = alerter
      let isQueued = alerter.sources.committer.submit(Pulse(), from: .internal) { result in
        if case .success = result {
          alerter.worker.post { $0.pulse = true }
        } else {
          alerter.worker.post { $0.pulse = false }
        }
      }
      if !isQueued { beat.pulse(false, monotonic: monotonic) }
    case .send:
      let request = TransferRequest(
        method: .get, url: beat.address.url, headers: [TransferHeader("User-Agent", Version.userAgent)],
        timeout: Alerter.timeout, connectTimeout: Alerter.connectTimeout)
      do throws(TransferFailure) {
        try transfers.start(request, for: .heartbeat)
      } catch {
        let attempt = AlertAttempt(notStarted: error)
        let isNews = beat.finish(attempt, monotonic: monotonic)
        report(true, isNews, "heartbeat", attempt.text, beat.address.label)
      }
    }
  }
}

// MARK: - Association files

// Asking for association files. The alerter's thread.

extension AlerterRun {
  /// Asks for the file that is due, if one is.
  fileprivate mutating func askForAssociations() {
    guard let request = associations.next(now: monotonic) else { return }
    do throws(TransferFailure) {
      try transfers.start(request, for: .association)
    } catch {
      finishAssociation(
        TransferResult(status: nil, failure: error, requestWasSent: false, duration: .zero))
    }
  }

  fileprivate mutating func finishAssociation(_ result: TransferResult) {
    associations.finish(result, now: now, monotonic: monotonic)
    alerter.sources.health?.found(associations.faults)
  }
}

// MARK: - Attempts

// Starting an attempt to send a notice, and what follows from its result. The alerter's thread.

extension AlerterRun {
  mutating func start(_ message: AlertMessage, of courier: Int) {
    switch message {
    case .request(let request):
      do throws(TransferFailure) {
        try transfers.start(request, for: .notice(courier))
      } catch {
        finish(AlertAttempt(notStarted: error), of: courier)
      }
    case .mail(let mail):
      do throws(SystemError) {
        mails.append((courier, try MailDelivery(mail, now: monotonic)))
      } catch {
        finish(AlertAttempt(notStarted: error, mail), of: courier)
      }
    }
  }

  /// Serves the programs that send e-mails.
  mutating func handleMails() {
    let running = mails
    mails = []
    for mail in running {
      if let attempt = mail.program.step(now: monotonic) {
        if let courier = mail.courier { finish(attempt, of: courier) }
      } else {
        mails.append(mail)
      }
    }
  }

  public mutating func finish(_ call: Call, _ result: TransferResult) {
    let attempt = AlertAttempt(result, now: now)
    switch call {
    case .association: finishAssociation(result)
    case .notice(let courier): finish(attempt, of: courier)
    case .heartbeat:
      let monotonic = monotonic
      guard let isNews = beat?.finish(attempt, monotonic: monotonic) else { return }
      report(beat?.isFailing == true, isNews, "heartbeat", attempt.text, plan.heartbeat?.address.label)
    }
  }

  private mutating func finish(_ attempt: AlertAttempt, of index: Int) {
    guard let notice = couriers[index].sending else { return }
    let outcome = couriers[index].finish(attempt, now: now, monotonic: monotonic)
    let name = notice.key.condition.name
    alerter.sources.health?.notified(
      couriers[index].target.digest, failure: outcome.hasArrived ? nil : attempt.text, at: now)
    alerter.sources.metrics.alerts.increment(name, outcome.hasArrived ? "told" : "failed")
    report(!outcome.hasArrived, outcome.isNews, name, attempt.text, couriers[index].target.label)
    if let record = outcome.record { keep(SaveAlerts(sent: [record])) }
    if couriers[index].hasGivenUp(attempt) {
      for record in couriers[index].ledger.records where record.isFiring { reportUnended(record) }
      keep(SaveAlerts(forgotten: couriers[index].ledger.forgetAll()))
    }
    guard outcome.hasArrived, let record = outcome.record else { return }
    log.info(
      "sent an alert",
      [
        "alert": record.key.condition, "app": record.key.app?.text,
        "state": record.isFiring ? "firing" : "resolved",
        "to": couriers[index].target.label,
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

  /// Logs that the receiver of an alert will never get its end.
  func reportUnended(_ record: AlertRecord) {
    log.warning(
      "cannot report the end of an alert: its receiver is not in the configuration any more, or refuses it. "
        + "Close it there",
      ["alert": record.key.condition, "app": record.key.app?.text])
  }

  /// Saves alerts. An alert that cannot be saved is sent again after a restart.
  func keep(_ command: SaveAlerts) {
    guard !command.sent.isEmpty || !command.forgotten.isEmpty else { return }
    _ = alerter.sources.committer.submit(command, from: .internal) { _ in }
  }
}
