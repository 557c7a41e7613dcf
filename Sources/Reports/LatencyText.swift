// How long deliveries take, as people read it. Pure; called from any thread.

internal import Domain
internal import Formats
public import Store

/// The texts of latencies.
public enum LatencyText {
  /// Two or three significant digits: `8 ms`, `240 ms`, `1.3 s`, `12 s`, `4 min`, `2.5 h`, `3 d`.
  public static func time(_ time: Duration?) -> String {
    guard let time else { return "-" }
    let milliseconds = Double(max(.zero, time).nanoseconds) / 1_000_000
    let units: [(limit: Double, size: Double, name: String)] = [
      (999.5, 1, "ms"), (59_950, 1000, "s"), (3_570_000, 60_000, "min"), (84_600_000, 3_600_000, "h"),
    ]
    let unit = units.first { milliseconds < $0.limit } ?? (limit: .infinity, size: 86_400_000, name: "d")
    let value = milliseconds / unit.size
    let tenths = Int64((value * 10).rounded())
    let isWhole = unit.name == "ms" || tenths >= 100 || tenths % 10 == 0
    return isWhole ? "\(Int64(value.rounded())) \(unit.name)" : "\(tenths / 10).\(tenths % 10) \(unit.name)"
  }

  /// `99.7 %`; never rounded to 100 % while something failed.
  public static func share(_ share: Double?) -> String {
    guard let share else { return "-" }
    let tenths = Int64((share * 1000).rounded(share < 1 ? .down : .toNearestOrAwayFromZero))
    return tenths % 10 == 0 ? "\(tenths / 10) %" : "\(tenths / 10).\(tenths % 10) %"
  }
}

extension LatencyWindow {
  /// `last hour`
  public var text: String {
    switch self {
    case .hour: "last hour"
    case .day: "last 24 h"
    case .week: "last 7 days"
    }
  }
}

extension AttemptReport {
  /// The answer in few words: the status, or why there is none, and the error text.
  public var answerText: String {
    if isAcceptance { return status.map(String.init) ?? "" }
    return detail.map { "\(cause.text): \($0)" } ?? cause.text
  }
}
