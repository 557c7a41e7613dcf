// Text that must not reach a customer. Pure; thread-safe.

/// Text for developers and operators, from the relay, a proxy in front of it or the system.
///
/// It is not a `String` and prints as a placeholder, so a label or an interpolated message cannot show it by
/// mistake. Use ``forLog`` to log it.
public struct OperatorText: Sendable, Hashable {
  /// The text. For logs and bug reports only.
  public let forLog: String

  /// Wraps a text.
  public init(_ text: String) { forLog = text }
}

extension OperatorText: ExpressibleByStringInterpolation {
  /// Wraps a literal, such as in a test.
  public init(stringLiteral text: String) { self.init(text) }
}

extension OperatorText: Decodable {
  /// Reads a JSON string.
  public init(from decoder: any Decoder) throws { self.init(try String(from: decoder)) }
}

extension OperatorText: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A placeholder, the same for every text.
  public var description: String { "(for the log)" }
  /// A placeholder, the same for every text.
  public var debugDescription: String { description }
  /// Shows no members: `dump` prints the placeholder, too.
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
