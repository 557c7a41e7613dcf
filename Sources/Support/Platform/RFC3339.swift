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

// MARK: - Parsing

// Parses RFC 3339 timestamps (§5.6). Pure; thread-safe.

extension RFC3339 {
  /// Parses `2026-11-20T10:00:00Z`, with an optional fraction or offset, or a date alone, which means its
  /// midnight in UTC. Digits after the millisecond are dropped; a leap second counts as the second before it.
  /// - Returns: Unix milliseconds; nil when the text is not such a timestamp or the date does not exist.
  public static func unixMilliseconds(parsing text: String) -> Int64? {
    var reader = Reader(rest: Array(text.utf8)[...])
    guard let year = reader.number(digits: 4), reader.consume("-"), let month = reader.number(digits: 2),
      reader.consume("-"), let day = reader.number(digits: 2), (1...12).contains(month),
      day >= 1, day <= daysIn(month: month, year: year)
    else { return nil }
    let midnight = days(year: year, month: month, day: day) * 86_400_000
    if reader.rest.isEmpty { return midnight }
    // §5.6: "T" and "Z" may be lower case, and a space may replace the "T".
    guard reader.consume("T") || reader.consume("t") || reader.consume(" "),
      let hour = reader.number(digits: 2),
      reader.consume(":"), let minute = reader.number(digits: 2), reader.consume(":"),
      let second = reader.number(digits: 2), hour <= 23, minute <= 59, second <= 60
    else { return nil }
    var milliseconds: Int64 = 0
    if reader.consume(".") {
      guard let fraction = reader.fraction() else { return nil }
      milliseconds = fraction
    }
    guard let offset = reader.offsetMinutes(), reader.rest.isEmpty else { return nil }
    return midnight + ((hour * 60 + minute - offset) * 60 + min(second, 59)) * 1000 + milliseconds
  }

  private struct Reader {
    var rest: ArraySlice<UInt8>

    mutating func consume(_ scalar: Unicode.Scalar) -> Bool {
      guard rest.first == UInt8(ascii: scalar) else { return false }
      rest = rest.dropFirst()
      return true
    }

    mutating func digit() -> Int64? {
      guard let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      rest = rest.dropFirst()
      return Int64(byte - UInt8(ascii: "0"))
    }

    mutating func number(digits: Int) -> Int64? {
      var value: Int64 = 0
      for _ in 0..<digits {
        guard let digit = digit() else { return nil }
        value = value * 10 + digit
      }
      return value
    }

    /// At least one digit; only the first three are used.
    mutating func fraction() -> Int64? {
      guard let first = digit() else { return nil }
      var value = first * 100
      var weight: Int64 = 10
      while let next = digit() {
        value += next * weight
        weight /= 10
      }
      return value
    }

    mutating func offsetMinutes() -> Int64? {
      if consume("Z") || consume("z") { return 0 }
      let sign: Int64 = consume("+") ? 1 : consume("-") ? -1 : 0
      guard sign != 0, let hours = number(digits: 2), consume(":"), let minutes = number(digits: 2),
        hours <= 23,
        minutes <= 59
      else { return nil }
      return sign * (hours * 60 + minutes)
    }
  }

  private static func daysIn(month: Int64, year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days since 1970-01-01 (Hinnant's `days_from_civil`, for years that are not negative).
  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}
