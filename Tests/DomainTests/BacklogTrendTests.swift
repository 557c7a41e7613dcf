// When a backlog counts as growing.

import Domain
import Formats
import Testing

@Suite struct BacklogTrendTests {
  /// Whether a backlog grows after it had these numbers, one each five minutes; looked at each five seconds.
  private static func isGrowing(_ numbers: [Int64]) -> Bool {
    var trend = BacklogTrend()
    for (index, number) in numbers.enumerated() {
      trend.record(number, at: .minutes(Int64(5 * index)))
      guard index + 1 < numbers.count else { break }
      for step in 1..<60 { trend.record(number, at: .minutes(Int64(5 * index)) + .seconds(5 * step)) }
    }
    return trend.isGrowing
  }

  @Test(
    "It grows if it is larger in each third of fifteen minutes, until it is no larger than before them",
    arguments: [
      ([1, 2, 3, 4], true),
      // Not long enough.
      ([], false), ([5], false), ([1, 2, 3], false),
      // A burst, a plateau, a dent.
      ([0, 0, 0, 5_000], false), ([1, 5_000, 5_000, 5_000], false), ([1, 3, 2, 4], false),
      ([4, 3, 2, 1], false),
      // It has grown: a plateau does not end that, a fall does.
      ([1, 2, 3, 4, 4], true), ([1, 2, 3, 4, 4, 4, 4], false), ([1, 2, 3, 4, 3], true),
      ([1, 2, 3, 4, 2], false),
      ([1, 2, 3, 4, 0], false), ([1, 2, 3, 4, 0, 1, 2, 3], true),
    ] as [([Int64], Bool)])
  func course(numbers: [Int64], isGrowing: Bool) { #expect(Self.isGrowing(numbers) == isGrowing) }
}
