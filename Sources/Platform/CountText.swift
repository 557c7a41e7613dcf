// Counts for people: `200,000 receipts`. Every count in a text for people is formatted here; JSON and metrics
// use plain numbers. Pure; thread-safe.

/// Formats counts for people.
public enum CountText {
  /// The digits in groups of three: `4,678`.
  public static func grouped(_ count: some BinaryInteger) -> String {
    let digits = String(count.magnitude)
    var out = count < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { out.append(",") }
      out.append(digit)
    }
    return out
  }

  /// A count with a word whose plural ends in s: `1 receipt`, `4,678 receipts`.
  public static func of(_ count: some BinaryInteger, _ noun: String) -> String {
    "\(grouped(count)) \(noun)\(count == 1 ? "" : "s")"
  }
}
