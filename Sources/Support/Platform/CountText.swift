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

  /// A rate: `5/s`, `0.5/s`.
  public static func rate(_ perSecond: Double) -> String {
    let whole = Int64((perSecond * 1000).rounded())
    if whole % 1000 == 0 { return "\(whole / 1000)/s" }
    var digits = String(whole % 1000)
    digits = String(repeating: "0", count: 3 - digits.count) + digits
    while digits.last == "0" { digits.removeLast() }
    return "\(whole / 1000).\(digits)/s"
  }
}
