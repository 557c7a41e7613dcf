// Sizes as the configuration writes them: `512B`, `64KiB`, `1MiB`, `2GiB`. Pure; any thread.

enum SizeText {
  private static let units: [(name: String, bytes: Int)] = [
    ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
  ]

  /// - Returns: bytes; nil unless the text is digits and one unit, or when the size overflows.
  static func bytes(parsing text: String) -> Int? {
    let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard let count = Int(String(Substring(digits))) else { return nil }
    // Compares bytes, not characters: a combining character after the last digit is not a unit.
    let name = String(Substring(text.utf8.dropFirst(digits.count)))
    guard let unit = units.first(where: { $0.name == name }) else { return nil }
    let (product, tooLarge) = count.multipliedReportingOverflow(by: unit.bytes)
    return tooLarge ? nil : product
  }

  /// The shortest text for exactly this many bytes.
  static func text(bytes: Int) -> String {
    let unit = units.first { bytes != 0 && bytes % $0.bytes == 0 } ?? (name: "B", bytes: 1)
    return "\(bytes / unit.bytes)\(unit.name)"
  }
}
