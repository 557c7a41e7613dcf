// Starts and stops the parts of the daemon in order. A failure at the start stops what was started before.
// The main thread.

public import Config
internal import Cryptography
internal import Domain
internal import Formats
internal import HTTPClient
internal import HTTPServer
public import Platform
internal import Reports
public import Service
internal import Store
internal import Upkeep

/// Why the daemon did not start.
public enum DaemonError: Error, Sendable {
  /// Another process holds the database. Nil if it holds it through another path of the same file.
  case held(by: LockHolder?)
  /// An operator must decide; the message names the choices.
  case refused(String)
  /// The database cannot be used; the message says what to do.
  case database(String, isBusy: Bool)
  /// A listener, a thread or a lock is not available.
  case unavailable(String)
  /// The configuration cannot be applied.
  case configuration(Fault)
}

/// A running receiptd.
public final class Daemon: Sendable {
  /// The grace period for requests and deliveries in flight at a stop.
  public static let grace: Duration = .seconds(10)
  /// The longest start that migrates the database's schema: about ten million events on a slow disk.
  public static let migrationMax: Duration = .hours(1)

  /// The most deliveries under way, of all apps together.
  static let transfersMax = 4096

  /// The port of the public listener. The configuration may let the system choose it.
  public let publicPort: UInt16
  public let adminPort: UInt16
  /// The address of the admin listener: its port, or the path of its socket.
  public let adminEndpoint: String

  let core: RelayCore
  let ledger: ConfigurationLedger
  let log: Log
  let clock: any Clock
  private let publicServer: Server
  private let adminServer: Server
  let alerter: Alerter
  /// Nil with PostgreSQL.
  private let backups: Backups?

  /// Starts all parts. On return the listeners are open.
  /// - Parameters:
  ///   - makesNewDatabase: whether to start with an empty database although files of an earlier one exist.
  ///   - acceptsLostLog: whether to start without the log of a run that did not end cleanly.
  ///   - sockets: those that the service manager passed on. Each must have the address of a listener.
  ///   - onMigration: called before the start migrates the database's schema.
  ///   - onSyncFailure: called if a sync fails. The process must end at once, because the state of the disk
  ///     is unknown.
  public init(
    _ configuration: Configuration, makesNewDatabase: Bool = false, acceptsLostLog: Bool = false,
    sockets: [InheritedSocket] = [], log: Log, clock: any Clock = SystemClock(),
    onMigration: @escaping @Sendable () -> Void = {}, onSyncFailure: @escaping @Sendable (String) -> Void
  ) throws(DaemonError) {
    let plan = try Self.alertPlan(configuration)
    let sockets = try PassedSockets(sockets, configuration)
    (self.log, self.clock) = (log, clock)
    ledger = ConfigurationLedger(configuration, now: Timestamp(unixMilliseconds: clock.wallMilliseconds))
    let engine = try Engines.serve(
      configuration, makesNew: makesNewDatabase, acceptsLostLog: acceptsLostLog, log: log, clock: clock,
      onMigration: onMigration,
      onSyncFailure: { onSyncFailure($0.description) })
    let core = try RelayCore(
      configuration, engine,
      RelayDependencies(
        shared: Dependencies(log: log, clock: clock, random: SecretRandomness()),
        transport: try Self.transport(Self.transfersMax),
        lookupTransport: try Self.transport(LookupWorker.transfersMax),
        announcementTransport: try Self.transport(ClaimAnnouncer.transfersMax),
        keyTransport: try Self.transport(KeyFetcher.transfersMax),
        backendTransports: BackendTransports(
          requests: try Self.transport(BackendWorker.transfersMax),
          captures: try Self.transport(CaptureWorker.transfersMax)),
        onSyncFailure: { onSyncFailure($0.description) }))
    do throws(DaemonError) {
      try core.start()
      let services = ListenerServices(metrics: core.metrics, log: log, clock: clock)
      core.readiness.raise(.starting)
      let health = HealthMonitor(
        readiness: core.readiness, ledger: ledger, metrics: core.metrics,
        startedAt: Timestamp(unixMilliseconds: clock.wallMilliseconds),
        openFiles: ProcessLimits.openFiles, proxy: ProxySettings.ofProcess.text,
        fileSystem: configuration.database.filePath.flatMap(FileSystemKind.remote),
        freeBytes: { engine.space.freeBytes })
      adminServer = try Listeners.admin(configuration, core, services, health, sockets)
      do throws(DaemonError) {
        alerter = try Self.alerter(plan, core, health, log, clock)
        publicServer = try Listeners.public(configuration, core, services, sockets)
        core.use(publicServer.load)
        backups = Self.backups(configuration, core, health, log, clock)
        do throws(SystemError) {
          try alerter.start()
          try backups?.start()
        } catch {
          alerter.stop()
          publicServer.stop(grace: .zero)
          throw DaemonError.unavailable("cannot start a thread (\(error))")
        }
      } catch {
        adminServer.stop(grace: .zero)
        throw error
      }
    } catch {
      core.stop()
      throw error
    }
    self.core = core
    publicPort = publicServer.port
    adminPort = adminServer.port
    adminEndpoint = configuration.admin.socketPath ?? String(adminPort)
    core.readiness.clear(.starting)
    alerter.checkHealth()
  }

  private static func transport(_ connectionsMax: Int) throws(DaemonError) -> TransferPool {
    do throws(TransferFailure) {
      return try TransferPool(connectionsMax: connectionsMax)
    } catch {
      throw .unavailable("libcurl could not be set up (\(error))")
    }
  }

