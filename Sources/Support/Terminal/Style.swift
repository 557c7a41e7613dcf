// Colours, only on a terminal whose user did not disable them. Pure; any thread.

public import Platform

/// A text style (ECMA-48 §8.3.117, SGR).
public enum Style: Sendable, Equatable {
  case plain, bold, dim, red, green, yellow, cyan

  private var code: Int? {
    switch self {
    case .plain: nil
    case .bold: 1
    case .dim: 2
    case .red: 31
    case .green: 32
    case .yellow: 33
    case .cyan: 36
    }
  }

  /// The text in this style.
  /// - Parameter text: must be clean (`DisplayText.clean`).
  public func applied(to text: String, inColour: Bool) -> String {
    guard inColour, let code, !text.isEmpty else { return text }
    return "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }

  /// Whether to use colour: on a terminal that is not dumb, unless NO_COLOR is set (no-color.org: set and not
  /// empty).
  public static func isColourWanted(isTerminal: Bool, environment: Environment) -> Bool {
    isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }
}
