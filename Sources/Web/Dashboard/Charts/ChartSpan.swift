// The time that charts show, and how they write it. Pure; called from any thread.

internal import Domain
internal import Reports

/// The time that the charts of a page show.
enum ChartSpan {
  case day, week

  /// Fewer points with numbers are no picture: the table says more.
  static let pointsMin = 3

  var title: String { self == .day ? "Last 24 hours" : "Last 7 days" }
  var hours: Int64 { self == .day ? 24 : 7 * 24 }
  /// The hours that one point covers.
  var hoursEach: Int64 { self == .day ? 1 : 6 }
  var step: String { "\(hoursEach) h" }

  /// The labels of an axis, if there are more than two points.
  func marks(_ starts: [Timestamp]) -> [String] {
    guard let first = starts.first, let last = starts.last, starts.count > 2 else { return [] }
    return [first, starts[starts.count / 2], last].map {
      self == .day ? ChartTime.timeOfDay($0) : ChartTime.date($0)
    }
  }
}

/// The times of a chart's points, in UTC.
enum ChartTime {
  /// `2026-11-20 10:00`
  static func text(_ moment: Timestamp) -> String { "\(moment.rfc3339.prefix(10)) \(timeOfDay(moment))" }

  /// `10:00`
  static func timeOfDay(_ moment: Timestamp) -> String { String(moment.rfc3339.dropFirst(11).prefix(5)) }

  /// `20 Nov`
  static func date(_ moment: Timestamp) -> String {
    let text = moment.rfc3339
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let month = Int(text.dropFirst(5).prefix(2)).flatMap { (1...12).contains($0) ? months[$0 - 1] : nil }
    return "\(text.dropFirst(8).prefix(2)) \(month ?? "")"
  }
}
