// Filters as people write them. Pure; called from any thread.

public import Domain

/// Which entries of a list to show.
public protocol ListFilter: Sendable {
  /// In the order of help, forms and URLs.
  static var fields: [FilterField<Self>] { get }

  /// All entries.
  init()
}

/// A value that a field does not accept. Nothing is sanitized: the message may repeat the value.
public struct FilterFault: Error, Sendable, Equatable {
  /// The field's name, as an option.
  public var name: String
  /// What is wrong, as the end of a sentence: `must be …`.
  public var message: String
}

extension ListFilter {
  /// The filter that people have written.
  /// - Parameters:
  ///   - fields: those that may be given.
  ///   - value: the text of a field; nil if it is not given.
  public init(
    _ fields: [FilterField<Self>] = Self.fields, now: Timestamp, _ value: (FilterField<Self>) -> String?
  ) throws(FilterFault) {
    self.init()
    for field in fields {
      guard let text = value(field) else { continue }
      if let message = field.set(&self, text, now) { throw FilterFault(name: field.name, message: message) }
    }
  }
}
