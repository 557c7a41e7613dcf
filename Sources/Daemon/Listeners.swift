// The two listeners: how they are set up, their routes, and who may use them. The main thread.

internal import Config
internal import Cryptography
internal import Domain
internal import HTTPServer
internal import Platform
internal import Reports
internal import Service
internal import Store
internal import Upkeep
internal import Web

/// Opens the listeners.
enum Listeners {
  /// Opens the listener for operators and their machines.
  static func admin(
    _ configuration: Configuration, _ core: RelayCore, _ services: ListenerServices, _ health: HealthMonitor,
    _ sockets: PassedSockets
  ) throws(DaemonError) -> Server {
    let routes = try adminRoutes(configuration, core, services, health)
    var settings = settings(configuration.admin)
    settings.inheritedSocket = sockets.admin
    return try server(settings, routes, services.log)
  }

  /// Opens the listener for apps, payment processors, customers and devices.
  static func `public`(
    _ configuration: Configuration, _ core: RelayCore, _ services: ListenerServices, _ sockets: PassedSockets
  ) throws(DaemonError) -> Server {
    var services = services
    services.proxies = TrustedProxies(prefixes: configuration.listen.proxies)
    let routes = core.publicListener(services, configuration.limits, configuration.registry)
    var settings = try settings(configuration)
    settings.inheritedSocket = sockets.public
    if settings.connections < configuration.limits.connections {
      services.log.warning(
        "too few files may be opened for limits.connections; raise LimitNOFILE= of the service, or lower "
          + "limits.connections",
        [
          "files": ProcessLimits.openFiles.map(String.init),
          "configured": String(configuration.limits.connections),
          "served": String(settings.connections),
        ])
    }
    if let identity = settings.tls { note(identity, services.metrics) }
    return try server(settings, routes, services.log)
  }

  private static func adminRoutes(
    _ configuration: Configuration, _ core: RelayCore, _ services: ListenerServices,
    _ health: HealthMonitor
  ) throws(DaemonError) -> Router {
    let key = AdminKey(try RelayCore.reader(core.engine))
    let access: AdminAccess
    do throws(Fault) {
      access = try AdminAccess(configuration.admin, key: key, clock: services.clock)
    } catch {
      throw .configuration(error)
    }
    let dashboard = Dashboard(
      services: services, apps: core.apps, committer: core.committer, health: health,
      tokens: FormTokens(key: key), alerts: alertFacts, reader: try RelayCore.reader(core.engine))
    let probes = ProbeRoutes(
      services: services, apps: core.apps, committer: core.committer, readiness: core.readiness,
      reader: Monitor(try RelayCore.reader(core.engine)),
      space: { [engine = core.engine] in engine.space }, gauges: core.listenerGauges)
    return .admin(
      services: services, access: access, probes: probes, dashboard: dashboard, thread: core.pageThread)
  }

  private static var alertFacts: AlertFacts {
    let finder = TroubleFinder()
    return AlertFacts { configuration, reader, stored, health, now throws(StoreFault) in
      try finder.troubles(configuration, reader: reader, stored: stored, health: health, now: now)
    } digest: { alert in
      try? AlertTarget(alert, label: "").digest
    }
  }

  /// The connections of the admin listener: some browsers, monitoring and receiptctl. They may all come from
  /// one address.
  private static let adminConnections = 64

  private static func settings(_ admin: Configuration.Admin) -> ServerConfiguration {
    var settings = ServerConfiguration(address: admin.address, port: admin.port)
    settings.socketPath = admin.socketPath
    settings.threads = 1
    settings.connections = adminConnections
    settings.connectionsPerAddress = adminConnections
    return settings
  }

  /// A body that exceeds the limit is read and discarded up to this size before the 413. Many clients read no
  /// answer before they have sent the whole body, and would report a broken connection.
  private static let discardedBodyBytesMax: Int64 = 16 << 20

