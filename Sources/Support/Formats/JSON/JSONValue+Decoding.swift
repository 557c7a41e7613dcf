// Reads JSON and JSON5 into a value, for text of unknown structure (configuration, test events). Code that
// must be fast reads single fields (JSONDocument). Pure; thread-safe.
//
// JSON is read by the parser that reads the daemon's requests. JSON5 is read for the configuration only, by
// Foundation's decoder after JSON5Scanner. Foundation's decoder is not used for JSON: it accepts a comma
// after the last element, treats a text with a NUL near its start as UTF-16, and treats canonically
// equivalent names as one name.

internal import FoundationEssentials

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
  private static func ordered(_ members: [Member]) -> [Member] {
    var ordered: [Member] = []
    ordered.reserveCapacity(members.count)
    for member in members.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
      if let last = ordered.last, last.name.utf8.elementsEqual(member.name.utf8) { continue }
      ordered.append(member)
    }
    return ordered
  }
}

// MARK: JSON5

extension JSONValue {
  private static func readJSON5(_ bytes: [UInt8]) throws(JSONSyntaxError) -> JSONValue {
    // The decoder treats a text with a NUL near its start as UTF-16 or UTF-32.
    guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
      throw JSONSyntaxError(description: "not UTF-8 text")
    }
    try scan(text)
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    do {
      // The decoder reads past a number at the end of its buffer, and may then trap.
      return try decoder.decode(Decoded.self, from: Data(bytes + [UInt8(ascii: "\n")])).value
    } catch DecodingError.dataCorrupted(let context) {
      let reason = context.underlyingError.map { "\(context.debugDescription) \($0)" }
      throw JSONSyntaxError(description: reason ?? context.debugDescription)
    } catch {
      throw JSONSyntaxError(description: "not a JSON value")
    }
  }

  private static func scan(_ text: String) throws(JSONSyntaxError) {
    var scanner = JSON5Scanner(text)
    do throws(JSON5Scanner.SyntaxFault) {
      try scanner.scan()
    } catch {
      let place = "line \(error.place.line), column \(error.place.column)"
      throw JSONSyntaxError(description: "\(place): \(error.message)")
    }
  }

  /// A value from the decoder.
  private struct Decoded: Decodable {
    let value: JSONValue

    init(from decoder: any Decoder) throws {
      if let keyed = try? decoder.container(keyedBy: AnyKey.self) {
        // The decoder returns keys in no defined order; sorting makes the result deterministic.
        value = .object(
          JSONValue.ordered(
            try keyed.allKeys.map {
              Member(name: $0.stringValue, value: try keyed.decode(Decoded.self, forKey: $0).value)
            }))
        return
      }
      if var list = try? decoder.unkeyedContainer() {
        var elements: [JSONValue] = []
        while !list.isAtEnd { elements.append(try list.decode(Decoded.self).value) }
        value = .array(elements)
        return
      }
      // Each `try?` tests for one kind; the last one throws an error for any other kind.
      let single = try decoder.singleValueContainer()
      if single.decodeNil() {
        value = .null
      } else if let flag = try? single.decode(Bool.self) {
        value = .bool(flag)
      } else if let number = try? single.decode(Int64.self) {
        value = .integer(number)
      } else if let number = try? single.decode(Double.self) {
        value = .number(number)
      } else {
        value = .string(try single.decode(String.self))
      }
    }
  }

  private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}
