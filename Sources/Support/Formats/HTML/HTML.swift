// A fragment of a page. Only this file converts text to markup, and always escapes it, so code that builds
// pages cannot forget to escape. Pure; thread-safe.

/// Markup of a page: elements, and escaped text.
public struct HTML: Sendable, Equatable {
  /// The text sent to the browser.
  public private(set) var markup: String

  /// Only for the elements of this module: the argument is not escaped.
  init(markup: String) { self.markup = markup }

  /// No markup.
  public init() { markup = "" }

  /// Escaped text from any source.
  public init(text: String) { markup = Self.escaped(text) }

  /// Concatenates the pieces.
  public init(_ pieces: [HTML]) { markup = pieces.map(\.markup).joined() }

  public init(@HTMLBuilder _ content: () -> HTML) { self = content() }

  public static func + (left: HTML, right: HTML) -> HTML { HTML(markup: left.markup + right.markup) }

  /// The text with every character replaced that could end a text or an attribute's value (HTML §13.1.2.3,
  /// §13.1.2.4: one set for both). Invisible characters that could disguise a text (control characters,
  /// directional overrides and other format characters) become U+FFFD. Line feeds and tabs stay.
  static func escaped(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { replacement(for: $0) != nil }) else { return text }
    var out = ""
    for scalar in text.unicodeScalars {
      if let replacement = replacement(for: scalar) {
        out += replacement
      } else {
        out.unicodeScalars.append(scalar)
      }
    }
    return out
  }

  private static func replacement(for scalar: Unicode.Scalar) -> String? {
    switch scalar {
    case "&": return "&amp;"
    case "<": return "&lt;"
    case ">": return "&gt;"
    case "\"": return "&quot;"
    case "'": return "&#39;"
    case "\t", "\n": return nil
    // Joiners, which emoji and several scripts need (Unicode 16 §23.2).
    case "\u{200C}", "\u{200D}": return nil
    default: break
    }
    if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F ? "\u{FFFD}" : nil }
    if scalar.properties.isNoncharacterCodePoint { return "\u{FFFD}" }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: return "\u{FFFD}"
    default: return nil
    }
  }
}

/// Concatenates the pieces in order, and escapes texts.
@resultBuilder
public enum HTMLBuilder {
  public static func buildExpression(_ piece: HTML) -> HTML { piece }
  public static func buildExpression(_ pieces: [HTML]) -> HTML { HTML(pieces) }
  public static func buildExpression(_ text: String) -> HTML { HTML(text: text) }
  public static func buildBlock(_ pieces: HTML...) -> HTML { HTML(pieces) }
  public static func buildOptional(_ piece: HTML?) -> HTML { piece ?? HTML() }
  public static func buildEither(first piece: HTML) -> HTML { piece }
  public static func buildEither(second piece: HTML) -> HTML { piece }
  public static func buildArray(_ pieces: [HTML]) -> HTML { HTML(pieces) }
}
