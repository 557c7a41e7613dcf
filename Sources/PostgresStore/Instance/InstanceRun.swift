// The steps of an instance: looks at the database twice a second, and sends notifications. The instance's
// thread.

internal import Domain
internal import Durations
internal import Platform
internal import PostgreSQL
internal import Store

/// One run of the thread, from start to stop.
struct InstanceRun {
  /// Between two tests whether notifications arrive.
  private static let testPeriod: Duration = .seconds(5)
  /// Between two calls of all programs' workers, if notifications do not arrive.
  private static let pollPeriod: Duration = .seconds(1)

  let owner: PostgresInstance
  private var connection: PostgresConnection?
  private var backoff = Backoff()
  private var inbox = PostgresInstance.Inbox()
  private var lookAt = MonotonicInstant.now()
  private var testAt = MonotonicInstant.now()
  private var pollAt = MonotonicInstant.now()
  private var forgetAt = MonotonicInstant.now()
  private var hangingAt = MonotonicInstant.now()
  private var clockAhead: Int64 = 0
  private var leases = ChangeWatch<String, LeaseRow>()
  private var instances = ChangeWatch<Int64, Int64>()
  /// When each lease that is being given up must be given up.
  private var leavesAt: [String: MonotonicInstant] = [:]
  /// Leases that had to be given up while deliveries were under way. They are released in the database when
  /// those are cancelled.
  private var unreleased: Set<String> = []
  private var clockWarningAt = MonotonicInstant.now()
  private var lossWarningAt = MonotonicInstant.now()
  private let host = HostName.current()
  private let startedAt = MonotonicInstant.now()

  init(_ owner: PostgresInstance) { self.owner = owner }

  mutating func loop() {
    while !owner.worker.isStopping {
      step()
      owner.worker.wait(until: lookAt)
    }
    leave()
  }

  private var wanted: Set<String> { Set(inbox.apps.map(\.text) + [LeaseRow.shared]) }

  private mutating func step() {
    inbox = owner.worker.read { inbox in
      defer { inbox.news = [] }
      return inbox
    }
    let now = MonotonicInstant.now()
    let isLookDue = now >= lookAt
    if isLookDue { lookAt = now + PostgresInstance.period }
    guard isLookDue || !inbox.news.isEmpty else { return }
    do throws(PostgresError) {
      guard let connection = try opened() else {
        keepNews()
        return giveUpEnded()
      }
      if isLookDue { try look(connection) }
      try send(connection)
      if note(.unreachable, isPresent: false) { owner.log.info("the database can be reached again") }
    } catch {
      connection?.close()
      // Each later failure has the same cause, most of the time.
      if note(.unreachable, isPresent: true) {
        owner.log.error("the database cannot be reached; trying again", ["error": error.description])
      }
      keepNews()
      giveUpEnded()
    }
    if isLookDue { owner.calls.pulse() }
  }

  /// Nil during the pause after a failure.
  private mutating func opened() throws(PostgresError) -> PostgresConnection? {
    if let connection, connection.isOpen { return connection }
    guard backoff.allowsTry else { return nil }
    do throws(PostgresError) {
      let connection = try owner.source.connect(within: PostgresSource.reconnectTime)
      connection.timeLimit = PostgresInstance.timeLimit
      try warnAboutLoss(connection)
      self.connection = connection
      backoff = Backoff()
      return connection
    } catch {
      backoff.fail()
      throw error
    }
  }

  /// Says what the loss of the server would cost. After a failover it may be another one, without a standby.
  private mutating func warnAboutLoss(_ connection: PostgresConnection) throws(PostgresError) {
    let now = MonotonicInstant.now()
    guard now >= lossWarningAt else { return }
    let server = try PostgresInspection(connection)
    lossWarningAt = now + .hours(1)
    for risk in server.risks(allowsUnsafe: owner.source.allowsUnsafe) { owner.log.warning(risk) }
  }

  private func giveUpEnded() {
    if !owner.held.dropEnded().isEmpty { owner.calls.onOwnership() }
  }

