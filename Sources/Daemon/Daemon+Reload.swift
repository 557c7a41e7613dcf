// Reloads the configuration and reports the result. The main thread.

internal import Config
internal import Domain
internal import Platform
public import Service
internal import Store
internal import Upkeep

extension Daemon {
  /// Reads the configuration and applies it completely, or keeps the previous one. Logs the result and stores
  /// it in the database. Listeners, limits, log and database do not change until a restart.
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
