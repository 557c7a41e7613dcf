// How right the clock is, as the dates of the destinations' answers show it, for alerts. Thread-safe.

public import Domain
internal import Formats
public import Platform

/// How far this machine's clock was ahead of the servers that answered.
public final class ClockSamples: Sendable {
  /// Between two samples of one destination.
  private static let pause: Duration = .minutes(1)
  /// Older samples say nothing of the clock now.
  private static let memory: Duration = .hours(1)
  private static let samplesMax = 60

  private struct Sample {
    var place: AppDestination
    var at: MonotonicInstant
    var offset: Duration
  }

  private let samples = Monitor<[Sample]>([])

  /// Whether another sample of this destination is wanted.
  public func wantsSample(of place: AppDestination, now: MonotonicInstant) -> Bool {
    samples.withLock { samples in
      !samples.contains { $0.place == place && now.duration(since: $0.at) < Self.pause }
    }
  }

  /// - Parameter offset: positive where this machine's clock is ahead.
  public func note(_ offset: Duration, from place: AppDestination, now: MonotonicInstant) {
    samples.withLock { samples in
      samples.removeAll { now.duration(since: $0.at) > Self.memory }
      if samples.count >= Self.samplesMax { samples.removeFirst() }
      samples.append(Sample(place: place, at: now, offset: offset))
    }
  }

  /// The offset of the last hour; nil with too few samples.
  public func offset(now: MonotonicInstant) -> Duration? {
    let recent = samples.withLock { $0 }.filter { now.duration(since: $0.at) <= Self.memory }
    return ClockOffset.median(recent.map(\.offset))
  }
}