  /// - Returns: whether this has changed.
  private func note(_ trouble: StoreTrouble, isPresent: Bool) -> Bool {
    owner.troubles.withLock { troubles in
      isPresent ? troubles.insert(trouble).inserted : troubles.remove(trouble) != nil
    }
  }

  // MARK: Leases

  private mutating func look(_ connection: PostgresConnection) throws(PostgresError) {
    try endHangingSessions(connection)
    let (asked, start) = (MonotonicInstant.sinceBoot(), MonotonicInstant.now())
    let isNotified = inbox.heardAt.map { start.duration(since: $0) < Self.testPeriod * 2 } ?? false
    let report = InstanceReport(
      host: host, version: owner.calls.version, configuration: inbox.configuration, leases: wanted,
      clockAhead: clockAhead,
      queueDepth: owner.calls.queueDepth(), isNotified: isNotified, unreadiness: owner.calls.unreadiness())
    let view = try LeaseTable.look(connection, owner.id, report, held: owner.held.epochs)
    let now = MonotonicInstant.now()
    judgeClock(owner.databaseClock.note(view.time, between: start, and: now), now)
    if !owner.held.renewed(view.renewed, asked: asked).isEmpty { owner.calls.onOwnership() }
    leases.note(Dictionary(uniqueKeysWithValues: view.leases.map { ($0.name, $0) }), at: now)
    instances.note(view.instances, at: now)
    try giveUp(connection, now)
    try acquire(view, connection, now)
    settle()
    if now >= forgetAt {
      forgetAt = now + .minutes(10)
      try LeaseTable.forgetOld(connection)
    }
    // Without notifications everything works a second later.
    if !isNotified, now.duration(since: startedAt) > Self.testPeriod, now >= pollAt {
      pollAt = now + Self.pollPeriod
      owner.calls.onChanges(nil)
    }
  }

  /// First, because such a session may hold what this program would wait for.
  private mutating func endHangingSessions(_ connection: PostgresConnection) throws(PostgresError) {
    let now = MonotonicInstant.now()
    guard now >= hangingAt else { return }
    hangingAt = now + Self.pollPeriod
    let count = try LeaseTable.endHangingSessions(connection)
    guard count > 0 else { return }
    owner.log.warning(
      "ended sessions of a receiptd that hangs, or is cut off, in the middle of a transaction",
      ["sessions": String(count)])
  }

  private mutating func acquire(
    _ view: LeaseTable.View, _ connection: PostgresConnection, _ now: MonotonicInstant
  ) throws(PostgresError) {
    let leaseTime = HeldLeases.leaseTime
    var members = view.apps.filter { !instances.isUnchanged($0.key, for: leaseTime, at: now) }
    members[owner.id] = wanted
    let plan = LeasePlan(
      of: owner.id, members: members, rows: view.leases,
      isFree: { $0.owner == nil || leases.isUnchanged($0.name, for: leaseTime, at: now) },
      isPatient: { row in
        let time = row.owner == nil ? PostgresInstance.patience : leaseTime + PostgresInstance.patience
        return !leases.isUnchanged(row.name, for: time, at: now)
      })
    for row in plan.acquired {
      let asked = MonotonicInstant.sinceBoot()
      guard let epoch = try LeaseTable.acquire(row, for: owner.id, connection) else { continue }
      owner.held.acquired(row.name, epoch: epoch, asked: asked)
      unreleased.remove(row.name)
      owner.worker.withInbox { _ = $0.unsettled.insert(row.name) }
      owner.log.info("acquired a lease", ["name": row.name, "epoch": String(epoch)])
    }
    if let name = plan.released, leavesAt.isEmpty { leave([name], now) }
  }

  /// Begins to give leases up: their deliveries under way are completed, and nothing new begins.
  private mutating func leave(_ names: Set<String>, _ now: MonotonicInstant) {
    guard !names.isEmpty else { return }
    for name in names {
      owner.held.leave(name)
      leavesAt[name] = now + PostgresInstance.leavingMax
    }
    owner.calls.onOwnership()
  }

