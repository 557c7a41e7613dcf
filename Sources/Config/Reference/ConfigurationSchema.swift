// The JSON Schema of the configuration, with which editors check and complete it. Pure; any thread.

public import Formats

/// A JSON Schema of draft 2020-12 (json-schema.org/draft/2020-12). It uses no keyword that an editor with an
/// older draft does not know.
public enum ConfigurationSchema {
  public static let value = value(.standard)

  /// The schema with the sections of these processors.
  static func value(_ registry: ProcessorRegistry) -> JSONValue {
    let section = Configuration.section(registry)
    let reference: JSONValue = ["type": "string", "description": "The address of this schema, for editors."]
    let head: JSONValue = [
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "Configuration of receiptd",
    ]
    return merged(head, object(section.members, others: [ObjectReader.schemaKey: reference]))
  }

  /// The schema of an object with these keys and no others.
  /// - Parameters:
  ///   - others: further properties.
  ///   - rules: keywords that concern several keys.
  static func object(
    _ keys: [KeyDescription], others: JSONValue = [:], rules: JSONValue = [:]
  ) -> JSONValue {
    let properties = JSONValue.object(keys.map { .init(name: $0.name, value: property($0)) })
    var schema: JSONValue = ["type": "object", "properties": merged(others, properties)]
    let required = keys.filter(\.isRequired).map { JSONValue.string($0.name) }
    if !required.isEmpty { schema = schema.adding("required", .array(required)) }
    return merged(schema.adding("additionalProperties", false), rules)
  }

  /// The schema of a key's value, with its description, default and example.
  private static func property(_ key: KeyDescription) -> JSONValue {
    let words = key.shape.words.map { " \($0.prefix(1).uppercased())\($0.dropFirst())." } ?? ""
    var schema = merged(["description": .string(key.text + words)], key.shape.schema)
    if case .standard(let value) = key.need { schema = schema.adding("default", value) }
    if let example = key.example { schema = schema.adding("examples", [example]) }
    return schema
  }

  private static func merged(_ first: JSONValue, _ second: JSONValue) -> JSONValue {
    guard case .object(let members) = second else { return first }
    return members.reduce(first) { $0.adding($1.name, $1.value) }
  }
}
