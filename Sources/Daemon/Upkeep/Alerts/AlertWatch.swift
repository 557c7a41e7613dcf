// Checks for troubles. It reads only counters and indexes, so a check costs the same with any number of
// receipts. The alerter's thread.

internal import Config
internal import Cryptography
internal import Domain
internal import Formats
internal import Platform
public import Reports
public import Service
internal import Store

/// The sources that the alerter reads.
public struct AlertSources: Sendable {
  let metrics: Metrics
  let committer: Committer
  /// The free space on the database's disk.
  let freeBytes: @Sendable () -> Int64?
  /// Why the relay is not ready; empty if it is.
  let unreadiness: @Sendable () -> [String]
  /// Makes the health report; nil if none is stored.
  var health: HealthMonitor?
  /// What is wrong with the database's files; empty if nothing is.
  var database: @Sendable () -> [ReadinessReason] = { [] }

  public init(
    metrics: Metrics, committer: Committer, freeBytes: @escaping @Sendable () -> Int64?,
    unreadiness: @escaping @Sendable () -> [String], health: HealthMonitor? = nil,
    database: @escaping @Sendable () -> [ReadinessReason] = { [] }
  ) {
    self.metrics = metrics
    self.committer = committer
    self.freeBytes = freeBytes
    self.unreadiness = unreadiness
    self.health = health
    self.database = database
  }
}

/// Reads the certificate of the public listener.
enum ListenerCertificate {
  /// When the certificate in a PEM file expires; nil if it cannot be read.
  static func expiry(_ path: String) -> Timestamp? {
    guard let content = try? FileReading.content(of: path, bytesMax: KeyRanges.pemFileBytesMax),
      let certificate = try? Certificate(pem: content.bytes)
    else { return nil }
    return Timestamp(unixMilliseconds: certificate.expiresAt)
  }
}

/// Checks for troubles, and keeps counters between checks.
struct AlertWatch {
  /// The results of one check, for all configured alerts.
  struct Findings {
    fileprivate let breakers: [AppDestination: Breaker]
    fileprivate let unconfigured: [UnconfiguredApp]
    fileprivate let pauses: [AppSlug: AppPause]
    fileprivate let open: OpenFailures
    fileprivate let oldest: [AppSlug: Timestamp]
    fileprivate let failed: [AppSlug: [FailureCount]]
    fileprivate let recent: [Duration: [AppSlug: [FailureCount]]]
    fileprivate let signatures: [Duration: [LabelValues: UInt64]]
    fileprivate let clients: [Duration: [AppSlug: [String: Int64]]]
    fileprivate let processors: [Duration: [AppProcessor: ProcessorTroubles]]
    /// Events that could not be read, at most one entry for each app.
    fileprivate let unread: [Finding]
    fileprivate let captures: [AppProcessor: UnfinishedCaptures]
    fileprivate let observed: AlertObservations
    fileprivate let backup: ServiceReport?
    fileprivate let database: Finding?
    fileprivate let isDatabaseDamaged: Bool
    fileprivate let freeBytes: Int64?
    fileprivate let isDiskFull: Bool
    fileprivate let now: Timestamp
  }

  let reader: StoreReader
  let sources: AlertSources
  private var signatures = RecentCounts()
  private var clients = RecentCounts()
  private var processors = RecentCounts()
  private var backlogs: [AppSlug: BacklogTrend] = [:]
  private var unreadable = UnreadableReceipts()
  private var events = EventWatch()
  private var joins = JoinWatch()
  private var unreadEvents = UnreadEventWatch()
  private var identity = IdentityWatch()
  private var listenerFileRead: (at: MonotonicInstant, expiresAt: Timestamp?)?

  init(reader: StoreReader, sources: AlertSources) {
    self.reader = reader
    self.sources = sources
  }

  /// The window over which an alert counts.
  static func window(of alert: Configuration.Alert) -> Duration {
    min(alert.every, RecentCounts.windowMax)
  }

  func databaseTroubles(now: Timestamp, monotonic: MonotonicInstant) -> [Finding] {
    Finding.database(sources.database(), unreadable: unreadable.apps(now: monotonic), now: now)
  }

