// How long something took, counted in logarithmic buckets: a quantile of any number of values is known within
// 5 %. The buckets are those of DDSketch (Masson, Rim, Lee: "DDSketch: A Fast and Fully-Mergeable Quantile
// Sketch with Relative-Error Guarantees", PVLDB 12, 2019, https://arxiv.org/abs/1908.10693). Pure; any
// thread.

internal import Formats

/// The buckets: number 0 is 1 ms and less, and each other one reaches further by the same factor.
public enum LatencyBuckets {
  /// The relative error of a quantile.
  public static let errorMax = 0.05
  private static let growth = (1 + errorMax) / (1 - errorMax)
  /// The longest time that is distinguished: a failed receipt may be replayed after weeks.
  private static let longest: Duration = .days(60)

  /// The upper bound of each bucket, in milliseconds, ascending.
  private static let bounds: [Double] = {
    var bounds = [1.0]
    while let last = bounds.last, last < Double(longest.milliseconds) { bounds.append(last * growth) }
    return bounds
  }()

  /// The number of the bucket of a time.
  public static func bucket(of time: Duration) -> Int64 {
    let milliseconds = Double(time.milliseconds)
    // The first bound that is not smaller.
    var (low, high) = (0, bounds.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if bounds[middle] < milliseconds { low = middle + 1 } else { high = middle }
    }
    return Int64(low)
  }

  /// The time that stands for all times of a bucket.
  public static func time(ofBucket bucket: Int64) -> Duration {
    let bound = bounds[min(max(0, Int(clamping: bucket)), bounds.count - 1)]
    // Both ends of the bucket differ from it by the same share. The first bucket has one value.
    let milliseconds = bucket > 0 ? 2 * bound / (growth + 1) : bound
    return .microseconds(Int64((milliseconds * 1000).rounded()))
  }
}

/// How many times there were in each bucket.
public struct LatencyCounts: Sendable, Equatable {
  public private(set) var byBucket: [Int64: Int64] = [:]
  /// How many there were in all.
  public private(set) var total: Int64 = 0

  public init() {}

  public mutating func add(_ count: Int64, toBucket bucket: Int64) {
    byBucket[bucket, default: 0] += count
    total += count
  }

  public static func + (left: Self, right: Self) -> Self {
    var sum = left
    for (bucket, count) in right.byBucket { sum.add(count, toBucket: bucket) }
    return sum
  }

  /// The smallest time that this share of the times does not exceed, within `LatencyBuckets.errorMax`; nil
  /// without times.
  /// - Parameter share: 0.5 is the median.
  public func quantile(_ share: Double) -> Duration? {
    let rank = max(1, Int64((Double(total) * share).rounded(.up)))
    var below: Int64 = 0
    for (bucket, count) in byBucket.sorted(by: { $0.key < $1.key }) {
      below += count
      if below >= rank { return LatencyBuckets.time(ofBucket: bucket) }
    }
    return nil
  }
}

/// What became of the attempts to deliver to one place in a period.
public struct DeliveryLatencies: Sendable, Equatable {
  /// What is counted.
  public enum Kind: Int64, Sendable, CaseIterable {
    /// Attempts that the destination accepted, from the request to the whole answer.
    case accepted = 0
    /// Those that failed, with or without an answer.
    case failed = 1
    /// From the payment to the first delivery.
    case sincePayment = 2
  }

  public var accepted = LatencyCounts()
  public var failed = LatencyCounts()
  public var sincePayment = LatencyCounts()

  public init() {}

  public subscript(kind: Kind) -> LatencyCounts {
    get {
      switch kind {
      case .accepted: accepted
      case .failed: failed
      case .sincePayment: sincePayment
      }
    }
    set {
      switch kind {
      case .accepted: accepted = newValue
      case .failed: failed = newValue
      case .sincePayment: sincePayment = newValue
      }
    }
  }

  /// All attempts.
  public var attempts: LatencyCounts { accepted + failed }

  /// The share of the attempts that the destination accepted; nil without attempts.
  public var successRate: Double? {
    let total = accepted.total + failed.total
    return total > 0 ? Double(accepted.total) / Double(total) : nil
  }

  public static func + (left: Self, right: Self) -> Self {
    var sum = left
    for kind in Kind.allCases { sum[kind] = left[kind] + right[kind] }
    return sum
  }
}