  /// Gives up the leases that are being left, once their deliveries have ended. Another program acquires a
  /// lease as soon as it is released, so deliveries that take too long are cancelled before.
  private mutating func giveUp(
    _ connection: PostgresConnection, _ now: MonotonicInstant
  ) throws(PostgresError) {
    let held = Set(owner.held.epochs.keys)
    leavesAt = leavesAt.filter { held.contains($0.key) }
    let isIdle = leavesAt.keys.filter { !isBusy($0) }
    let isLate = leavesAt.filter { now >= $0.value }.map(\.key)
    for name in Set(isIdle).union(isLate) {
      owner.held.remove(name)
      leavesAt[name] = nil
      unreleased.insert(name)
    }
    if !isLate.isEmpty { owner.calls.onOwnership() }
    // At the earliest at the next look: a delivery may have begun a moment ago.
    leave(held.subtracting(wanted).subtracting(leavesAt.keys).subtracting(unreleased), now)
    let names = unreleased.filter { !isBusy($0) }.sorted()
    guard !names.isEmpty else { return }
    owner.calls.onOwnership()
    try LeaseTable.release(names, of: owner.id, connection)
    unreleased.subtract(names)
    owner.log.info("gave up leases", ["names": names.joined(separator: ", ")])
  }

  private func isBusy(_ name: String) -> Bool {
    name != LeaseRow.shared && owner.calls.isBusy(AppSlug(name))
  }

  /// Lets the transactions of earlier owners end before the first delivery.
  private func settle() {
    let unsettled = owner.worker.withInbox { inbox in
      defer { inbox.unsettled = [] }
      return inbox.unsettled
    }
    let epochs = owner.held.epochs
    for name in unsettled {
      guard let epoch = epochs[name] else { continue }
      guard name != LeaseRow.shared else {
        owner.held.settled(name, epoch: epoch)
        owner.calls.onOwnership()
        continue
      }
      owner.calls.settle(AppSlug(name)) { [owner] isSettled in
        if isSettled {
          owner.held.settled(name, epoch: epoch)
          owner.calls.onOwnership()
        } else {
          owner.worker.withInbox { _ = $0.unsettled.insert(name) }
        }
      }
    }
  }

  private mutating func leave() {
    // Other threads have stopped: nothing is under way.
    owner.held.removeAll()
    do throws(PostgresError) {
      if let connection = try opened() { try LeaseTable.leave(owner.id, connection) }
    } catch {
      // The others notice that the leases are not renewed.
    }
  }

  // MARK: Clock and notifications

  private mutating func judgeClock(_ ahead: Int64, _ now: MonotonicInstant) {
    clockAhead = ahead
    let difference = Duration.milliseconds(Int64(ahead.magnitude))
    let isTooFar = difference > inbox.clockMax
    owner.troubles.withLock { troubles in
      troubles = troubles.filter { if case .clockDiffers = $0 { false } else { true } }
      if isTooFar { troubles.insert(.clockDiffers(difference)) }
    }
    guard difference > PostgresInstance.clockTolerance, now >= clockWarningAt else { return }
    clockWarningAt = now + .hours(1)
    owner.log.warning(
      "this machine's clock differs from the database's; set both by NTP",
      ["milliseconds_ahead": String(ahead)])
  }

  private mutating func send(_ connection: PostgresConnection) throws(PostgresError) {
    let now = MonotonicInstant.now()
    var texts = inbox.news
    if now >= testAt {
      testAt = now + Self.testPeriod
      texts.append(InstanceNews.test(from: owner.id))
    }
    guard !texts.isEmpty else { return }
    try connection.runTogether(
      texts.map { PostgresCommand("SELECT pg_notify('\(InstanceNews.channel)', $1)", [.text($0)]) })
    inbox.news = []
  }

  /// Programs that could not be notified are asked later to look for any change.
  private func keepNews() {
    guard !inbox.news.isEmpty else { return }
    owner.worker.withInbox { $0.news.insert(InstanceNews.anything(from: owner.id), at: 0) }
  }
}