  mutating func check(
    for alerts: [Configuration.Alert], apps: [AppConfiguration], associations: [BrokenAssociation] = [],
    now: Timestamp, monotonic: MonotonicInstant
  ) throws(StoreFault) -> Findings {
    signatures.record(sources.metrics.signatureFailures.snapshot(), now: monotonic)
    clients.record(sources.metrics.clientRefusals.snapshot(), now: monotonic)
    processors.record(sources.metrics.processorTroubles, now: monotonic)
    let (signatures, clients, processors) = (signatures, clients, processors)
    var observed = try observe(alerts, now: now, monotonic: monotonic)
    observed.associations = associations
    observed.silent = try events.unusual(
      for: alerts, apps: apps.map(\.slug), reader: reader, now: now)
    observed.unjoined = try joins.unjoined(for: alerts, apps: apps.map(\.slug), reader: reader, now: now)
    observed.unread = try unreadEvents.look(for: alerts, apps, reader, now: now)
    observed.identity = try identity.look(for: alerts, apps, reader, now: now)
    return try Self.findings(
      for: alerts, apps: apps, reader: reader,
      signatures: { signatures.growth(within: $0, now: monotonic) },
      clients: { Metrics.clientRefusals(clients.growth(within: $0, now: monotonic)) },
      processors: { Metrics.troubles(processors.growth(within: $0, now: monotonic)) },
      database: sources.database(),
      freeBytes: sources.freeBytes(), isDiskFull: sources.committer.isDiskFull, observed: observed, now: now)
  }

  /// When the certificate in the listener's file expires, read once a minute; nil if it cannot be read.
  private mutating func listenerFile(now: MonotonicInstant) -> Timestamp? {
    if let read = listenerFileRead, now.duration(since: read.at) < .minutes(1) { return read.expiresAt }
    let expiresAt = sources.health?.configuration.listen.tls.flatMap {
      ListenerCertificate.expiry($0.certificatePath)
    }
    listenerFileRead = (now, expiresAt)
    return expiresAt
  }

  /// What is known only from observing for a while, or by this process.
  private mutating func observe(
    _ alerts: [Configuration.Alert], now: Timestamp, monotonic: MonotonicInstant
  ) throws(StoreFault) -> AlertObservations {
    let health = sources.health?.report(now: now)
    var observed = AlertObservations(refusedReload: health?.refusedReload, backup: health?.backup)
    unreadable.record(sources.metrics.unreadableReceipts.snapshot(), now: monotonic)
    observed.unreadable = unreadable.apps(now: monotonic)
    observed.certificates = sources.metrics.certificates.all
    observed.listenerFile = listenerFile(now: monotonic)
    observed.clockAhead = sources.metrics.clock.offset(now: monotonic)
    let isBacklogWatched = alerts.contains { alert in
      alert.on.contains { if case .backlogGrowing = $0 { true } else { false } }
    }
    guard isBacklogWatched else { return observed }
    let pending = try reader.pendingNow()
    let at = monotonic.duration(since: MonotonicInstant(nanoseconds: 0))
    for app in Set(pending.keys).union(backlogs.keys) {
      let count = pending[app] ?? 0
      backlogs[app, default: BacklogTrend()].record(count, at: at)
      if backlogs[app]?.isGrowing == true { observed.growing[app] = count }
    }
    return observed
  }

