// Reading JSON and JSON5 into a value, through the toolchain's own decoder. For text whose shape is not known
// before (configuration, test events). What must be fast reads straight into its own `Decodable`. Pure; any
// thread.

internal import FoundationEssentials

/// Why a text is not the JSON it should be.
public struct JSONSyntaxError: Error, Sendable, CustomStringConvertible {
  /// What is wrong and where, in the decoder's words.
  public let description: String
}

extension JSONValue: Decodable {
  public init(from decoder: any Decoder) throws {
    if let keyed = try? decoder.container(keyedBy: AnyKey.self) {
      // The decoder hands keys out in no order; sorted, a text always gives the same value.
      self = .object(
        try keyed.allKeys.sorted { $0.stringValue < $1.stringValue }.map {
          Member(name: $0.stringValue, value: try keyed.decode(JSONValue.self, forKey: $0))
        })
      return
    }
    if var list = try? decoder.unkeyedContainer() {
      var elements: [JSONValue] = []
      while !list.isAtEnd { elements.append(try list.decode(JSONValue.self)) }
      self = .array(elements)
      return
    }
    // Each `try?` asks whether the value is of that kind; the last one reports what it is not.
    let single = try decoder.singleValueContainer()
    if single.decodeNil() {
      self = .null
    } else if let flag = try? single.decode(Bool.self) {
      self = .bool(flag)
    } else if let number = try? single.decode(Int64.self) {
      self = .integer(number)
    } else if let number = try? single.decode(Double.self) {
      self = .number(number)
    } else {
      self = .string(try single.decode(String.self))
    }
  }

  private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Reads a text. The decoder forgives a comma behind the last element of a list or an object in any case.
  /// - Parameter json5: whether comments, trailing commas, unquoted names and the like are taken (json5.org).
  public init(parsing bytes: [UInt8], json5: Bool = false) throws(JSONSyntaxError) {
    // RFC 8259 §8.1. The decoder takes a text with a NUL near its start for UTF-16 or UTF-32.
    guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
      throw JSONSyntaxError(description: "not UTF-8 text")
    }
    if json5 { try Self.scan(text) }
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = json5
    do {
      // The decoder reads on behind a number that is the last thing in its buffer, and may then trap.
      self = try decoder.decode(JSONValue.self, from: Data(bytes + [UInt8(ascii: "\n")]))
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
}
