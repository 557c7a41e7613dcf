// The recent growth of counters. A value; one thread.

internal import Formats
public import Platform

/// The growth of counters within the last hour, snapshot by snapshot.
public struct RecentCounts {
  /// The longest window.
  public static let windowMax: Duration = .hours(1)

  private var last: [LabelValues: UInt64] = [:]
  private var steps: [(at: MonotonicInstant, growth: [LabelValues: UInt64])] = []

  public init(
    last: [LabelValues: UInt64] = [:], steps: [(at: MonotonicInstant, growth: [LabelValues: UInt64])] = []
  ) {
    self.last = last
    self.steps = steps
  }

  /// Records the counters' current values.
  public mutating func record(_ counts: [LabelValues: UInt64], now: MonotonicInstant) {
    let growth = counts.filter { $0.value > last[$0.key, default: 0] }
      .reduce(into: [:]) { $0[$1.key] = $1.value - last[$1.key, default: 0] }
    last = counts
    if !growth.isEmpty { steps.append((now, growth)) }
    steps.removeAll { now.duration(since: $0.at) > Self.windowMax }
  }

  /// The growth within this time.
  public func growth(within time: Duration, now: MonotonicInstant) -> [LabelValues: UInt64] {
    steps.filter { now.duration(since: $0.at) < time }
      .reduce(into: [:]) { $0.merge($1.growth, uniquingKeysWith: +) }
  }
}