  private static func backups(
    _ configuration: Configuration, _ core: RelayCore, _ health: HealthMonitor, _ log: Log,
    _ clock: any Clock
  ) -> Backups? {
    configuration.database.filePath.map { path in
      Backups(
        configuration.backup, database: path,
        openReader: { [engine = core.engine] () throws(StoreError) in try engine.openReader() },
        committer: core.committer, health: health, dependencies: Dependencies(log: log, clock: clock))
    }
  }

  private static func alertPlan(_ configuration: Configuration) throws(DaemonError) -> AlertPlan {
    do throws(Fault) {
      return try AlertPlan(configuration)
    } catch {
      throw .configuration(error)
    }
  }

  /// The alerter has its own connection and transfers.
  private static func alerter(
    _ plan: AlertPlan, _ core: RelayCore, _ health: HealthMonitor, _ log: Log, _ clock: any Clock
  ) throws(DaemonError) -> Alerter {
    let sources = AlertSources(
      metrics: core.metrics, committer: core.committer,
      freeBytes: { [engine = core.engine] in engine.space.freeBytes },
      unreadiness: { [readiness = core.readiness] in readiness.reasons().map(\.text) },
      health: health, database: { [engine = core.engine] in engine.troubles.map(ReadinessReason.init) })
    return Alerter(
      plan, sources: sources, transport: try transport(Alerter.transfersMax),
      reader: try RelayCore.reader(core.engine),
      dependencies: Dependencies(log: log, clock: core.instance?.clock ?? clock), ownership: core.ownership)
  }

  /// Installs new apps and settings, all of them or none. Listeners, except for the certificate, limits and
  /// the database do not change until a restart.
  /// - Throws: `Fault`; then nothing has changed.
  func reload(_ configuration: Configuration) throws {
    let plan = try AlertPlan(configuration)
    let identity = try Listeners.nextIdentity(configuration, of: publicServer)
    try core.reload(configuration)
    if let identity {
      publicServer.use(identity)
      Listeners.note(identity.identity, core.metrics)
    }
    alerter.use(plan)
    backups?.use(configuration.backup)
  }

  /// Checks everything, because another process changed the database.
  public func wake() { core.checkAll() }

  /// Whether the committer makes progress. The service manager's watchdog depends on it.
  public var isResponsive: Bool {
    core.committer.busyTime(now: MonotonicInstant.now()) < Readiness.stuckAfter * 3
  }

  /// Refuses new requests, finishes those in flight, stores all outcomes, and returns after all threads have
  /// ended.
  public func stop() {
    core.readiness.raise(.stopping)
    core.windDown()
    backups?.windDown()
    alerter.stop()
    publicServer.stop(grace: Self.grace)
    core.stop()
    adminServer.stop(grace: .zero)
    backups?.stop()
  }
}

// MARK: - Reload

// Reloads the configuration and reports the result. The main thread.

extension Daemon {
  /// Reads the configuration and applies it completely, or keeps the previous one. Logs the result and stores
  /// it in the database. Listeners, except for the certificate, limits, log and database do not change until
  /// a restart.
  /// - Parameter path: of the configuration file.
  @discardableResult public func reload(path: String) -> ReloadReport {
    // Set before the file is read: this reload answers every request made before it.
    let began = MonotonicInstant.now()
    var report: ReloadReport
    do {
      let loaded = try ConfigurationLoader.load(path: path)
      try reload(loaded.configuration)
      report = ledger.applied(loaded, began: began, now: now)
      // A server that does not answer would hold up this thread, and with it the watchdog.
      if loaded.configuration.database.filePath != nil {
        report.warnings += loaded.configuration.databaseWarnings
      }
    } catch let faults as ConfigurationFaults {
      report = ledger.refused(faults, began: began, now: now)
    } catch let fault as Fault {
      report = ledger.refused(ConfigurationFaults(faults: [fault]), began: began, now: now)
    } catch {
      let fault = Fault(path: "", message: "cannot be applied: \(error)")
      report = ledger.refused(ConfigurationFaults(faults: [fault]), began: began, now: now)
    }
    write(report)
    alerter.checkHealth()
    let stored = ServiceReport(name: .reload, at: report.at, content: report.stored)
    let log = log
    let isQueued = core.committer.submit(SaveServiceReport(stored), from: .internal) { result in
      guard case .failure(let error) = result else { return }
      log.error(
        "could not store the result of the reload; receiptctl reload does not learn it from the database",
        ["error": error.description])
    }
    if !isQueued { log.error("could not store the result of the reload: receiptd is stopping") }
    return report
  }

  private var now: Timestamp { Timestamp(unixMilliseconds: clock.wallMilliseconds) }

  private func write(_ report: ReloadReport) {
    for warning in report.warnings { log.warning("configuration: \(warning.description)") }
    guard !report.isRefused else {
      for fault in report.faults { log.error("configuration refused: \(fault.description)") }
      log.error("keeping the previous configuration", ["generation": String(report.generation)])
      return
    }
    log.info(
      "configuration read again",
      [
        "generation": String(report.generation),
        "changed": report.changed.isEmpty ? "nothing" : report.changed.joined(separator: ", "),
      ])
    if !report.needsRestart.isEmpty {
      log.warning(
        "some changes of the configuration need a restart: \(ReloadReport.restartCommand)",
        ["keys": report.needsRestart.joined(separator: ", ")])
    }
    if !report.keptSecrets.isEmpty {
      log.info(
        "a reload does not read the environment or systemd credentials again; if one of these secrets was "
          + "changed, restart receiptd: \(ReloadReport.restartCommand)",
        ["secrets": report.keptSecrets.joined(separator: ", ")])
    }
  }
}
