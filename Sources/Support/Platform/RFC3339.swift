// Timestamps as text (RFC 3339, UTC). Pure; thread-safe. The calendar arithmetic is Howard Hinnant's "days
// from civil" (http://howardhinnant.github.io/date_algorithms.html): exact for every Int64 day, and a hundred
// times cheaper than a calendar object on the request path.

/// RFC 3339 timestamps in UTC with milliseconds: `2026-11-20T10:00:00.123Z`.
public enum RFC3339 {
  /// - Parameter unixMilliseconds: clamped to the years 0000–9999, the range of RFC 3339.
  public static func string(unixMilliseconds: Int64) -> String {
    let clamped = min(max(unixMilliseconds, -62_167_219_200_000), 253_402_300_799_999)
    let days = clamped >= 0 ? clamped / 86_400_000 : (clamped - 86_399_999) / 86_400_000
    let time = clamped - days * 86_400_000
    let date = civil(fromDays: days)
    var out: [UInt8] = []
    out.reserveCapacity(24)
    append(date.year, digits: 4, "-", to: &out)
    append(date.month, digits: 2, "-", to: &out)
    append(date.day, digits: 2, "T", to: &out)
    append(time / 3_600_000, digits: 2, ":", to: &out)
    append(time / 60_000 % 60, digits: 2, ":", to: &out)
    append(time / 1000 % 60, digits: 2, ".", to: &out)
    append(time % 1000, digits: 3, "Z", to: &out)
    return String(decoding: out, as: UTF8.self)
  }

  private static func append(_ number: Int64, digits: Int, _ end: Unicode.Scalar, to out: inout [UInt8]) {
    var divisor: Int64 = 1
    for _ in 1..<digits { divisor *= 10 }
    while divisor > 0 {
      out.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
      divisor /= 10
    }
    out.append(UInt8(ascii: end))
  }

  /// Converts days since 1970-01-01 to a date of the proleptic Gregorian calendar.
  private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }
}
