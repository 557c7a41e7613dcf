// Text: JSON, JSON5, and output to a terminal or a log.

import Formats
import Platform
import Terminal

extension FuzzTarget {
  /// Reading, writing and reading again preserves the value.
  static let json = FuzzTarget("json") { bytes in
    try roundTrip(bytes, json5: false)
    try checkNodes(bytes)
  }

  static let json5 = FuzzTarget("json5") { bytes in try roundTrip(bytes, json5: true) }

  private static func roundTrip(_ bytes: [UInt8], json5: Bool) throws {
    let value: JSONValue
    do {
      value = try JSONValue(parsing: bytes, json5: json5)
    } catch {
      return try hold(!error.description.isEmpty, "a refusal without words")
    }
    let text = value.serialized()
    for written in [text, Array(value.prettyText.utf8)] {
      let again = try JSONValue(parsing: written)
      try hold(isSame(again, value), "read again it is \(again.text), not \(value.text)")
    }
  }

  /// Compares strings as bytes, because `==` ignores Unicode normalisation. A fraction that was rounded to a
  /// whole `Double` is written as one and read back as a whole number.
  private static func isSame(_ left: JSONValue, _ right: JSONValue) -> Bool {
    switch (left, right) {
    case (.integer(let left), .number(let right)), (.number(let right), .integer(let left)):
      Double(left) == right
    // JSON5 has infinities and NaN, JSON has not.
    case (.null, .number(let right)): !right.isFinite
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    case (.array(let left), .array(let right)): left.elementsEqual(right, by: isSame)
    case (.object(let left), .object(let right)):
      left.elementsEqual(right) { $0.name.utf8.elementsEqual($1.name.utf8) && isSame($0.value, $1.value) }
    default: left == right
    }
  }

  /// Untrusted input never reaches a terminal as a control sequence, and never begins a line of the log.
  static let display = FuzzTarget("display", bytesMax: 512) { bytes in
    let width = Int(bytes.first ?? 0) % 40
    let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
    let clean = DisplayText.clean(text)
    try hold(!clean.unicodeScalars.contains(where: isObeyed), "a control character is left")
    try hold(DisplayText.clean(clean) == clean, "cleaned twice it differs")
    let cut = DisplayText.truncated(clean, to: width)
    try hold(DisplayText.width(of: cut) <= width, "cut to \(width) it is \(DisplayText.width(of: cut))")
    try hold(
      DisplayText.width(of: DisplayText.padded(cut, to: width)) >= DisplayText.width(of: cut), "padded less")
    try hold(unquoted(ShellWord.quoted(text)) == Array(clean.utf8), "a shell would read another word")
    _ = EditDistance.nearest(to: text, among: ["receipts", "contexts", clean])
    try checkLog(text)
  }

  private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || (0x202A...0x202E).contains(scalar.value)
      || (0x2066...0x2069).contains(scalar.value)
  }

  /// How a POSIX shell reads a word that is plain or in single quotes.
  private static func unquoted(_ word: String) -> [UInt8] {
    var out: [UInt8] = []
    var isQuoted = false
    var isEscaped = false
    for byte in word.utf8 {
      if isEscaped {
        out.append(byte)
        isEscaped = false
      } else if byte == UInt8(ascii: "'") {
        isQuoted.toggle()
      } else if byte == UInt8(ascii: "\\"), !isQuoted {
        isEscaped = true
      } else {
        out.append(byte)
      }
    }
    return out
  }

  private static func checkLog(_ text: String) throws {
    let lines = Monitor<[[UInt8]]>([])
    for format in Log.Format.allCases {
      let log = Log(format: format) { line in lines.withLock { $0.append(line) } }
      log.info(text, ["field": text, "last": "1"])
    }
    for line in lines.withLock({ $0 }) {
      try hold(line.filter { $0 == UInt8(ascii: "\n") }.count == 1, "one entry of the log is two lines")
      try hold(line.last == UInt8(ascii: "\n"), "an entry of the log does not end its line")
    }
  }
}
