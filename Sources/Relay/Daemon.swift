// The daemon put together: what starts in which order, and what stops in which. Whatever fails at the start
// undoes what was started before it. The main thread.

internal import Alerts
public import Configuration
internal import Dashboard
internal import Domain
internal import HTTPClient
internal import HTTPServer
internal import HTTPService
internal import Health
internal import Intake
internal import Lookups
internal import Persistence
public import Platform
internal import Presentation
internal import Store

/// Why the daemon did not start.
public enum DaemonError: Error, Sendable {
  /// Another process has the database; without a name, under another name of the same file.
  case held(by: LockHolder?)
  /// An operator has to decide; what between is said.
  case refused(String)
  /// The database cannot be used; what to do is said.
  case database(String, isBusy: Bool)
  /// A listener, a thread or a lock could not be had.
  case unavailable(String)
  /// The configuration asks for something that does not work.
  case configuration(Fault)
}

/// A running receiptd.
public final class Daemon: Sendable {
  /// How long what is in flight may take at a stop.
  public static let graceMilliseconds: Int64 = 10_000
  /// How long the start may take when the database's schema is brought up to date: some ten million events on
  /// a slow disk.
  public static let migrationMillisecondsMax: Int64 = 3_600_000

  /// Deliveries of all apps at once.
  static let transfersMax = 4096

  /// Where the public listener listens; the configuration may have left the port to the system.
  public let publicPort: UInt16
  public let adminPort: UInt16
  /// Where the admin listener listens: its port, or the path of its socket.
  public let adminPlace: String

  let core: RelayCore
  let ledger: ConfigurationLedger
  let log: Log
  let clock: any Clock
  private let publicServer: Server
  private let adminServer: Server
  let alerter: Alerter

  /// Starts everything. When it returns, the listeners are open.
  /// - Parameters:
  ///   - makesNewDatabase: whether to begin with an empty database although files of an earlier one are
  ///     there.
  ///   - onMigration: called when the start begins with bringing the database's schema up to date.
  ///   - onSyncFailure: called when a write could not be made durable. The process must end then, at once:
  ///     what it would do further rests on a disk that did not do what it said.
  public init(
    _ configuration: Configuration, makesNewDatabase: Bool = false, log: Log,
    clock: any Clock = SystemClock(),
    onMigration: () -> Void = {}, onSyncFailure: @escaping @Sendable (String) -> Void
  ) throws(DaemonError) {
    let plan = try Self.alertPlan(configuration)
    (self.log, self.clock) = (log, clock)
    ledger = ConfigurationLedger(configuration, now: Timestamp(unixMilliseconds: clock.wallMilliseconds))
    let engine = try Engines.serve(
      configuration, makesNew: makesNewDatabase, log: log, clock: clock, onMigration: onMigration,
      onSyncFailure: { onSyncFailure($0.description) })
    let core = try RelayCore(
      configuration, engine,
      RelayDependencies(
        shared: Dependencies(log: log, clock: clock), transport: try Self.transport(Self.transfersMax),
        lookupTransport: try Self.transport(Enquirer.transfersMax),
        keyTransport: try Self.transport(KeyFetcher.transfersMax),
        onSyncFailure: { onSyncFailure($0.description) }))
    do throws(DaemonError) {
      try core.start()
      let services = ListenerServices(metrics: core.metrics, log: log, clock: clock)
      core.readiness.raise(.starting)
      let health = HealthMonitor(
        readiness: core.readiness, ledger: ledger, metrics: core.metrics,
        startedAt: Timestamp(unixMilliseconds: clock.wallMilliseconds),
        freeBytes: { engine.space.freeBytes })
      adminServer = try Self.server(
        Self.settings(configuration.admin), try Self.adminListener(configuration, core, services, health), log
      )
      var publicServices = services
      publicServices.proxies = TrustedProxies(prefixes: configuration.listen.proxies)
      let listener = core.publicListener(
        publicServices, configuration.limits, configuration.registry)
      do throws(DaemonError) {
        alerter = try Self.alerter(plan, core, health, log, clock)
        publicServer = try Self.server(try Self.settings(configuration), listener, log)
        core.use(publicServer.load)
        do throws(SystemError) {
          try alerter.start()
        } catch {
          publicServer.stop(graceMilliseconds: 0)
          throw DaemonError.unavailable("cannot start a thread (\(error))")
        }
      } catch {
        adminServer.stop(graceMilliseconds: 0)
        throw error
      }
    } catch {
      core.stop()
      throw error
    }
    self.core = core
    publicPort = publicServer.port
    adminPort = adminServer.port
    adminPlace = configuration.admin.socketPath ?? String(adminPort)
    core.readiness.clear(.starting)
    alerter.lookAtHealth()
  }

  private static func transport(_ connectionsMax: Int) throws(DaemonError) -> TransferPool {
    do throws(TransferFailure) {
      return try TransferPool(connectionsMax: connectionsMax)
    } catch {
      throw .unavailable("libcurl could not be set up (\(error))")
    }
  }