  /// - Parameters:
  ///   - signatures: the webhooks refused within a time, by app and reason.
  ///   - clients: the requests of clients refused within a time, by reason.
  ///   - processors: the troubles with processors within a time, by reason.
  static func findings(
    for alerts: [Configuration.Alert], apps: [AppConfiguration], reader: StoreReader,
    signatures: (Duration) -> [LabelValues: UInt64],
    clients: (Duration) -> [AppSlug: [String: Int64]],
    processors: (Duration) -> [AppProcessor: [String: Int64]], database: [ReadinessReason], freeBytes: Int64?,
    isDiskFull: Bool, observed: AlertObservations, now: Timestamp
  ) throws(StoreFault) -> Findings {
    var oldest: [AppSlug: Timestamp] = [:]
    for app in apps { oldest[app.slug] = try reader.oldestPending(app: app.slug) }
    var recent: [Duration: [AppSlug: [FailureCount]]] = [:]
    var growth: [Duration: [LabelValues: UInt64]] = [:]
    var refused: [Duration: [AppSlug: [String: Int64]]] = [:]
    var troubles: [Duration: [AppProcessor: ProcessorTroubles]] = [:]
    for window in Set(alerts.map(Self.window)) {
      let start = now - window
      recent[window] = try reader.recentFailures(since: start)
      growth[window] = signatures(window)
      refused[window] = clients(window)
      troubles[window] = processors(window).mapValues(ProcessorTroubles.init)
    }
    return Findings(
      breakers: try reader.breakers(),
      unconfigured: UnconfiguredApp.all(try reader.counts(), configured: apps.map(\.slug)),
      pauses: try reader.pauses(),
      open: OpenFailures(try reader.failureGroups()), oldest: oldest,
      failed: try reader.failedNow(),
      recent: recent, signatures: growth, clients: refused, processors: troubles,
      unread: observed.unread,
      captures: try captures(for: alerts, apps: apps, reader: reader), observed: observed,
      backup: try reader.serviceReport(.backup),
      database: Finding.database(database, now: now), isDatabaseDamaged: database.contains(.databaseDamaged),
      freeBytes: freeBytes, isDiskFull: isDiskFull, now: now)
  }

  /// Reads nothing if no alert is about captures.
  private static func captures(
    for alerts: [Configuration.Alert], apps: [AppConfiguration], reader: StoreReader
  ) throws(StoreFault) -> [AppProcessor: UnfinishedCaptures] {
    let isWatched = alerts.contains { alert in
      alert.on.contains { if case .captureUnknown = $0 { true } else { false } }
    }
    guard isWatched else { return [:] }
    var captures: [AppProcessor: UnfinishedCaptures] = [:]
    for place in apps.flatMap(\.places) {
      let (abandoned, last) = try reader.abandonedCaptures(place)
      captures[place] = UnfinishedCaptures(
        oldest: try reader.oldestCapture(place), abandoned: abandoned, lastAbandoned: last)
    }
    return captures
  }
}

extension AlertWatch {
  /// The receipts that failed since then, for a notice about a trouble that lasts.
  func failures(of app: AppSlug, since: Timestamp, now: Timestamp) throws(StoreFault) -> Finding? {
    let open = OpenFailures(try reader.failureGroups(FailureChoice(app: app)))
    return .failures(
      open.among(try reader.recentFailures(since: since)[app] ?? [], app: app),
      standing: try reader.failedNow()[app] ?? [], app: app, now: now)
  }
}

extension AlertWatch.Findings {
  /// The troubles that one alert covers.
  func troubles(for alert: Configuration.Alert, apps: [AppConfiguration]) -> [Finding.Key: Finding] {
    var troubles: [Finding.Key: Finding] = [:]
    let apps = apps.filter { alert.apps?.contains($0.slug) ?? true }
    for condition in alert.on {
      if case .oldestPending = condition, alert.apps == nil {
        for app in unconfigured {
          troubles[Finding.Key(condition: condition, app: app.slug)] = .stranded(app, condition, now: now)
        }
      }
      let subjects: [AppConfiguration?] =
        (condition.isOfRelay ? [nil] : []) + (condition.isOfApps ? apps.map(Optional.some) : [])
      for app in subjects {
        troubles[Finding.Key(condition: condition, app: app?.slug)] =
          finding(condition, app: app, window: AlertWatch.window(of: alert))
      }
    }
    return troubles
  }

