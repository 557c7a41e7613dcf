// The housekeeper's interface to requests that wait for a change (long polls), without knowing what they wait
// for.

public import Platform

/// Waiting requests. Thread-safe.
public protocol WaitingRequests: Sendable {
  /// Notes that any of them may be due, because another process wrote to the database.
  func noteAllChanged()
  /// Answers the requests that are due.
  /// - Returns: when to check again; nil if no request waits.
  func completeDue() -> MonotonicInstant?
  /// Answers all requests with the current state, and each later request at once. For the stop of the daemon.
  func answerAll()
}
