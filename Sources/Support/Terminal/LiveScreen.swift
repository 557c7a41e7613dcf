// A screen that is redrawn in place. Lines that do not fit are cut at the right and at the bottom, so the
// first line stays at the top. Pure; any thread.

internal import Platform

/// Draws live screens.
public enum LiveScreen {
  /// - Parameters:
  ///   - lines: without newlines; a long line is cut.
  ///   - footer: the last line of the screen.
  /// - Returns: the text to write to a terminal (ECMA-48 CUP, EL and ED).
  public static func drawing(_ lines: [String], footer: String, columns: Int, rows: Int) -> String {
    // Clears the line before its text: after a text that ends in the last column, EL would clear that column.
    let shown = lines.prefix(max(1, rows - 1)).map { "\u{1B}[2K\(cut($0, to: columns))\r\n" }.joined()
    return "\u{1B}[H\(shown)\u{1B}[J\(cut(footer, to: columns))"
  }

  /// A sentence wrapped over several lines with the indent of the first.
  /// - Parameter text: without styles.
  public static func wrapped(_ text: String, columns: Int) -> [String] {
    let indent = String(text.prefix { $0 == " " })
    var lines: [String] = []
    var line = indent
    for word in text.split(separator: " ") {
      if line.count > indent.count,
        DisplayText.width(of: line) + 1 + DisplayText.width(of: String(word)) > columns
      {
        lines.append(line)
        line = indent
      }
      line += line.count > indent.count ? " \(word)" : String(word)
    }
    return lines + [line]
  }

  /// A line with styles (ECMA-48 SGR), cut to a width.
  static func cut(_ line: String, to columns: Int) -> String {
    var out = ""
    var used = 0
    var isStyled = false
    var rest = Substring(line)
    while let character = rest.popFirst() {
      if character == "\u{1B}" {
        let end = rest.firstIndex { $0.isLetter } ?? rest.endIndex
        let sequence = rest[..<end] + rest[end...].prefix(1)
        out += "\u{1B}\(sequence)"
        isStyled = true
        rest = rest.dropFirst(sequence.count)
        continue
      }
      let width = DisplayText.width(of: String(character))
      guard used + width <= columns else { return out + (isStyled ? "\u{1B}[0m" : "") }
      out.append(character)
      used += width
    }
    return out
  }
}

extension Output {
  /// What `body` writes to stdout, as lines for a live screen.
  public func lines(_ body: (Output) throws -> Void) rethrows -> [String] {
    let bytes = Monitor<[UInt8]>([])
    let channel = OutputChannel(isTerminal: result.isTerminal, size: { result.size }) { more in
      bytes.withLock { $0 += more }
    }
    try body(with(result: channel))
    let text = String(decoding: bytes.withLock { $0 }, as: UTF8.self)
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }
}
