// The alerter: looks for troubles every few seconds and tells whoever the configuration names, and says that
// all is well where that is asked for. One thread with its own connection to the database and its own
// transfers. It must never be waited for: whatever becomes of its destinations, no request and no delivery
// notices (R11).

public import Configuration
internal import Domain
public import HTTPClient
public import Platform
internal import Presentation
public import Store

/// An app as alerts speak of it: how its corrected secrets take effect.
struct AlertApp: Sendable {
  let slug: String
  let apiKey: SecretRefresh
  let webhookSecrets: SecretRefresh

  init(_ configuration: AppConfiguration) {
    slug = configuration.slug
    apiKey = configuration.purchasely.apiKey.refresh
    webhookSecrets = configuration.webhookSecretRefresh
  }
}

/// Who is told what, with the addresses at hand.
public struct AlertPlan: Sendable {
  /// One address.
  public struct Address: Sendable {
    /// As messages name it: the key of the configuration. The address may be a secret (R7).
    let label: String
    let url: String

    /// - Throws: `Fault` when it could not be read.
    init(_ to: Secret, label: String) throws(Fault) {
      self.label = label
      url = try to.reveal()
    }

    /// What the database knows it by.
    var digest: String { AlertNotice.digest(of: url) }
  }

  let alerts: [(alert: Configuration.Alert, address: Address)]
  let heartbeat: (everyMilliseconds: Int64, address: Address)?
  let apps: [AlertApp]

  /// - Throws: `Fault`.
  public init(_ configuration: Configuration) throws(Fault) {
    var alerts: [(Configuration.Alert, Address)] = []
    for (index, alert) in configuration.alerts.enumerated() {
      alerts.append((alert, try Address(alert.to, label: "alerts[\(index)]")))
    }
    self.alerts = alerts
    if let heartbeat = configuration.heartbeat {
      self.heartbeat = (heartbeat.everyMilliseconds, try Address(heartbeat.to, label: "heartbeat"))
    } else {
      heartbeat = nil
    }
    apps = configuration.apps.map(AlertApp.init)
  }
}

/// Tells of troubles.
public final class Alerter: Sendable {
  /// The shortest time between two looks; the longest is that of every thread (`Dependencies`).
  static let lookMillisecondsMin: Int64 = 100
  /// After a notice that did not arrive, the next try comes after this; the last one repeats.
  static let retryMilliseconds: [Int64] = [5000, 15_000, 60_000, 300_000]
  /// Between two notices to one address: what Slack asks for.
  static let paceMilliseconds: Int64 = 1000
  /// After a sign of life that could not be given, or did not arrive, the next try comes after this at most.
  static let beatRetryMilliseconds: Int64 = 10_000
  static let timeoutMilliseconds = 10_000
  /// At most as many alerts as there may be, and the heartbeat.
  public static let transfersMax = ConfigurationLimits.alerts.upperBound + 1

  /// What others have to say.
  struct Inbox: WorkerInbox {
    var plan: AlertPlan?
    /// Whether the writer moved when it was asked.
    var pulse: Bool?
    /// Whether the health may have changed.
    var isHealthDue = false
    var isStopping = false
  }

  let worker: Worker<Inbox>
  let sources: AlertSources
  let transport: any HTTPTransport
  let dependencies: Dependencies
  private let reader: Monitor<StoreReader?>
  private let plan: AlertPlan

  /// - Parameters:
  ///   - transport: the alerter's own.
  ///   - reader: a connection of its own.
  public init(
    _ plan: AlertPlan, sources: AlertSources, transport: any HTTPTransport, reader: sending StoreReader,
    dependencies: Dependencies
  ) {
    self.plan = plan
    self.sources = sources
    worker = Worker("alerter", inbox: Inbox()) { transport.wake() }
    self.transport = transport
    self.reader = Monitor(reader)
    self.dependencies = dependencies
  }

  public func start() throws(SystemError) {
    try worker.start { [self] in drive { run in run.loop() } }
  }

  /// Lets the caller's thread do the alerter's work.
  func drive(_ body: (inout AlerterRun) -> Void) {
    reader.withLock { reader in
      guard let reader else { return }
      var run = AlerterRun(self, reader: reader, plan: plan)
      body(&run)
    }
  }

  /// Has the health looked at now, and not with the next look.
  public func lookAtHealth() { worker.post { $0.isHealthDue = true } }

  /// New alerts and apps.
  public func use(_ plan: AlertPlan) { worker.post { $0.plan = plan } }

  /// Ends the thread. What was not told is found again after the next start.
  public func stop() {
    worker.stop()
    // The writer has to be the last to close the database, for it alone puts the log away.
    reader.withLock { $0 = nil }
  }
}
