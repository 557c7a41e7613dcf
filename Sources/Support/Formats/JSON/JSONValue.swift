// A JSON value as data. The output of the project (answers, log lines, receipts, `--json`) is built from such
// values and serialized in one place. Pure; thread-safe.

/// A JSON value (RFC 8259 §3). Objects keep the order of their members.
public enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([Member])

  /// A name and value of an object.
  public struct Member: Sendable, Equatable {
    public var name: String
    public var value: JSONValue

    public init(name: String, value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// An object with one more member; any other value unchanged.
  public func adding(_ name: String, _ value: JSONValue) -> JSONValue {
    guard case .object(let members) = self else { return self }
    return .object(members + [Member(name: name, value: value)])
  }

  /// A string, or null for nil.
  public static func optional(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

  /// An integer, or null for nil.
  public static func optional(_ number: Int64?) -> JSONValue { number.map(JSONValue.integer) ?? .null }

  /// The value of the first member with this name; nil when this is not an object or has no such member.
  /// Names are compared by code units (RFC 8259 §8.3), because Swift treats canonically equivalent texts as
  /// equal.
  public subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// The text of a string; nil for any other kind.
  public var stringValue: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { Member(name: $0.0, value: $0.1) })
  }
}

// MARK: - Serialization

// Writes JSON text (RFC 8259). Compact by default; `pretty` indents by two spaces. Pure; thread-safe.

extension JSONValue {
  /// The value as compact JSON text in UTF-8.
  public func serialized() -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(512)
    write(to: &out)
    return out
  }

  /// The value as compact JSON text.
  public var text: String { String(decoding: serialized(), as: UTF8.self) }

  /// The value as JSON text indented by two spaces per level, for people.
  public var prettyText: String {
    var out: [UInt8] = []
    write(to: &out, indent: 0)
    return String(decoding: out, as: UTF8.self)
  }

  /// - Parameter indent: the level of indentation, or nil for compact text.
  private func write(to out: inout [UInt8], indent: Int? = nil) {
    switch self {
    case .null: out.append(contentsOf: "null".utf8)
    case .bool(let flag): out.append(contentsOf: (flag ? "true" : "false").utf8)
    case .integer(let number): out.append(contentsOf: String(number).utf8)
    // RFC 8259 §6: infinities and NaN are not JSON.
    case .number(let number): out.append(contentsOf: (number.isFinite ? String(number) : "null").utf8)
    case .string(let text): Self.write(text, to: &out)
    case .array(let elements):
      Self.writeList(elements, "[", "]", to: &out, indent: indent) { $0.write(to: &$1, indent: $2) }
    case .object(let members):
      Self.writeList(members, "{", "}", to: &out, indent: indent) { member, out, level in
        Self.write(member.name, to: &out)
        out.append(contentsOf: (level == nil ? ":" : ": ").utf8)
        member.value.write(to: &out, indent: level)
      }
    }
  }

  private static func writeList<Element>(
    _ elements: [Element], _ open: String, _ close: String, to out: inout [UInt8], indent: Int?,
    element: (Element, inout [UInt8], Int?) -> Void
  ) {
    func newLine(_ level: Int, _ out: inout [UInt8]) {
      out.append(UInt8(ascii: "\n"))
      out.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * level))
    }
    out.append(contentsOf: open.utf8)
    for (position, item) in elements.enumerated() {
      if position > 0 { out.append(UInt8(ascii: ",")) }
      if let indent { newLine(indent + 1, &out) }
      element(item, &out, indent.map { $0 + 1 })
    }
    if let indent, !elements.isEmpty { newLine(indent, &out) }
    out.append(contentsOf: close.utf8)
  }

  /// RFC 8259 §7: only the quotation mark, the reverse solidus and U+0000–U+001F must be escaped.
  private static func write(_ text: String, to out: inout [UInt8]) {
    out.append(UInt8(ascii: "\""))
    let bytes = text.utf8.span
    if isPlain(bytes) {
      out.append(contentsOf: text.utf8)
    } else {
      for index in bytes.indices { write(bytes[index], to: &out) }
    }
    out.append(UInt8(ascii: "\""))
  }

  private static func isPlain(_ bytes: Span<UInt8>) -> Bool {
    for index in bytes.indices {
      let byte = bytes[index]
      if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return false }
    }
    return true
  }

  private static func write(_ byte: UInt8, to out: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      out.append(UInt8(ascii: "\\"))
      out.append(byte)
    case UInt8(ascii: "\n"): out.append(contentsOf: "\\n".utf8)
    case UInt8(ascii: "\r"): out.append(contentsOf: "\\r".utf8)
    case UInt8(ascii: "\t"): out.append(contentsOf: "\\t".utf8)
    case 0..<0x20:
      out.append(contentsOf: "\\u00".utf8)
      for half in [byte >> 4, byte & 15] {
        out.append(half < 10 ? UInt8(ascii: "0") + half : UInt8(ascii: "a") + half - 10)
      }
    default: out.append(byte)
    }
  }
}

