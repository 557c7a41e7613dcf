// The conditions by which lists are filtered, each declared once: receiptctl makes its options from them, the
// dashboard its forms and URLs. Pure; called from any thread.

public import Domain
internal import Formats
internal import Platform

/// One condition of a list: how people write it, and what it sets in a filter.
public struct FilterField<Filter: Sendable>: Sendable {
  /// What its values are.
  public enum Kind: Sendable, Equatable {
    case text
    /// The name of an app; the configuration knows the choices.
    case app
    /// The name of a processor; the configuration knows the choices.
    case processor
    case choice([String])
    /// `MomentText`
    case moment
    /// It is given or it is not.
    case flag
  }

  /// The option of receiptctl, without hyphens before it.
  public let name: String
  /// Stands for its value in help; nil for a flag.
  public let placeholder: String?
  /// Its name in the dashboard's form.
  public let label: String
  /// One sentence, without a full stop.
  public let help: String
  public let kind: Kind
  /// The field of which it is another name. The dashboard shows and links only that one.
  public let original: String?
  /// Whether its values may lead to a user: the audit does not keep them.
  public let isPersonal: Bool

  /// Sets the condition, and returns why the text is invalid, as the end of a sentence: `must be …`.
  let set: @Sendable (_ filter: inout Filter, _ text: String, _ now: Timestamp) -> String?

  /// - Parameter set: sets the condition, and returns why the text is invalid, as the end of a sentence.
  init(
    _ name: String, _ placeholder: String?, _ label: String, _ help: String, _ kind: Kind = .text,
    original: String? = nil, isPersonal: Bool = false,
    set: @escaping @Sendable (_ filter: inout Filter, _ text: String, _ now: Timestamp) -> String?
  ) {
    self.name = name
    self.placeholder = placeholder
    self.label = label
    self.help = help
    self.kind = kind
    self.original = original
    self.isPersonal = isPersonal
    self.set = set
  }

  /// The name in a URL of the dashboard.
  public var queryName: String { String(name.map { $0 == "-" ? "_" : $0 }) }

}

/// The value of a flag.
public enum FilterFlag {
  /// The text of a flag that is given.
  public static let given = "yes"
}

extension FilterField {
  /// A field for an id or a name, which is compared exactly.
  static func id(
    _ name: String, _ placeholder: String, _ label: String, _ help: String, _ kind: Kind = .text,
    isPersonal: Bool = false, set: @escaping @Sendable (inout Filter, String) -> Void
  ) -> FilterField {
    FilterField(name, placeholder, label, help, kind, isPersonal: isPersonal) { filter, text, _ in
      guard UntrustedText.identifier(text) != nil else {
        return "must be 1 to \(UntrustedText.identifierBytesMax) bytes of plain text"
      }
      set(&filter, text)
      return nil
    }
  }

  static func app(_ set: @escaping @Sendable (inout Filter, AppSlug) -> Void) -> FilterField {
    id("app", "APP", "App", "Only those of this app", .app) { set(&$0, AppSlug($1)) }
  }

  static func processor(_ set: @escaping @Sendable (inout Filter, ProcessorName) -> Void) -> FilterField {
    id("processor", "PROCESSOR", "Processor", "Only those of this payment processor", .processor) {
      set(&$0, ProcessorName($1))
    }
  }

  static func choice<Value: RawRepresentable<String> & CaseIterable & Sendable>(
    _: Value.Type, _ name: String, _ label: String, _ help: String,
    set: @escaping @Sendable (inout Filter, Value) -> Void
  ) -> FilterField {
    let words = Value.allCases.map(\.rawValue)
    return FilterField(name, name.uppercased(), label, help, .choice(words)) { filter, text, _ in
      guard let value = Value(rawValue: text) else {
        return "must be one of \(words.joined(separator: ", ")), not '\(text)'"
      }
      set(&filter, value)
      return nil
    }
  }

  static func flag(
    _ name: String, _ label: String, _ help: String, set: @escaping @Sendable (inout Filter) -> Void
  ) -> FilterField {
    FilterField(name, nil, label, help, .flag) { filter, text, _ in
      guard text == FilterFlag.given else { return "must be '\(FilterFlag.given)', or left out" }
      set(&filter)
      return nil
    }
  }

  /// `since` and `until`.
  /// - Parameter verb: what happened to an entry at its time, such as `made`.
  static func times(
    _ verb: String, since: @escaping @Sendable (inout Filter, Timestamp) -> Void,
    until: @escaping @Sendable (inout Filter, Timestamp) -> Void
  ) -> [FilterField] {
    func field(
      _ name: String, _ label: String, _ help: String,
      _ set: @escaping @Sendable (inout Filter, Timestamp) -> Void
    ) -> FilterField {
      FilterField(name, "TIME", label, help, .moment) { filter, text, now in
        guard let time = MomentText.unixMilliseconds(parsing: text, now: now.unixMilliseconds) else {
          return "must be \(MomentText.forms), not '\(text)'"
        }
        set(&filter, Timestamp(unixMilliseconds: time))
        return nil
      }
    }
    let begin = "\(verb.capitalizedFirst) since"
    return [
      field("since", begin, "Only those \(verb) then or later: \(MomentText.forms)", since),
      field("until", "\(verb.capitalizedFirst) before", "Only those \(verb) before then", until),
    ]
  }
}

// MARK: - ListFilter

// Filters as people write them. Pure; called from any thread.

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
