// The recent growth of counters. A value; one thread.

public import Platform

/// The growth of counters within the last hour, snapshot by snapshot.
public struct RecentCounts {
  /// The longest window.
  public static let windowMillisecondsMax: Int64 = 3_600_000

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
    steps.removeAll { now.milliseconds(since: $0.at) > Self.windowMillisecondsMax }
  }

  /// The growth within a number of milliseconds.
  public func growth(within milliseconds: Int64, now: MonotonicInstant) -> [LabelValues: UInt64] {
    steps.filter { now.milliseconds(since: $0.at) < milliseconds }
      .reduce(into: [:]) { $0.merge($1.growth, uniquingKeysWith: +) }
  }
}
