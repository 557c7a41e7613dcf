// What the housekeeper does for requests that wait for a change (long polling), without knowing what they
// wait for.

public import Platform

/// Requests that wait. Any thread.
public protocol WaitingRequests: Sendable {
  /// Any of them may be due: another process wrote to the database.
  func noteEveryoneChanged()
  /// Answers those that are due.
  /// - Returns: when to look again; nil when nobody waits.
  func attend() -> MonotonicInstant?
  /// Answers all of them with what is known, now and from now on: the daemon stops.
  func dismissAll()
}
