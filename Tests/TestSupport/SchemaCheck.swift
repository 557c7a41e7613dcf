// Checks a value against a JSON Schema. Knows the keywords of draft 2020-12 that the project's schema uses;
// any other is an error, so that nothing passes because it was not looked at. Pure; any thread.

package import Formats

package struct SchemaCheck {
  /// What does not fit, each with its path in the value.
  package private(set) var errors: [String] = []

  package init(_ value: JSONValue, _ schema: JSONValue) { check(value, schema, "") }

  private static func fits(_ value: JSONValue, _ schema: JSONValue) -> Bool {
    SchemaCheck(value, schema).errors.isEmpty
  }

  private mutating func check(_ value: JSONValue, _ schema: JSONValue, _ path: String) {
    guard case .object(let keywords) = schema else {
      if schema == false { errors.append("\(path): nothing is allowed here") }
      return
    }
    for keyword in keywords where !fits(value, keyword, schema, path) {
      errors.append("\(path): \(keyword.name) \(keyword.value.text)")
    }
  }

  /// Whether a value fits one keyword. Errors of members and elements are added with their own paths.
  private mutating func fits(
    _ value: JSONValue, _ keyword: JSONValue.Member, _ schema: JSONValue, _ path: String
  ) -> Bool {
    switch (keyword.name, keyword.value) {
    case ("$schema", _), ("title", _), ("description", _), ("default", _), ("examples", _): return true
    case ("type", .string(let type)): return Self.types(of: value).contains(type)
    case ("enum", .array(let values)): return values.contains(value)
    case ("anyOf", .array(let schemas)): return schemas.contains { Self.fits(value, $0) }
    case ("oneOf", .array(let schemas)): return schemas.filter { Self.fits(value, $0) }.count == 1
    case ("not", let schema): return !Self.fits(value, schema)
    case ("if", let condition):
      return !Self.fits(value, condition) || Self.fits(value, schema["then"] ?? true)
    case ("then", _): return true
    default:
      switch value {
      case .string(let text): return fits(text, keyword)
      case .array(let elements): return fits(elements, keyword, path)
      case .object(let members): return fits(members, keyword, schema, path)
      default: return fits(Self.number(value), keyword)
      }
    }
  }

  private static func types(of value: JSONValue) -> [String] {
    switch value {
    case .null: ["null"]
    case .bool: ["boolean"]
    case .integer: ["integer", "number"]
    case .number(let number): Int64(exactly: number) == nil ? ["number"] : ["integer", "number"]
    case .string: ["string"]
    case .array: ["array"]
    case .object: ["object"]
    }
  }

  private static func number(_ value: JSONValue) -> Double? {
    switch value {
    case .integer(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }

  private static let keywordsOfOtherTypes: Set<String> = [
    "minimum", "maximum", "minLength", "maxLength", "pattern", "items", "minItems", "maxItems", "properties",
    "required", "additionalProperties", "propertyNames", "minProperties", "maxProperties",
  ]

  /// A keyword does not concern values of another type.
  private static func isElsewhere(_ keyword: JSONValue.Member) -> Bool {
    keywordsOfOtherTypes.contains(keyword.name)
  }

  private func fits(_ number: Double?, _ keyword: JSONValue.Member) -> Bool {
    guard let number, let limit = Self.number(keyword.value) else { return Self.isElsewhere(keyword) }
    switch keyword.name {
    case "minimum": return number >= limit
    case "maximum": return number <= limit
    default: return Self.isElsewhere(keyword)
    }
  }

  private func fits(_ text: String, _ keyword: JSONValue.Member) -> Bool {
    switch (keyword.name, keyword.value) {
    case ("minLength", .integer(let least)): return text.unicodeScalars.count >= least
    case ("maxLength", .integer(let most)): return text.unicodeScalars.count <= most
    case ("pattern", .string(let pattern)):
      guard let regex = try? Regex(pattern) else { return false }
      return text.contains(regex)
    default: return Self.isElsewhere(keyword)
    }
  }

  private mutating func fits(_ elements: [JSONValue], _ keyword: JSONValue.Member, _ path: String) -> Bool {
    switch (keyword.name, keyword.value) {
    case ("minItems", .integer(let least)): return elements.count >= least
    case ("maxItems", .integer(let most)): return elements.count <= most
    case ("items", let schema):
      for (index, element) in elements.enumerated() { check(element, schema, "\(path)[\(index)]") }
      return true
    default: return Self.isElsewhere(keyword)
    }
  }

  private mutating func fits(
    _ members: [JSONValue.Member], _ keyword: JSONValue.Member, _ schema: JSONValue, _ path: String
  ) -> Bool {
    switch (keyword.name, keyword.value) {
    case ("minProperties", .integer(let least)): return members.count >= least
    case ("maxProperties", .integer(let most)): return members.count <= most
    case ("required", .array(let names)):
      return names.allSatisfy { name in members.contains { .string($0.name) == name } }
    case ("propertyNames", let schema): return members.allSatisfy { Self.fits(.string($0.name), schema) }
    case ("properties", let properties):
      for member in members {
        if let schema = properties[member.name] { check(member.value, schema, "\(path).\(member.name)") }
      }
      return true
    case ("additionalProperties", let other):
      for member in members where schema["properties"]?[member.name] == nil {
        check(member.value, other, "\(path).\(member.name)")
      }
      return true
    default: return Self.isElsewhere(keyword)
    }
  }
}
