// Makes untrusted input safe for a terminal. An id may contain escape sequences that change colours, hide
// text or insert input; none of them may reach the terminal. Pure; any thread.

/// Text that is safe to show on a terminal.
public enum DisplayText {
  /// The text on one line, without anything that a terminal interprets: whitespace becomes spaces. Control
  /// characters (C0, DEL and C1, which xterm interprets too), directional overrides and other invisible
  /// formatting become U+FFFD, so that two different ids still look different.
  public static func clean(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { replacement(for: $0) != nil }) else { return text }
    var clean = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { clean.append(replacement(for: scalar) ?? scalar) }
    return String(clean)
  }

  private static func replacement(for scalar: Unicode.Scalar) -> Unicode.Scalar? {
    switch scalar.properties.generalCategory {
    case .lineSeparator, .paragraphSeparator: return " "
    case .control: return scalar == "\t" || scalar == "\n" || scalar == "\r" ? " " : "\u{FFFD}"
    // The joiners that emoji and several scripts need (Unicode 16 §23.2).
    case .format: return scalar == "\u{200D}" || scalar == "\u{200C}" ? nil : "\u{FFFD}"
    default: return nil
    }
  }

  /// The width of a text in columns: one for each grapheme cluster, two for East Asian wide characters and
  /// emoji (UAX #11).
  public static func width(of text: String) -> Int {
    // Nearly all text is printable ASCII.
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text.utf8.count }
    return text.reduce(0) { $0 + width(of: $1) }
  }

  private static let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
    0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD,
  ]

  private static func width(of character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    if first.properties.isEmojiPresentation { return 2 }
    // U+FE0F selects the emoji form of a text character.
    if character.unicodeScalars.contains("\u{FE0F}") { return 2 }
    return wideRanges.contains { $0.contains(first.value) } ? 2 : 1
  }

  /// The text padded with spaces to a width.
  public static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - Self.width(of: text)))
  }

  /// The text truncated to a width, with `…` at the cut.
  public static func truncated(_ text: String, to width: Int) -> String {
    guard Self.width(of: text) > width else { return text }
    guard width > 0 else { return "" }
    var cut = ""
    var used = 1
    for character in text {
      used += Self.width(of: character)
      if used > width { break }
      cut.append(character)
    }
    return cut + "…"
  }
}

/// Arguments of a command line that the operator may copy.
public enum ShellWord {
  /// The text as one word of a POSIX shell (POSIX.1-2024, Shell Command Language §2.2.2).
  public static func quoted(_ text: String) -> String {
    let clean = DisplayText.clean(text)
    let isPlain = clean.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "_@%+=:,./-".utf8.contains(byte)
      }
    }
    if isPlain, !clean.isEmpty { return clean }
    // Scalar by scalar: a shell also sees a quote that forms one character with a combining mark after it.
    var word = "'"
    for scalar in clean.unicodeScalars {
      if scalar == "'" { word += "'\\''" } else { word.unicodeScalars.append(scalar) }
    }
    return word + "'"
  }
}