// MARK: - Decoding

// Reads JSON and JSON5 into a value, for text of unknown structure (configuration, test events). Code that
// must be fast reads single fields (JSONDocument). Pure; thread-safe.
//
// JSON is read by the parser that reads the daemon's requests, JSON5 (only the configuration) by JSON5Reader.
// Foundation's decoder is used for neither: in JSON it accepts a comma after the last element, treats a text
// with a NUL near its start as UTF-16, and treats canonically equivalent names as one name; some numbers of
// JSON5 make it trap.

/// The syntax error of a text.
public struct JSONSyntaxError: Error, Sendable, CustomStringConvertible {
  /// The fault and its position, for messages.
  public let description: String
}

extension JSONValue {
  /// Parses a text. The members of an object are sorted by name. Of several members with one name the first
  /// is kept.
  /// - Parameter json5: whether to accept comments, trailing commas, unquoted names and other JSON5 syntax
  ///   (json5.org).
  public init(parsing bytes: [UInt8], json5: Bool = false) throws(JSONSyntaxError) {
    self = json5 ? try Self.readJSON5(bytes) : try Self.readJSON(bytes)
  }

  private static func readJSON5(_ bytes: [UInt8]) throws(JSONSyntaxError) -> JSONValue {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw JSONSyntaxError(description: "not UTF-8 text")
    }
    var reader = JSON5Reader(text)
    do throws(JSON5Reader.SyntaxFault) {
      return try reader.read()
    } catch {
      throw JSONSyntaxError(
        description: "line \(error.place.line), column \(error.place.column): \(error.message)")
    }
  }

  private static func readJSON(_ bytes: [UInt8]) throws(JSONSyntaxError) -> JSONValue {
    let value = try JSONDocument.read(bytes) { root throws(JSONSyntaxError) in
      guard let value = Self.value(of: root) else {
        throw JSONSyntaxError(
          description: "a string with half of a surrogate pair, or a number too large for any type")
      }
      return value
    }
    guard let value else { throw JSONSyntaxError(description: fault(in: bytes)) }
    return value
  }

  private static func fault(in bytes: [UInt8]) -> String {
    guard let offset = JSONDocument.faultOffset(bytes) else { return "not JSON" }
    guard offset < bytes.count else { return "the text ends too early" }
    let before = bytes[..<offset]
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let column = offset - (before.lastIndex(of: UInt8(ascii: "\n")) ?? -1)
    return "line \(line), byte \(column): not JSON (RFC 8259)"
  }

  /// - Returns: nil when a part of it cannot be represented.
  private static func value(of node: JSONNode) -> JSONValue? {
    if node.isNull { return .null }
    if let flag = node.bool { return .bool(flag) }
    if let number = node.int64 { return .integer(number) }
    if let number = node.double { return .number(number) }
    if let text = node.string { return .string(text) }
    var isWhole = true
    if node.isArray {
      var elements: [JSONValue] = []
      node.forEachElement { element in
        if let value = Self.value(of: element) { elements.append(value) } else { isWhole = false }
      }
      return isWhole ? .array(elements) : nil
    }
    guard node.isObject else { return nil }
    var members: [Member] = []
    node.forEachMember { name, node in
      guard let name = name.string, let value = Self.value(of: node) else { return isWhole = false }
      members.append(Member(name: name, value: value))
    }
    return isWhole ? .object(ordered(members)) : nil
  }

  /// Sorts by name and removes duplicates. The sort is stable, so the first of a name is kept.
  static func ordered(_ members: [Member]) -> [Member] {
    var ordered: [Member] = []
    ordered.reserveCapacity(members.count)
    for member in members.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
      if let last = ordered.last, last.name.utf8.elementsEqual(member.name.utf8) { continue }
      ordered.append(member)
    }
    return ordered
  }
}
