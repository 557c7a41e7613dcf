// Whether the daemon can accept and store requests, and every reason why not: the one list for /readyz, the
// dashboard, the heartbeat and receiptctl's health lines. Thread-safe.

internal import Platform
public import Reports

/// Collects the reasons from the components that know them.
public final class Readiness: Sendable {
  /// A commit that takes longer is stuck.
  public static let stuckAfter: Duration = .seconds(10)

  /// Reports the reasons of one component. It must not block: /readyz calls it.
  public typealias Check = @Sendable () -> [ReadinessReason]

  private struct State {
    var raised: [ReadinessReason] = []
    var checks: [Check] = []
  }

  private let state = Monitor(State())

  public init() {}

  /// Adds the check of a component.
  public func add(_ check: @escaping Check) { state.withLock { $0.checks.append(check) } }

  /// Sets a reason until it is cleared. It replaces a reason of the same name.
  public func raise(_ reason: ReadinessReason) {
    state.withLock { state in
      state.raised.removeAll { $0.name == reason.name }
      state.raised.append(reason)
    }
  }

  /// Clears the reason of this name, whatever its values.
  public func clear(_ reason: ReadinessReason) {
    state.withLock { $0.raised.removeAll { $0.name == reason.name } }
  }

  /// Why the daemon is not ready; empty if it is.
  public func reasons() -> [ReadinessReason] {
    // The checks run without this lock, because each may acquire its own.
    let (raised, checks) = state.withLock { ($0.raised, $0.checks) }
    return raised + checks.flatMap { $0() }
  }
}
