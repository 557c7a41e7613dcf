// Text for man(1), in the macros of man(7). Pure; any thread.

/// Builds a manual page.
public struct Roff {
  public private(set) var text: String
  /// A paragraph directly after a title needs no `.PP`.
  private var isBehindTitle = false

  /// - Parameters:
  ///   - section: the manual section: 1 commands, 5 files, 8 administration.
  ///   - source: the package that contains the page, with its version.
  public init(_ name: String, section: Int, source: String) {
    // No date: the same program must generate the same page.
    text = ".TH \(Self.argument(name.uppercased())) \(section) \"\" \(Self.argument(source))\n"
  }

  /// A section's title, in upper case.
  public mutating func section(_ title: String) {
    text += ".SH \(Self.argument(title))\n"
    isBehindTitle = true
  }

  /// A title within a section.
  public mutating func subsection(_ title: String) {
    text += ".SS \(Self.argument(title))\n"
    isBehindTitle = true
  }

  /// A paragraph of running text.
  public mutating func paragraph(_ words: String) {
    text += "\(isBehindTitle ? "" : ".PP\n")\(Self.escaped(words))\n"
    isBehindTitle = false
  }

  /// A term with an indented description.
  public mutating func term(_ term: String, _ words: String) {
    isBehindTitle = false
    text += ".TP\n\\fB\(Self.inline(term))\\fR\n\(Self.escaped(words))\n"
  }

  /// Another paragraph under the previous term.
  public mutating func more(_ words: String) { text += ".IP\n\(Self.escaped(words))\n" }

  /// Lines without filling, such as commands.
  public mutating func lines(_ lines: [String]) {
    text += ".PP\n.RS 4\n.nf\n\(lines.map(Self.escaped).joined(separator: "\n"))\n.fi\n.RE\n"
  }

  /// `name \- summary`, for the section NAME.
  public mutating func name(_ name: String, _ summary: String) {
    section("NAME")
    text += "\(Self.inline(name)) \\- \(Self.inline(summary))\n"
  }

  /// A one-line text in quotes, as a macro argument.
  private static func argument(_ words: String) -> String {
    "\"\(inline(words).replacing("\"", with: "\\(dq"))\""
  }

  /// Escapes backslashes, and hyphens that users may copy (groff_char(7)).
  private static func inline(_ words: String) -> String {
    words.replacing("\\", with: "\\e").replacing("-", with: "\\-")
  }

  /// The longest word that is not broken: with its indentation it fits on a terminal of 80 columns.
  private static let wordMax = 50

  /// roff reads a line that begins with a dot or an apostrophe as a macro. It breaks a line at blanks only,
  /// so a long word, such as a URL, gets points where it may break without a hyphen (`\:`, groff(7)).
  private static func escaped(_ words: String) -> String {
    inline(words).split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let line = line.split(separator: " ", omittingEmptySubsequences: false).map(breakable)
        .joined(separator: " ")
      return line.hasPrefix(".") || line.hasPrefix("'") ? "\\&\(line)" : line
    }.joined(separator: "\n")
  }

  private static func breakable(_ word: Substring) -> String {
    guard word.count > wordMax else { return String(word) }
    return word.reduce(into: "") { $0 += "/:,?&=".contains($1) ? "\($1)\\:" : String($1) }
  }
}
