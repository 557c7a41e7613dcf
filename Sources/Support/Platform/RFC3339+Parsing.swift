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
