// Text that must not reach a customer. Pure; any thread.

/// Text for developers and operators: what the relay, a proxy in front of it or the system said.
///
/// It is no `String` and prints as a placeholder, so neither a label nor an interpolated message can show it
/// by mistake. A log gets it with ``forLog``.
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
  /// A placeholder, whatever the text is.
  public var description: String { "(for the log)" }
  /// A placeholder, whatever the text is.
  public var debugDescription: String { description }
  /// Shows no members, so `dump` prints the placeholder as well.
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
