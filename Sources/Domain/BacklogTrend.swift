// Whether the number of receipts that are ready and not delivered grows. Pure; any thread.

internal import Formats

/// The course of a number over the last minutes.
public struct BacklogTrend: Sendable {
  /// How long a number must have grown.
  public static let span: Duration = .minutes(15)
  /// It must have grown in each of these parts of the time, so that a burst does not count.
  private static let parts = 3
  /// Between two numbers that are kept.
  private static let step: Duration = .seconds(30)

  private var samples: [(at: Duration, count: Int64)] = []
  /// Whether the number has grown in each part of the time, and has not come back since to what it was at the
  /// beginning of the time.
  public private(set) var isGrowing = false

  public init() {}

  /// Records the number at a moment.
  /// - Parameter at: on a monotonic clock.
  public mutating func record(_ count: Int64, at now: Duration) {
    let marks = (1...Self.parts).map { number(at: now - Self.span / Self.parts * $0) }
    if let before = marks[Self.parts - 1] {
      let course = [count] + marks.compactMap { $0 }
      if zip(course, course.dropFirst()).allSatisfy({ $0 > $1 }) {
        isGrowing = true
      } else if count <= before {
        isGrowing = false
      }
    }
    guard samples.last.map({ now - $0.at >= Self.step }) ?? true else { return }
    samples.append((now, count))
    // The last one that is old enough is needed.
    let old = samples.count { now - $0.at >= Self.span }
    if old > 1 { samples.removeFirst(old - 1) }
  }

  /// The number that was known at a moment; nil if none was.
  private func number(at moment: Duration) -> Int64? { samples.last { $0.at <= moment }?.count }
}