  private static func settings(_ configuration: Configuration) throws(DaemonError) -> ServerConfiguration {
    var settings = ServerConfiguration(address: configuration.listen.address, port: configuration.listen.port)
    let limits = configuration.limits.served
    settings.connections = limits.connections
    settings.connectionsPerAddress = limits.connectionsPerAddress
    // A proxy's connections come from many clients, which are limited by their own addresses.
    settings.unlimitedPeers = configuration.listen.proxies
    settings.reservedConnections = limits.webhookConnections
    settings.requestTimeout = configuration.limits.requestTimeout
    settings.discardedBodyBytesMax = discardedBodyBytesMax
    // Room for four bodies of the largest configured size, two of them from one address.
    settings.bodyBytesTotalMax = max(settings.bodyBytesTotalMax, 4 * configuration.limits.webhookBodyBytes)
    do throws(Fault) {
      settings.tls = try configuration.listen.tls.map(identity)
    } catch {
      throw .configuration(error)
    }
    return settings
  }

  /// The certificate and the key that their files have now.
  private static func identity(
    _ tls: Configuration.TLS
  ) throws(Fault) -> ServerConfiguration.Identity {
    .init(
      certificatePEM: try pem(tls.certificatePath, key: "listen.tls.certificate"),
      keyPEM: try pem(tls.keyPath, key: "listen.tls.key"))
  }

  private static func pem(_ path: String, key: String) throws(Fault) -> String {
    let content: FileContent
    do throws(SystemError) {
      content = try FileReading.content(of: path, bytesMax: KeyRanges.pemFileBytesMax)
    } catch {
      throw Fault(path: key, message: "cannot be read: \(error.reason)")
    }
    guard let text = String(validating: content.bytes, as: UTF8.self) else {
      throw Fault(path: key, message: "the file is not text")
    }
    return text
  }

  /// The certificate and the key for a reload; nil if the listener has them already, or no TLS.
  static func nextIdentity(
    _ configuration: Configuration, of server: Server
  ) throws(Fault) -> NextIdentity? {
    guard let tls = configuration.listen.tls else { return nil }
    let identity = try identity(tls)
    do throws(ServerError) {
      return try server.prepare(identity)
    } catch {
      throw Fault(
        path: "listen.tls", message: "cannot be used (\(error)); see that the key belongs to the certificate")
    }
  }

  static func note(_ identity: ServerConfiguration.Identity, _ metrics: Metrics) {
    guard let certificate = try? Certificate(pem: Array(identity.certificatePEM.utf8)) else { return }
    metrics.certificates.note(Timestamp(unixMilliseconds: certificate.expiresAt), of: .listener)
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
}

extension Router {
  /// For apps, payment processors, customers and devices.
  static func `public`(services: ListenerServices, intake: IntakeRoutes, pages: PublicPageRoutes) -> Router {
    Router(
      services: services, routes: intake.routes + pages.routes, roots: intake.problemRoots,
      pageOrigins: intake.pageOrigins)
  }

