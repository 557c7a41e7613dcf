// Comma-separated values (RFC 4180), safe to open in a spreadsheet. Pure; thread-safe.

/// Writes CSV.
public enum CSV {
  /// A field of a record.
  public enum Field: Sendable, Equatable {
    /// Untrusted text.
    case text(String)
    /// The program's own word or number.
    case plain(String)
  }

  /// One record with its line break.
  public static func record(_ fields: some Sequence<Field>) -> String {
    fields.map(written).joined(separator: ",") + "\r\n"
  }

  private static func written(_ field: Field) -> String {
    let text: String
    switch field {
    case .plain(let plain): text = plain
    case .text(let untrusted): text = isFormula(untrusted) ? "'" + untrusted : untrusted
    }
    let needsQuotes = text.utf8.contains { "\",\r\n".utf8.contains($0) }
    return needsQuotes
      ? "\""
        + text.split(separator: "\"", omittingEmptySubsequences: false)
        .joined(separator: "\"\"") + "\"" : text
  }

  /// Whether a spreadsheet would calculate the text, or run a command that it names
  /// (https://owasp.org/www-community/attacks/CSV_Injection). An apostrophe before it prevents that.
  private static func isFormula(_ text: String) -> Bool {
    guard let first = text.utf8.first, "=+-@\t\r\n".utf8.contains(first) else { return false }
    return !isNumber(text.utf8.dropFirst(first == UInt8(ascii: "+") || first == UInt8(ascii: "-") ? 1 : 0))
  }

  private static func isNumber(_ digits: Substring.UTF8View) -> Bool {
    var points = 0
    for byte in digits {
      if byte == UInt8(ascii: ".") { points += 1 } else if !(48...57).contains(byte) { return false }
    }
    return points <= 1 && digits.count > points
  }
}
