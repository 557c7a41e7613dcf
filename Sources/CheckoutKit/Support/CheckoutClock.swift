// The kit's source of time, replaceable so that tests need not wait. Thread-safe.

public import Foundation

/// The kit's source of time. Tests supply their own; an app uses ``SystemClock``.
public protocol CheckoutClock: Sendable {
  /// The wall clock, for timestamps.
  var date: Date { get }

  /// Seconds of a monotonic clock: changes of the wall clock do not affect it.
  var seconds: TimeInterval { get }

  /// Sleeps.
  /// - Throws: when the task is cancelled.
  func sleep(seconds: TimeInterval) async throws
}

/// The clock of the device.
public struct SystemClock: CheckoutClock {
  /// Creates the clock; it has no state.
  public init() {}

  /// The wall clock.
  public var date: Date { Date() }

  /// Seconds for which the device has been awake.
  public var seconds: TimeInterval {
    TimeInterval(DispatchTime.now().uptimeNanoseconds) / 1_000_000_000
  }

  /// Suspends the task, for a day at most.
  public func sleep(seconds: TimeInterval) async throws {
    // `Task.sleep(for:)` needs iOS 16.
    let bounded = seconds.isNaN ? 0 : min(max(0, seconds), 86_400)
    try await Task.sleep(nanoseconds: UInt64(bounded * 1_000_000_000))
  }
}
