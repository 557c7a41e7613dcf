// Time as the kit sees it, so that tests need not wait. Any thread.

public import Foundation

/// Where the kit takes time from. Give your own to tests; an app leaves it at ``SystemClock``.
public protocol CheckoutClock: Sendable {
  /// The wall clock, for what a server or a person calls a time.
  var date: Date { get }

  /// Seconds since some moment, which no change of the wall clock moves.
  var seconds: TimeInterval { get }

  /// Waits.
  /// - Throws: when the task is cancelled meanwhile.
  func sleep(seconds: TimeInterval) async throws
}

/// The clock of the device.
public struct SystemClock: CheckoutClock {
  /// Makes the clock; all of them are alike.
  public init() {}

  /// Now.
  public var date: Date { Date() }

  /// Seconds for which the device has been awake.
  public var seconds: TimeInterval {
    TimeInterval(DispatchTime.now().uptimeNanoseconds) / 1_000_000_000
  }

  /// Sleeps the task, a day at most.
  public func sleep(seconds: TimeInterval) async throws {
    // `Task.sleep(for:)` needs iOS 16.
    let bounded = seconds.isNaN ? 0 : min(max(0, seconds), 86_400)
    try await Task.sleep(nanoseconds: UInt64(bounded * 1_000_000_000))
  }
}
