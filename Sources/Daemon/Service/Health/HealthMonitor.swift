// Makes the health report of this process and decides when to store it. The alerter's thread updates it; the
// dashboard reads it.

public import Config
public import Domain
public import Platform
internal import Reports

/// The health of this process. Thread-safe.
public final class HealthMonitor: Sendable {
  /// Between two checks.
  public static let lookInterval: Duration = .seconds(5)
  /// The most faults of a refused reload in a report.
  private static let faultsMax = 3

  private struct State {
    var refused = RecentCounts()
    var accepted = RecentCounts()
    var clients = RecentCounts()
    var contexts = RecentCounts()
    var troubled = RecentCounts()
    /// When the counters were last read.
    var lookedAt = MonotonicInstant(nanoseconds: 0)
    var freeBytes: Int64?
    var receivers: [String: HealthReport.Receiver] = [:]
    var associations: [BrokenAssociation] = []
    var backup: HealthReport.Backup?
    var stored: (report: HealthReport, at: MonotonicInstant)?
  }

  private let readiness: Readiness
  private let ledger: ConfigurationLedger
  private let metrics: Metrics
  private let freeBytes: @Sendable () -> Int64?
  private let startedAt: Timestamp
  private let openFiles: Int?
  private let proxy: String?
  private let fileSystem: String?
  private let state = Monitor(State())

  /// - Parameters:
  ///   - openFiles: how many files the process may open; nil if there is no limit.
  ///   - fileSystem: the network file system that the database file is on; nil if its disk is local.
  public init(
    readiness: Readiness, ledger: ConfigurationLedger, metrics: Metrics, startedAt: Timestamp,
    openFiles: Int? = nil, proxy: String? = nil, fileSystem: String? = nil,
    freeBytes: @escaping @Sendable () -> Int64?
  ) {
    (self.proxy, self.fileSystem) = (proxy, fileSystem)
    (self.readiness, self.ledger, self.metrics) = (readiness, ledger, metrics)
    (self.startedAt, self.openFiles, self.freeBytes) = (startedAt, openFiles, freeBytes)
  }

  /// The configuration in force.
  public var configuration: Configuration { ledger.current.configuration }

  /// The current report; its counters and free space are those of the last check.
  public func report(now: Timestamp) -> HealthReport {
    let current = ledger.current
    var report = HealthReport(
      at: now, version: Version.number, startedAt: startedAt, configuredAt: current.appliedAt)
    report.reasons = readiness.reasons().map { .init(name: $0.name, text: $0.text, advice: $0.advice) }
    report.generation = current.generation
    state.withLock { state in
      func growth(_ counts: RecentCounts) -> [LabelValues: UInt64] {
        counts.growth(within: RecentCounts.windowMax, now: state.lookedAt)
      }
      (report.freeBytes, report.receivers) = (state.freeBytes, state.receivers)
      (report.associations, report.backup) = (state.associations, state.backup)
      report.refusedWebhooks = Metrics.refusals(growth(state.refused))
      report.acceptedWebhooks = Metrics.accepted(growth(state.accepted))
      report.refusedContexts = Metrics.clientRefusals(growth(state.clients))
      report.storedContexts = Metrics.storedContexts(growth(state.contexts))
      report.processorTroubles = Metrics.troubles(growth(state.troubled))
    }
    (report.proxy, report.destinations) = (proxy, metrics.contacts.all)
    report.fileSystem = fileSystem
    report.configurationDigest = current.digest
    report.apps = current.configuration.apps.map(\.slug)
    let limits = current.configuration.limits
    let served = limits.fitting(openFiles: openFiles).connections
    if served < limits.connections { report.loweredConnections = Int64(served) }
    report.needsRestart = current.needsRestart
    if let reload = current.lastReload, reload.isRefused {
      var faults = reload.faults.prefix(Self.faultsMax).map(\.description)
      let more = reload.faults.count - faults.count
      if more > 0 { faults.append("and \(more) more") }
      report.refusedReload = .init(at: reload.at, faults: faults)
    }
    return report
  }

  /// Updates counters and free space.
  /// - Returns: the report if it must be stored now: once a minute, and at once after a change.
  public func check(now: Timestamp, monotonic: MonotonicInstant) -> HealthReport? {
    let free = freeBytes()
    state.withLock { state in
      state.refused.record(metrics.signatureFailures.snapshot(), now: monotonic)
      state.accepted.record(metrics.events.snapshot(), now: monotonic)
      state.clients.record(metrics.clientRefusals.snapshot(), now: monotonic)
      state.contexts.record(metrics.contexts.snapshot(), now: monotonic)
      state.troubled.record(metrics.processorTroubles, now: monotonic)
      (state.freeBytes, state.lookedAt) = (free, monotonic)
    }
    let report = report(now: now)
    return state.withLock { state in
      if let stored = state.stored, !report.isNews(after: stored.report),
        monotonic.duration(since: stored.at) < HealthReport.interval
      {
        return nil
      }
      state.stored = (report, monotonic)
      return report
    }
  }

  /// Records an attempt to notify a receiver of alerts.
  /// - Parameters:
  ///   - digest: of its address.
  ///   - failure: why it failed; nil if the notice was accepted.
  public func notified(_ digest: String, failure: String?, at now: Timestamp) {
    state.withLock { state in
      var receiver = state.receivers[digest] ?? HealthReport.Receiver()
      if let failure {
        (receiver.failedAt, receiver.failure) = (now, failure)
      } else {
        receiver.sentAt = now
      }
      state.receivers[digest] = receiver
    }
  }

  /// Records the association files that are not as configured.
  public func found(_ associations: [BrokenAssociation]) {
    state.withLock { $0.associations = associations }
  }

  /// Records what became of the scheduled backups.
  public func backup(_ change: (inout HealthReport.Backup?) -> Void) {
    state.withLock { change(&$0.backup) }
  }

  /// Adds what an earlier process stored about the receivers of alerts, and about a program that got no copy
  /// since.
  public func restore(_ earlier: HealthReport) {
    let hasBackups = configuration.backup != nil
    state.withLock { state in
      state.receivers.merge(earlier.receivers) { own, _ in own }
      guard hasBackups, let backup = earlier.backup else { return }
      if state.backup == nil {
        state.backup = backup
        state.backup?.fault = nil
      }
      let own = state.backup?.programFault
      state.backup?.programFault = own ?? backup.programFault
    }
  }

  /// Records that the last report was not stored: the next check returns another one.
  public func couldNotStore() { state.withLock { $0.stored = nil } }
}