  private static func adminListener(
    _ configuration: Configuration, _ core: RelayCore, _ services: ListenerServices,
    _ health: HealthMonitor
  ) throws(DaemonError) -> Router {
    let access: AdminAccess
    let tokens: FormTokens
    do {
      access = try AdminAccess(configuration.admin, clock: services.clock)
      tokens = try FormTokens()
    } catch let fault as Fault {
      throw .configuration(fault)
    } catch {
      throw .unavailable("libcrypto could not be set up (\(error))")
    }
    let dashboard = Dashboard(
      services: services, apps: core.apps, committer: core.committer, health: health, tokens: tokens,
      reader: try RelayCore.reader(core.engine))
    let probes = ProbeRoutes(
      services: services, apps: core.apps, committer: core.committer, readiness: core.readiness,
      reader: Monitor(try RelayCore.reader(core.engine)),
      space: { [engine = core.engine] in engine.space }, gauges: core.listenerGauges)
    return .admin(services: services, access: access, probes: probes, dashboard: dashboard)
  }

  private static func settings(_ admin: Configuration.Admin) -> ServerConfiguration {
    var settings = ServerConfiguration(address: admin.address, port: admin.port)
    settings.socketPath = admin.socketPath
    settings.threads = 1
    settings.connections = 64
    settings.connectionsPerAddress = 64
    return settings
  }

  /// A body that is too long, up to this, is read and thrown away before the 413: many clients read no answer
  /// before they have sent everything, and would see a broken connection instead.
  private static let discardedBodyBytesMax: Int64 = 16 << 20

  private static func settings(_ configuration: Configuration) throws(DaemonError) -> ServerConfiguration {
    var settings = ServerConfiguration(address: configuration.listen.address, port: configuration.listen.port)
    settings.connections = configuration.limits.connections
    settings.connectionsPerAddress = configuration.limits.connectionsPerAddress
    // A proxy stands for all of its clients; what they may do is limited by their own addresses.
    settings.unlimitedPeers = configuration.listen.proxies
    settings.reservedConnections = configuration.limits.webhookConnections
    settings.requestTimeoutMilliseconds = configuration.limits.requestTimeoutMilliseconds
    settings.discardedBodyBytesMax = discardedBodyBytesMax
    // Two of the longest from one address, four in all, also where they are configured to be long.
    settings.bodyBytesTotalMax = max(settings.bodyBytesTotalMax, 4 * configuration.limits.webhookBodyBytes)
    if let tls = configuration.listen.tls {
      settings.tls = .init(
        certificatePEM: try pem(tls.certificatePath, key: "listen.tls.certificate"),
        keyPEM: try pem(tls.keyPath, key: "listen.tls.key"))
    }
    return settings
  }

  private static func pem(_ path: String, key: String) throws(DaemonError) -> String {
    do {
      let content = try FileReading.content(of: path, bytesMax: 1 << 20)
      if let text = String(validating: content.bytes, as: UTF8.self) { return text }
      throw DaemonError.configuration(Fault(path: key, message: "the file is not text"))
    } catch let error as SystemError {
      throw .configuration(Fault(path: key, message: "cannot be read: \(error.reason)"))
    } catch {
      throw .configuration(Fault(path: key, message: "the file is not text"))
    }
  }

  private static func server(
    _ settings: ServerConfiguration, _ handler: any RequestHandler, _ log: Log
  ) throws(DaemonError) -> Server {
    do throws(ServerError) {
      return try Server(settings, handler: handler) {
        log.debug($0)
      } warn: {
        log.warning($0 + "; raise LimitNOFILE= of the service, or lower limits.connections")
      }
    } catch {
      let place = settings.socketPath ?? "\(settings.address) port \(settings.port)"
      throw .unavailable("cannot listen on \(place): \(error)")
    }
  }

  /// New apps and settings, all of them or none. Listeners, limits and the database stay as they are until a
  /// restart.
  /// - Throws: `Fault`; then everything stays as it was.
  func reload(_ configuration: Configuration) throws {
    let plan = try AlertPlan(configuration)
    try core.reload(configuration)
    alerter.use(plan)
  }

  /// Another process changed the database.
  public func wake() { core.lookEverywhere() }

  /// Whether every part still moves: what the service manager's watchdog asks.
  public var isResponsive: Bool {
    core.committer.busyMilliseconds(now: MonotonicInstant.now()) < Readiness.stuckMilliseconds * 3
  }

  /// Accepts nothing more, finishes what is in flight, writes everything down, and returns when no thread is
  /// left.
  public func stop() {
    core.readiness.raise(.stopping)
    core.windDown()
    alerter.stop()
    publicServer.stop(graceMilliseconds: Self.graceMilliseconds)
    core.stop()
    adminServer.stop(graceMilliseconds: 0)
  }
}
