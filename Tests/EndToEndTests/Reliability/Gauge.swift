// The memory and the descriptors of a process under load, as the kernel counts them. Its own thread samples
// them.

import Glibc
import Platform

/// Samples a process until it is stopped. Owns its thread.
final class Gauge {
  struct Peak: Sendable {
    var descriptors = 0
    fileprivate var isOver = false
  }

  private let peak = Monitor(Peak())
  private let thread: WorkerThread
  private static let interval: Duration = .milliseconds(20)

  init(descriptorsOf process: pid_t) throws {
    let peak = peak
    thread = try WorkerThread(name: "gauge") {
      while true {
        let count = ChildProcess.descriptors(of: process)
        let isOver = peak.withLock { peak in
          peak.descriptors = max(peak.descriptors, count)
          return peak.isOver
        }
        if isOver { return }
        let next = MonotonicInstant.now().advanced(by: Self.interval)
        let _: Bool? = peak.wait(until: next) { $0.isOver ? true : nil }
      }
    }
  }

  /// The most descriptors that were open.
  func stop() -> Int {
    peak.update { $0.isOver = true }
    thread.join()
    return peak.withLock { $0.descriptors }
  }
}