  private func finding(_ condition: AlertCondition, app: AppConfiguration?, window: Duration) -> Finding? {
    guard let app else { return finding(ofRelay: condition) }
    switch condition {
    case .breakerOpen:
      return .breakers(
        breakers.sorted(of: app.slug, now: now), app: app.slug, now: now, advice: app.destinationAdvice)
    case .receiptFailed:
      return .failures(
        open.among(recent[window]?[app.slug] ?? [], app: app.slug), standing: failed[app.slug] ?? [],
        app: app.slug, now: now)
    case .oldestPending(let limit):
      // While they are paused they wait on purpose, and afterwards they need time.
      let pause = pauses[app.slug] ?? AppPause()
      guard !pause.isActive(now: now),
        let readyAt = oldest[app.slug].map({ max($0, pause.endedAt(now: now) ?? $0) }),
        now.duration(since: readyAt) > limit
      else { return nil }
      return .oldest(readyAt: readyAt, limit: limit, app: app.slug, now: now)
    case .signatureFailures(let limit):
      let growth = signatures[window]?.filter { $0.key.first == app.slug.text } ?? [:]
      let refusals = Metrics.refusals(growth).reduce(into: [:]) { $0[$1.key.processor] = $1.value }
      let refused = Finding.webhooks(
        of: app.slug, refusals, accepted: nil, Finding.within(window), since: now, alert: condition
      ) { app.webhookAdvice[$0] }
      return refused.flatMap { $0.value > Double(limit) ? $0 : nil }
    case .contextsRefused(let limit):
      let refused = Finding.contexts(
        of: app.slug, clients[window]?[app.slug] ?? [:], accepted: nil, Finding.within(window), since: now,
        alert: condition)
      return refused.flatMap { $0.value > Double(limit) ? $0 : nil }
    case .unreadableEvents: return unread.first { $0.app == app.slug }
    case .processorFailures(let limit):
      return .calls(
        troubles(of: app, window), limit: limit, app: app.slug, window: window, now: now,
        advice: app.processorAdvice)
    case .captureUnknown(let limit):
      let own = captures.filter { $0.key.app == app.slug }
      return .captures(
        Dictionary(uniqueKeysWithValues: own.map { ($0.key.processor, $0.value) }), limit: limit,
        app: app.slug, now: now)
    case .callbacksMissing:
      return .callbacks(
        troubles(of: app, window).mapValues(\.unreported), app: app.slug, window: window, now: now,
        advice: app.webhookAdvice)
    case .userConflict, .unmatchedPurchases: return observed.identity?.finding(condition, app: app.slug)
    case .contextsUnjoined: return .unjoined(observed.unjoined[app.slug], app: app.slug, now: now)
    case .associationFiles: return .associations(observed.associations, app: app.slug, now: now)
    case .appPaused: return .pause(pauses[app.slug], app: app.slug, now: now)
    case .backlogGrowing(let limit):
      guard pauses[app.slug]?.isActive(now: now) != true, let count = observed.growing[app.slug],
        count > limit
      else { return nil }
      return .backlog(count, limit: limit, app: app.slug, now: now)
    case .noEvents(let limit):
      guard let since = observed.silent[app.slug], now.duration(since: since) > limit else { return nil }
      return .silence(since: since, limit: limit, app: app, now: now)
    case .certificateExpires(let limit):
      return .certificates(observed.certificates, limit: limit, app: app.slug, now: now)
    case .diskLow, .database, .reloadRefused, .backupOld, .corruption, .clock, .unknown: return nil
    }
  }

  private func finding(ofRelay condition: AlertCondition) -> Finding? {
    switch condition {
    case .diskLow(let limit):
      guard isDiskFull || freeBytes.map({ $0 < Int64(limit) }) ?? false else { return nil }
      return .disk(free: freeBytes, limit: limit, isFull: isDiskFull, now: now)
    case .database: return database
    case .reloadRefused: return observed.refusedReload.map { .reload($0, now: now) }
    case .backupOld(let limit):
      // `scheduled` reports rarer copies, and the first one.
      let isExpected = observed.backup.map { $0.every * 2 > limit || backup == nil } ?? false
      return (isExpected ? nil : .backup(backup, limit: limit, now: now))
        ?? observed.backup.flatMap { Finding.scheduled($0, alert: condition, now: now).first }
    case .certificateExpires(let limit):
      return .listenerCertificate(
        observed.certificates[.listener], file: observed.listenerFile, limit: limit, now: now)
    case .clock(let limit):
      return observed.clockAhead.flatMap { .clock(ahead: $0, limit: limit, now: now) }
    case .corruption:
      return .corruption(isDatabaseDamaged: isDatabaseDamaged, unreadable: observed.unreadable, now: now)
    default: return nil
    }
  }

  private func troubles(
    of app: AppConfiguration, _ window: Duration
  ) -> [ProcessorName: ProcessorTroubles] {
    let own = processors[window]?.filter { $0.key.app == app.slug } ?? [:]
    return Dictionary(uniqueKeysWithValues: own.map { ($0.key.processor, $0.value) })
  }
}