  /// For operators and their machines. Without the password, the answers do not disclose which paths exist.
  static func admin(
    services: ListenerServices, access: AdminAccess, probes: ProbeRoutes, dashboard: Dashboard,
    thread: PageThread
  ) -> Router {
    let routes = (probes.routes + dashboard.routes + dashboard.apiRoutes).map { route in
      ProbeRoutes.openLabels.contains(route.label) ? route : thread.serve(route)
    }
    let api = ProblemRoot(Dashboard.apiRoot) { problem, requestID, _ in problem.response(requestID: requestID)
    }
    return Router(services: services, routes: routes, roots: [api]) { head, route throws(Problem) in
      if let route, ProbeRoutes.openLabels.contains(route.label) { return Visitor(name: "") }
      let visitor: Visitor
      do throws(Problem) {
        let isProgram = route?.label == Dashboard.apiLabel || api.contains(head.path)
        visitor = try access.visitor(head, isProgram: isProgram).get()
      } catch {
        if error.status == 401, head.header("Authorization") != nil {
          services.requestLog.refusedPassword(from: head.remoteAddress)
        }
        throw error
      }
      if !visitor.mayChange, !Route.reading.contains(head.method), route?.changesNothing != true {
        throw .operatorsOnly
      }
      return visitor
    } refusal: { problem, route, requestID in
      // A browser gets a page, also for an unknown path.
      route.map { $0.label == Dashboard.label || $0.label == Dashboard.liveLabel } ?? true
        ? problem.page(requestID: requestID) : problem.response(requestID: requestID)
    }
  }
}

extension RelayCore {
  /// The routes of the public listener.
  func publicListener(
    _ services: ListenerServices, _ limits: Configuration.Limits, _ processors: ProcessorRegistry
  ) -> Router {
    let intake = IntakeRoutes(
      services: services, limits: limits, apps: apps, committer: committer, checkouts: checkoutPolls,
      keyFetcher: keyFetcher, backendWorker: backendWorker, processors: processors,
      retention: contextRetention)
    return .public(services: services, intake: intake, pages: pages(services))
  }

  func pages(_ services: ListenerServices) -> PublicPageRoutes {
    PublicPageRoutes(apps: apps, associations: associations, clock: services.clock) {
      [checkoutPolls] names, app, requestID throws(StoreFault) in
      try checkoutPolls.statuses(of: names, app: app, requestID: requestID)
    } findClaim: { [checkoutPolls] token, app, requestID throws(StoreFault) in
      try checkoutPolls.openClaim(token, app: app, requestID: requestID)
    } summarize: { [checkoutPolls] receiptID, app, requestID in
      checkoutPolls.summary(of: receiptID, app: app, requestID: requestID)
    }
  }

  /// Called when the public listener is open. Without free connections the relay is not ready.
  func use(_ load: @escaping @Sendable () -> ServerLoad) {
    publicLoad.withLock { $0 = load }
    readiness.add {
      let load = load()
      return load.isFull ? [.noFreeConnections(inUse: load.connections)] : []
    }
  }

  /// The load of the public listener. The closure holds no strong reference to the core: SQLite closes its
  /// files when the last owner is gone, and the writer must be the last.
  var listenerGauges: @Sendable () -> ListenerGauges {
    { [publicLoad, weak checkoutPolls] in
      let load = publicLoad.withLock { $0 }?()
      return ListenerGauges(
        load: load ?? ServerLoad(connections: 0, connectionsMax: 0),
        longPolls: checkoutPolls?.waitingCount ?? 0)
    }
  }
}

// MARK: - PassedSockets

// Which of the sockets that the service manager passed on belongs to which listener. Pure.

/// The passed sockets of the two listeners; nil where none was passed.
struct PassedSockets {
  var `public`: InheritedSocket?
  var admin: InheritedSocket?

  /// Assigns each socket to the listener whose address it has, so the configuration stays the one place that
  /// says which listener is where.
  /// - Throws: if a socket has the address of neither listener.
  init(_ sockets: [InheritedSocket], _ configuration: Configuration) throws(DaemonError) {
    let listen = Self.place(configuration.listen.address, configuration.listen.port)
    let admin =
      configuration.admin.socketPath.map { .file($0) }
      ?? Self.place(configuration.admin.address, configuration.admin.port)
    for socket in sockets {
      if socket.place == listen {
        self.public = socket
      } else if socket.place == admin {
        self.admin = socket
      } else {
        throw .configuration(
          Fault(
            path: "listen",
            message: "the service manager passed a socket that listens on \(socket.place), which is neither "
              + "the address and port of listen nor that of admin; write the same into the socket unit "
              + "(ListenStream=) and into the configuration"))
      }
    }
  }

  private static func place(_ address: String, _ port: UInt16) -> InheritedSocket.Place? {
    IPAddress(address).map { .address($0, port: port) }
  }
}
