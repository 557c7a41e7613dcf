// Why the committer cannot store requests, as readiness reasons. Called from any thread.

public import Platform
public import Reports
internal import Store

extension Committer {
  /// Why it cannot store requests; empty if it can.
  public func unreadiness(now: MonotonicInstant) -> [ReadinessReason] {
    var reasons: [ReadinessReason] = []
    if isDiskFull {
      reasons.append(.diskFull)
    } else if let fault, ![.moved, .corrupt, .unreachable, .unavailable].contains(fault.kind) {
      // Those faults have their own reasons, which clear when they are over.
      reasons.append(.writeFailed(fault.kind))
    }
    if !hasRoom { reasons.append(.queueFull) }
    let busy = busyTime(now: now)
    if busy > Readiness.stuckAfter { reasons.append(.writeStuck(seconds: busy.components.seconds)) }
    return reasons
  }
}
