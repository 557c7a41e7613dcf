// The conditions by which lists are filtered, each declared once: receiptctl makes its options from them, the
// dashboard its forms and URLs. Pure; called from any thread.

public import Domain
internal import Formats
internal import Platform
public import Store

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
  /// Whether it may be given several times, or once with commas: then each of the values matches.
  public let isRepeatable: Bool
  /// The field of which it is another name. The dashboard shows and links only that one.
  public let original: String?
  /// Whether its values may lead to a user: the audit does not keep them.
  public let isPersonal: Bool

  /// Sets the condition, and returns why the text is invalid, as the end of a sentence: `must be …`.
  let set: @Sendable (_ filter: inout Filter, _ text: String, _ now: Timestamp) -> String?

  /// - Parameter set: sets the condition, and returns why the text is invalid, as the end of a sentence.
  init(
    _ name: String, _ placeholder: String?, _ label: String, _ help: String, _ kind: Kind = .text,
    original: String? = nil, isPersonal: Bool = false, isRepeatable: Bool = false,
    set: @escaping @Sendable (_ filter: inout Filter, _ text: String, _ now: Timestamp) -> String?
  ) {
    self.isRepeatable = isRepeatable
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

  /// `state`: several may be given.
  static func states<State: RawRepresentable<String> & CaseIterable & Hashable & Sendable>(
    _ set: @escaping @Sendable (inout Filter, Set<State>) -> Void
  ) -> FilterField {
    let words = State.allCases.map(\.rawValue)
    return FilterField(
      "state", "STATE", "State", "Only those in this state", .choice(words), isRepeatable: true
    ) { filter, text, _ in
      guard let states = Set<State>(words: text) else {
        return "must be one of \(words.joined(separator: ", ")), not '\(text)'"
      }
      set(&filter, states)
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

// Lists that are read page by page, and their filters as people write them. Pure, but for reading; called
// from any thread.

/// Which entries of a list to show.
public protocol ListFilter: Sendable {
  associatedtype Row: Sendable
  associatedtype Position: ListPosition

  static var resource: Resource<Row> { get }
  /// In the order of help, forms and URLs.
  static var fields: [FilterField<Self>] { get }
  /// The names of the fields that are used seldom: a form shows them on request.
  static var rareFields: Set<String> { get }
  /// Whether it has more than one page.
  static var hasPages: Bool { get }

  /// The last entry of the previous page.
  var after: Position? { get set }

  /// All entries.
  init()

  /// Reads a page.
  func read(_ reader: StoreReader, limit: Int, now: Timestamp) throws(StoreFault) -> ListPage<Row, Position>

  /// How many entries match on all pages; nil if that is not known.
  func total(_ reader: StoreReader) throws(StoreFault) -> ListTotal?
}

/// A value that a field does not accept. Nothing is sanitized: the message may repeat the value.
public struct FilterFault: Error, Sendable, Equatable {
  /// The field's name, as an option.
  public var name: String
  /// What is wrong, as the end of a sentence: `must be …`.
  public var message: String
}

extension ListFilter {
  public static var rareFields: Set<String> { [] }
  public static var hasPages: Bool { true }

  public func total(_: StoreReader) throws(StoreFault) -> ListTotal? { nil }

  /// The filter that people have written.
  /// - Parameters:
  ///   - fields: those that may be given.
  ///   - value: the text of a field; nil if it is not given.
  public init(
    _ fields: [FilterField<Self>] = Self.fields, now: Timestamp, _ value: (FilterField<Self>) -> String?
  ) throws(FilterFault) {
    self.init()
    for field in fields {
      if let text = value(field) { try set(field, text, now: now) }
    }
  }

  /// Adds the condition of a field.
  public mutating func set(
    _ field: FilterField<Self>, _ text: String, now: Timestamp
  ) throws(FilterFault) {
    if let message = field.set(&self, text, now) { throw FilterFault(name: field.name, message: message) }
  }

  /// Continues after a position, as options and URLs have it.
  public mutating func `continue`(after text: String) throws(FilterFault) {
    after = Position(position: text)
    guard after == nil else { return }
    let one = Self.resource.one
    let article = one.first.map("aeiou".contains) == true ? "an" : "a"
    throw FilterFault(name: "after", message: "must be the \(Position.form(of: "\(article) \(one)"))")
  }
}

/// The position of an entry in its list.
public protocol ListPosition: Sendable {
  /// As options and URLs have it; nil if nothing can have it.
  init?(position: String)

  var position: String { get }

  /// What it is, as the end of a sentence: `number of an attempt`.
  static func form(of entry: String) -> String
}

extension ListPosition where Self: GeneratedID {
  public init?(position: String) {
    self.init(position)
    guard isWellFormed else { return nil }
  }

  public var position: String { text }

  public static func form(of entry: String) -> String { "id of \(entry), \(prefix)…" }
}

extension ReceiptID: ListPosition {}
extension ContextID: ListPosition {}
extension JobID: ListPosition {}

extension Int64: ListPosition {
  public init?(position: String) {
    guard let number = Int64(position), number > 0 else { return nil }
    self = number
  }

  public var position: String { String(self) }

  public static func form(of entry: String) -> String { "number of \(entry)" }
}

extension EventRowID: ListPosition {
  public init?(position: String) {
    guard let number = Int64(position: position) else { return nil }
    self.init(number)
  }

  public var position: String { number.position }

  public static func form(of entry: String) -> String { Int64.form(of: entry) }
}
