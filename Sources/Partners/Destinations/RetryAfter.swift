// The Retry-After header: seconds, or a date in one of the three forms that a recipient must accept (RFC 9110
// §10.2.3, §5.6.7). An unreadable header counts as absent, so that it never prevents a delivery. Pure; any
// thread.

public import Domain

/// Parses the value of Retry-After.
public enum RetryAfter {
  /// The time from now, zero for a time in the past, at most `Delivery.retryAfterMax` whatever the number;
  /// nil when unreadable.
  public static func duration(_ value: String, now: Timestamp) -> Duration? {
    let text = value.trimmingSpaces()
    let wait: Duration
    if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
      // A number too large for Int64 exceeds the limit, too.
      wait = .seconds(Int64(text) ?? .max)
    } else if let date = HTTPDate.timestamp(text, now: now) {
      wait = date.duration(since: now)
    } else {
      return nil
    }
    return min(max(.zero, wait), Delivery.retryAfterMax)
  }
}

/// Dates in HTTP's headers (RFC 9110 §5.6.7).
public enum HTTPDate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Parses IMF-fixdate (`Sun, 06 Nov 1994 08:49:37 GMT`), RFC 850 (`Sunday, 06-Nov-94 08:49:37 GMT`) and
  /// asctime (`Sun Nov  6 08:49:37 1994`). The weekday is ignored: it adds no information.
  /// - Returns: nil for any other text.
  public static func timestamp(_ text: String, now: Timestamp) -> Timestamp? {
    let words = text.split(separator: " ").map(String.init)
    switch words.count {
    case 6 where words[5] == "GMT" && words[0].hasSuffix(","):
      return timestamp(day: words[1], month: words[2], year: number(words[3], digits: 4...4), time: words[4])
    case 4 where words[3] == "GMT" && words[0].hasSuffix(","):
      let date = words[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
      guard date.count == 3, let short = number(date[2], digits: 2...2) else { return nil }
      return timestamp(day: date[0], month: date[1], year: fullYear(short, now: now), time: words[2])
    case 5:
      return timestamp(day: words[2], month: words[1], year: number(words[4], digits: 4...4), time: words[3])
    default:
      return nil
    }
  }

  /// RFC 9110 §5.6.7: a two-digit year that appears to be more than 50 years in the future is in the past
  /// century.
  private static func fullYear(_ short: Int64, now: Timestamp) -> Int64 {
    let current = 1970 + now.unixMilliseconds / 31_556_952_000
    let year = current - current % 100 + short
    return year > current + 50 ? year - 100 : year
  }

  private static func timestamp(day: String, month: String, year: Int64?, time: String) -> Timestamp? {
    let clock = time.split(separator: ":", omittingEmptySubsequences: false).map {
      number(String($0), digits: 2...2)
    }
    guard let day = number(day, digits: 1...2), (1...31).contains(day),
      let month = months.firstIndex(of: month),
      let year, clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
      hour < 24, minute < 60, second <= 60  // 60 is a leap second
    else { return nil }
    let days = daysFromCivil(year: year, month: Int64(month) + 1, day: day)
    return Timestamp(unixSeconds: days * 86_400 + hour * 3600 + minute * 60 + second)
  }

  private static func number(_ text: String, digits: ClosedRange<Int>) -> Int64? {
    guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
      return nil
    }
    return Int64(text)
  }

  /// Days since 1970-01-01 (http://howardhinnant.github.io/date_algorithms.html#days_from_civil).
  private static func daysFromCivil(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = shiftedYear / 400
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}

extension String {
  /// Without surrounding whitespace (RFC 9110 §5.6.3, OWS).
  fileprivate func trimmingSpaces() -> String {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    var rest = self[...].drop(while: isBlank)
    while let last = rest.last, isBlank(last) { rest.removeLast() }
    return String(rest)
  }
}
