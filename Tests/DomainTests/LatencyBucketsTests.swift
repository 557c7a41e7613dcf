// Tests that quantiles from buckets are as exact as they claim to be.

import Domain
import Formats
import Platform
import Testing

@Suite("Buckets of latencies") struct LatencyBucketsTests {
  /// Times of several shapes: even, of all sizes, nearly equal, and two groups.
  private static func times(seed: UInt64) -> [Int64] {
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: 1...3000, using: &random)
    return (0..<count).map { _ in
      switch seed % 4 {
      case 0: Int64.random(in: 1...5000, using: &random)
      case 1: Int64.random(in: 1...9, using: &random) << Int64.random(in: 0...28, using: &random)
      case 2: 240 + Int64.random(in: 0...3, using: &random)
      default: Bool.random(using: &random) ? 12 : Int64.random(in: 900_000...86_400_000, using: &random)
      }
    }
  }

  @Test(arguments: 1...40)
  func `A quantile differs from the exact one by 5 % at most`(seed: UInt64) throws {
    let times = Self.times(seed: seed)
    var counts = LatencyCounts()
    for time in times { counts.add(1, toBucket: LatencyBuckets.bucket(of: .milliseconds(time))) }
    #expect(counts.total == Int64(times.count))
    let sorted = times.sorted()
    for share in [0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1] {
      let rank = max(1, Int((Double(sorted.count) * share).rounded(.up)))
      let exact = Double(sorted[rank - 1])
      let found = try #require(counts.quantile(share))
      let error = abs(Double(found.nanoseconds) / 1_000_000 - exact) / exact
      #expect(error <= LatencyBuckets.errorMax + 0.000_01, "\(share): \(found) instead of \(exact) ms")
    }
  }

  @Test(arguments: 1...8)
  func `Parts that are added have the quantiles of all times`(seed: UInt64) {
    let times = Self.times(seed: seed)
    var (whole, even, odd) = (LatencyCounts(), LatencyCounts(), LatencyCounts())
    for (index, time) in times.enumerated() {
      let bucket = LatencyBuckets.bucket(of: .milliseconds(time))
      whole.add(1, toBucket: bucket)
      if index % 2 == 0 { even.add(1, toBucket: bucket) } else { odd.add(1, toBucket: bucket) }
    }
    #expect(even + odd == whole)
  }

  @Test func `Times that are out of the ordinary have a bucket, too`() {
    let times: [Duration] = [.longest, .days(400), .days(60), .milliseconds(1), .zero, .milliseconds(-5)]
    let buckets = times.map(LatencyBuckets.bucket)
    #expect(buckets == buckets.sorted(by: >))
    #expect(buckets[0] == buckets[1])
    #expect(buckets.suffix(3) == [0, 0, 0])
    #expect(LatencyBuckets.time(ofBucket: 0) == .milliseconds(1))
    #expect(LatencyBuckets.time(ofBucket: .max) >= .days(57))
    #expect(LatencyBuckets.time(ofBucket: -1) == .milliseconds(1))
    #expect(LatencyCounts().quantile(0.5) == nil)
    #expect(DeliveryLatencies().successRate == nil)
  }
}
