// Times and numbers as charts write them. Pure; called from any thread.

internal import Domain
internal import Reports

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

enum DrawnNumber {
  /// One decimal is precise enough for drawing.
  static func text(_ number: Double) -> String {
    let tenths = Int64((number * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths.magnitude % 10)"
  }
}
