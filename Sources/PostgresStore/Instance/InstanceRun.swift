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
  /// When the lease that is being given up must be given up.
  private var leavesAt: MonotonicInstant?
  private var clockWarningAt = MonotonicInstant.now()
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
      guard let connection = try opened() else { return giveUpEnded() }
      if isLookDue { try look(connection) }
      try send(connection)
      if note(.unreachable, isPresent: false) { owner.log.info("the database can be reached again") }
    } catch {
      connection?.close()
      // Each later failure has the same cause, most of the time.
      if note(.unreachable, isPresent: true) {
        owner.log.error("the database cannot be reached; trying again", ["error": error.description])
      }
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
      self.connection = connection
      backoff = Backoff()
      return connection
    } catch {
      backoff.fail()
      throw error
    }
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
    let (asked, start) = (MonotonicInstant.sinceBoot(), MonotonicInstant.now())
    let isNotified = inbox.heardAt.map { start.duration(since: $0) < Self.testPeriod * 2 } ?? false
    let report = InstanceReport(
      host: host, version: owner.calls.version, configuration: inbox.configuration, leases: wanted,
      clockAhead: clockAhead,
      queueDepth: owner.calls.queueDepth(), isNotified: isNotified)
    let view = try LeaseTable.look(connection, owner.id, report, held: owner.held.epochs)
    let now = MonotonicInstant.now()
    judgeClock(owner.databaseClock.note(view.time, between: start, and: now), now)
    var hasChanged = !owner.held.renewed(view.renewed, asked: asked).isEmpty
    leases.note(Dictionary(uniqueKeysWithValues: view.leases.map { ($0.name, $0) }), at: now)
    instances.note(view.instances, at: now)
    if try giveUp(view, connection, now) { hasChanged = true }
    try acquire(view, connection, now)
    settle()
    if hasChanged { owner.calls.onOwnership() }
    if now >= hangingAt {
      hangingAt = now + Self.pollPeriod
      let count = try LeaseTable.endHangingSessions(connection)
      if count > 0 {
        owner.log.warning(
          "ended sessions of a receiptd that hangs, or is cut off, in the middle of a transaction",
          ["sessions": String(count)])
      }
    }
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
      owner.worker.withInbox { _ = $0.unsettled.insert(row.name) }
      owner.log.info("acquired a lease", ["name": row.name, "epoch": String(epoch)])
    }
    if let name = plan.released, leavesAt == nil {
      owner.held.leave(name)
      leavesAt = now + PostgresInstance.leavingMax
      owner.calls.onOwnership()
    }
  }

  /// Gives up the lease that is left, once its deliveries have ended, and those of apps that were removed.
  /// - Returns: whether there were any.
  private mutating func giveUp(
    _ view: LeaseTable.View, _ connection: PostgresConnection, _ now: MonotonicInstant
  ) throws(PostgresError) -> Bool {
    var names = Set(owner.held.epochs.keys).subtracting(wanted)
    if let leavesAt, let name = owner.held.leaving,
      now >= leavesAt || name == LeaseRow.shared || !owner.calls.isBusy(AppSlug(name))
    {
      names.insert(name)
    }
    guard !names.isEmpty else {
      if owner.held.leaving == nil { leavesAt = nil }
      return false
    }
    leavesAt = nil
    for name in names { owner.held.remove(name) }
    try LeaseTable.release(names.sorted(), of: owner.id, connection)
    owner.log.info("gave up leases", ["names": names.sorted().joined(separator: ", ")])
    return true
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
    let isTooFar = difference > PostgresInstance.clockMax
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
    inbox.news = []
    if now >= testAt {
      testAt = now + Self.testPeriod
      texts.append(InstanceNews.test(from: owner.id))
    }
    guard !texts.isEmpty else { return }
    do throws(PostgresError) {
      try connection.runTogether(
        texts.map { PostgresCommand("SELECT pg_notify('\(InstanceNews.channel)', $1)", [.text($0)]) })
    } catch {
      // Programs that were not notified find the changes at their next look.
      owner.worker.withInbox { $0.news.insert(InstanceNews.anything(from: owner.id), at: 0) }
      throw error
    }
  }
}
