// The steps of an instance: looks at the database twice a second, and sends notifications. The instance's
// thread.

internal import Domain
internal import Formats
internal import Platform
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
  /// Whether the log's last line about the database says that it cannot be reached.
  private var isLost = false
  private var inbox = PostgresInstance.Inbox()
  private var lookAt = MonotonicInstant.now()
  private var testAt = MonotonicInstant.now()
  private var pollAt = MonotonicInstant.now()
  private var forgetAt = MonotonicInstant.now()
  private var hangingAt = MonotonicInstant.now()
  private var clockAhead: Int64 = 0
  private var leases = ChangeWatch<String, LeaseRow>()
  private var beats = ChangeWatch<Int64, Int64>()
  /// What was last written about this program, and when it is written again.
  private var reported: InstanceReport?
  private var reportAt = MonotonicInstant.now()
  /// Steps of the database's clock that no owner of the shared work is known to have followed.
  private var clockStep: Duration = .zero
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
      note(.unreachable, isPresent: false)
      if isLost { owner.log.info("the database can be reached again") }
      isLost = false
    } catch {
      connection?.close()
      // Each later failure has the same cause, most of the time.
      note(.unreachable, isPresent: true)
      if !isLost {
        owner.log.error("the database cannot be reached; trying again", ["error": error.description])
      }
      isLost = true
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

  private func note(_ trouble: StoreTrouble, isPresent: Bool) {
    owner.troubles.withLock { troubles in
      if isPresent { troubles.insert(trouble) } else { troubles.remove(trouble) }
    }
  }

  // MARK: Leases

  private mutating func look(_ connection: PostgresConnection) throws(PostgresError) {
    let table = LeaseTable(owner.source, connection)
    try endHangingSessions(table)
    let (asked, start) = (MonotonicInstant.sinceBoot(), MonotonicInstant.now())
    let isNotified = inbox.heardAt.map { start.duration(since: $0) < Self.testPeriod * 2 } ?? false
    let report = news(isNotified: isNotified, start)
    let view = try table.look(owner.id, report, held: owner.held.epochs)
    if let report { (reported, reportAt) = (report, start + Self.reportPeriod) }
    let now = MonotonicInstant.now()
    let time = owner.databaseClock.note(view.time, between: start, and: now)
    judgeClock(time.ahead, now)
    if !owner.held.renewed(view.renewed, asked: asked).isEmpty { owner.calls.onOwnership() }
    leases.note(Dictionary(uniqueKeysWithValues: view.leases.map { ($0.name, $0) }), at: now)
    // An owner without a heartbeat does not report, either.
    let owners = Dictionary(uniqueKeysWithValues: Set(view.leases.compactMap(\.owner)).map { ($0, Int64(0)) })
    beats.note(view.beats.merging(owners) { beat, _ in beat }, at: now)
    let released = try giveUp(table, now)
    try acquire(view, without: released, table, now)
    settle()
    follow(time.step, view, now)
    if now >= forgetAt {
      forgetAt = now + .minutes(10)
      try table.forgetOld()
    }
    // Without notifications everything works a second later.
    if !isNotified, now.duration(since: startedAt) > Self.testPeriod, now >= pollAt {
      pollAt = now + Self.pollPeriod
      owner.calls.onChanges(nil)
    }
  }

  /// What operators see changes often, and is written seldom: as rows that are only renewed, those of a
  /// snapshot that stays open remain.
  /// - Returns: nil if nothing but a number has changed, and was written a moment ago.
  private func news(isNotified: Bool, _ now: MonotonicInstant) -> InstanceReport? {
    let report = InstanceReport(
      host: host, version: owner.calls.version, configuration: inbox.configuration,
      secrets: inbox.secrets, leases: wanted, clockAhead: clockAhead, queueDepth: owner.calls.queueDepth(),
      isNotified: isNotified, unreadiness: owner.calls.unreadiness())
    var known = reported
    known?.clockAhead = report.clockAhead
    known?.queueDepth = report.queueDepth
    return known == report && now < reportAt ? nil : report
  }

  /// Between two reports of the same.
  private static let reportPeriod: Duration = .seconds(3)

  /// Lets the owner of the shared work move planned times along with the database's clock: one of all
  /// programs, because a second move would be one too many. Until there is one, the steps are kept.
  private mutating func follow(_ step: Duration, _ view: LeaseTable.View, _ now: MonotonicInstant) {
    clockStep += step
    guard clockStep != .zero else { return }
    if owner.held.doesSharedWork {
      owner.calls.onClockStep(clockStep)
    } else {
      let shared = view.leases.first { $0.name == LeaseRow.shared }
      guard let other = shared?.owner, other != owner.id, isAlive(other, now) else { return }
    }
    clockStep = .zero
  }

  /// First, because such a session may hold what this program would wait for.
  private mutating func endHangingSessions(_ table: LeaseTable) throws(PostgresError) {
    let now = MonotonicInstant.now()
    guard now >= hangingAt else { return }
    hangingAt = now + Self.pollPeriod
    let count = try table.endHangingSessions()
    guard count > 0 else { return }
    owner.log.warning(
      "ended sessions of a receiptd that hangs, or is cut off, in the middle of a transaction",
      ["sessions": String(count)])
  }

  /// Whether a program has reported within the time of a lease.
  private func isAlive(_ instance: Int64, _ now: MonotonicInstant) -> Bool {
    !beats.isUnchanged(instance, for: HeldLeases.leaseTime, at: now)
  }

  /// - Parameter released: leases that were given up after they were seen.
  private mutating func acquire(
    _ view: LeaseTable.View, without released: Set<String>, _ table: LeaseTable, _ now: MonotonicInstant
  ) throws(PostgresError) {
    let missing = wanted.subtracting(view.leases.map(\.name))
    if !missing.isEmpty { try table.insert(missing) }
    var members = view.apps.filter { view.beats[$0.key] != nil && isAlive($0.key, now) }
    members[owner.id] = wanted
    let apps = members.values.joined().filter { $0 != LeaseRow.shared }.map { AppSlug($0) }
    owner.known.withLock { $0 = Set(apps) }
    let (me, held) = (owner.id, owner.held.epochs)
    let patience = PostgresInstance.patience
    let plan = LeasePlan(
      of: me, members: members, rows: view.leases.filter { !released.contains($0.name) },
      isFree: { row in
        guard let owner = row.owner else { return true }
        // Its own lease that ended is acquired again, once it is given up.
        if owner == me { return held[row.name] == nil && !unreleased.contains(row.name) }
        return !isAlive(owner, now)
      },
      isPatient: { row in
        guard let owner = row.owner else { return !leases.isUnchanged(row.name, for: patience, at: now) }
        return owner != me && !beats.isUnchanged(owner, for: HeldLeases.leaseTime + patience, at: now)
      })
    if !plan.acquired.isEmpty {
      let asked = MonotonicInstant.sinceBoot()
      let acquired = try table.acquire(plan.acquired, for: me, beats: view.beats)
      for (name, epoch) in acquired.sorted(by: { $0.key < $1.key }) {
        owner.held.acquired(name, epoch: epoch, asked: asked)
        owner.worker.withInbox { _ = $0.unsettled.insert(name) }
        owner.log.info("acquired a lease", ["name": name, "epoch": String(epoch)])
      }
    }
    if leavesAt.isEmpty, released.isEmpty { leave(plan.released, now) }
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
  /// - Returns: those that were released.
  private mutating func giveUp(
    _ table: LeaseTable, _ now: MonotonicInstant
  ) throws(PostgresError) -> Set<String> {
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
    guard !names.isEmpty else { return [] }
    owner.calls.onOwnership()
    try table.release(names, of: owner.id)
    unreleased.subtract(names)
    owner.log.info("gave up leases", ["names": names.joined(separator: ", ")])
    return Set(names)
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
      if let connection = try opened() { try LeaseTable(owner.source, connection).leave(owner.id) }
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
    try LeaseTable(owner.source, connection).notify(texts)
    inbox.news = []
  }

  /// Programs that could not be notified are asked later to look for any change.
  private func keepNews() {
    guard !inbox.news.isEmpty else { return }
    owner.worker.withInbox { $0.news.insert(InstanceNews.anything(from: owner.id), at: 0) }
  }
}
