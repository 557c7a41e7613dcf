// The configuration that the process was started with, the current one, and the result of the last reload.
// Thread-safe.

public import Config
public import Domain
public import Platform

/// The configurations of one run.
public final class ConfigurationLedger: Sendable {
  /// The current configuration.
  public struct Current: Sendable {
    var generation: Int64 = 1
    var appliedAt: Timestamp
    var lastReload: ReloadReport?
    /// Keys of the current configuration that only a restart applies.
    var needsRestart: [String] = []
    /// Its secrets show only their sources.
    fileprivate(set) var configuration: Configuration
    fileprivate var snapshot: ConfigurationSnapshot
    /// `Configuration.digest`, which takes some time to compute.
    fileprivate(set) var digest: String
  }

  private let started: ConfigurationSnapshot
  private let state: Monitor<Current>

  public init(_ configuration: Configuration, now: Timestamp) {
    started = ConfigurationSnapshot(configuration)
    state = Monitor(
      Current(
        appliedAt: now, configuration: configuration, snapshot: started, digest: configuration.digest))
  }

  var current: Current { state.withLock { $0 } }

  /// Records that a configuration was applied.
  public func applied(_ loaded: LoadedConfiguration, began: MonotonicInstant, now: Timestamp) -> ReloadReport
  {
    let snapshot = ConfigurationSnapshot(loaded.configuration)
    let (started, digest) = (started, loaded.configuration.digest)
    return state.withLock { current in
      current.generation += 1
      current.appliedAt = now
      var report = ReloadReport(at: now, began: began, generation: current.generation)
      report.warnings = loaded.warnings
      report.changed = current.snapshot.changes(to: snapshot).reloadable
      report.needsRestart = started.changes(to: snapshot).fixed
      report.keptSecrets = loaded.configuration.secrets.filter(\.secret.isFixedUntilRestart)
        .map { "\($0.path) (\($0.secret))" }
      (current.snapshot, current.digest) = (snapshot, digest)
      current.configuration = loaded.configuration
      current.needsRestart = report.needsRestart
      current.lastReload = report
      return report
    }
  }

  /// Records that a configuration was refused; the previous one stays.
  public func refused(_ faults: ConfigurationFaults, began: MonotonicInstant, now: Timestamp) -> ReloadReport
  {
    state.withLock { current in
      var report = ReloadReport(at: now, began: began, generation: current.generation)
      (report.faults, report.warnings) = (faults.faults, faults.warnings)
      current.lastReload = report
      return report
    }
  }
}
