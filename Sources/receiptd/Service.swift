// The running daemon's inputs besides the network: signals, and the service manager's watchdog. The main
// thread.

import Daemon
internal import Formats
import Platform

/// Runs a daemon until a signal stops it.
struct Service {
  /// The wake-up interval without a watchdog; nothing depends on it.
  private static let wakeInterval: Duration = .hours(1)

  private let daemon: Daemon
  private let log: Log
  private let path: String
  private let notifier = ServiceNotifier()

  init(_ daemon: Daemon, log: Log, path: String) {
    self.daemon = daemon
    self.log = log
    self.path = path
  }

  func run() {
    notifier.ready(status: "serving on port \(daemon.publicPort)")
    // Much code runs only at the start.
    MemoryPolicy.releaseUnused()
    // Twice the required frequency, as sd_watchdog_enabled(3) advises.
    let interval = notifier.watchdogInterval.map { max(.milliseconds(1), $0 / 2) } ?? Self.wakeInterval
    while true {
      switch Signals.wait(for: interval) {
      case .stop:
        log.info("stopping")
        notifier.stopping(status: "finishing what is in flight")
        daemon.stop()
        log.info("stopped")
        return
      case .reload: reload()
      case .wake: daemon.wake()
      case nil: break
      }
      // No watchdog message while a write is stuck: the manager then restarts the daemon, which recovers.
      if notifier.watchdogInterval != nil, daemon.isResponsive { notifier.watchdog() }
    }
  }

  /// All or nothing: a configuration with any fault changes nothing.
  private func reload() {
    notifier.reloading(now: .now())
    defer { notifier.ready(status: "serving on port \(daemon.publicPort)") }
    daemon.reload(path: path)
  }
}
