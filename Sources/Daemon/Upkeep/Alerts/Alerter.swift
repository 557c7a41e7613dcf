// The alerter: checks for troubles every few seconds, notifies the configured addresses, and sends the
// heartbeat. One thread with its own database connection and its own transfers. No thread may wait for it: a
// failing alert address delays no request and no delivery (R11).

public import Config
internal import Domain
internal import Formats
public import HTTPClient
public import Platform
internal import Reports
public import Store

/// The configured alerts and heartbeat with their resolved addresses.
public struct AlertPlan: Sendable {
  /// The address of the heartbeat.
  struct Address {
    /// The key of the configuration, for messages: the address may be a secret (R7).
    let label: String
    let url: String
  }

  let alerts: [(alert: Configuration.Alert, target: AlertTarget)]
  let heartbeat: (every: Duration, address: Address)?
  let apps: [AppConfiguration]

  /// Reads the addresses and keys.
  /// - Throws: `Fault` if an address cannot be read.
  public init(_ configuration: Configuration) throws(Fault) {
    var alerts: [(Configuration.Alert, AlertTarget)] = []
    for (index, alert) in configuration.alerts.enumerated() {
      alerts.append((alert, try AlertTarget(alert, label: "alerts[\(index)]")))
    }
    self.alerts = alerts
    if let heartbeat = configuration.heartbeat {
      self.heartbeat = (heartbeat.every, Address(label: "heartbeat", url: try heartbeat.to.reveal()))
    } else {
      heartbeat = nil
    }
    apps = configuration.apps
  }
}

/// Sends notices of troubles. Thread-safe.
public final class Alerter: NetworkWorker {
  /// The shortest time between two checks; the longest is that of every worker (`Dependencies`).
  static let lookIntervalMin: Duration = .milliseconds(100)
  /// The pause before a check is repeated for which the database could not be read.
  static let faultPause: Duration = .seconds(1)
  /// Pauses after consecutive failures of a notice; the last one repeats.
  static let retryPauses: [Duration] = [.seconds(5), .seconds(15), .seconds(60), .minutes(5)]
  /// After this number of failures an address that is no longer configured is given up: in almost an hour.
  static let lastAttemptsMax = 12
  /// How often an instance that sends no alerts checks whether it has to.
  static let dutyPause: Duration = .seconds(1)
  /// Between two notices to one address, as Slack requires.
  static let paceInterval: Duration = .seconds(1)
  /// The longest pause after a heartbeat that was withheld or failed.
  static let beatRetryPause: Duration = .seconds(10)
  static let timeout: Duration = .seconds(10)
  static let connectTimeout: Duration = .seconds(5)
  /// One transfer for each alert, one for the heartbeat, and one for association files.
  public static let transfersMax = KeyRanges.alerts.upperBound + 2

  /// Messages from other threads.
  public struct Inbox: WorkerInbox {
    var plan: AlertPlan?
    /// Whether the committer answered the last pulse.
    var pulse: Bool?
    /// Whether the health may have changed.
    var isHealthDue = false
    public var isStopping = false
  }

  public let worker: Worker<Inbox>
  let sources: AlertSources
  let transport: any HTTPTransport
  let dependencies: Dependencies
  /// Only one of several instances on a database sends alerts and the heartbeat.
  let ownership: any Ownership
  private let reader: Monitor<StoreReader?>
  /// The plan at the start.
  let plan: AlertPlan

  /// - Parameters:
  ///   - transport: used by the alerter only.
  ///   - reader: a connection that only the alerter uses.
  public init(
    _ plan: AlertPlan, sources: AlertSources, transport: any HTTPTransport, reader: sending StoreReader,
    dependencies: Dependencies, ownership: any Ownership = SoleOwner()
  ) {
    self.plan = plan
    self.ownership = ownership
    self.sources = sources
    worker = Worker("alerter", inbox: Inbox()) { transport.wake() }
    self.transport = transport
    self.reader = Monitor(reader)
    self.dependencies = dependencies
  }

  public func drive<Failure: Error>(
    _ body: (inout AlerterRun) throws(Failure) -> Void
  ) throws(Failure) {
    try reader.withLock { reader throws(Failure) in
      guard let reader else { return }
      var run = AlerterRun(self, reader: reader)
      try body(&run)
    }
  }

  /// Checks whether this instance sends alerts now.
  public func checkOwnership() { worker.post { _ in } }

  /// Requests a health check now instead of at its due time.
  public func checkHealth() { worker.post { $0.isHealthDue = true } }

  /// Installs new alerts and apps.
  public func use(_ plan: AlertPlan) { worker.post { $0.plan = plan } }

  /// Ends the thread. Troubles that were not sent are found again after the next start.
  public func stop() {
    worker.stop()
    // The writer must close the database last: only it removes the log.
    reader.withLock { $0 = nil }
  }
}
