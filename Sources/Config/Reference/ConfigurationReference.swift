// The keys of this program, for everything that describes them. Pure; any thread.

internal import Formats

/// Every key that a configuration file may have, in the order of the manual page.
public enum ConfigurationReference {
  /// The keys of the outermost object.
  public static let keys = keys(.standard)

  /// Every key with its path, each followed by its members.
  public static let entries = ConfigurationEntry.all(keys)

  /// The keys with the sections of these processors.
  static func keys(_ registry: ProcessorRegistry) -> [KeyDescription] {
    Configuration.section(registry).members
  }
}

extension KeyDescription {
  /// The values that it accepts, as the beginning of a sentence.
  var values: String? { shape.words.map { "\($0.prefix(1).uppercased())\($0.dropFirst())" } }

  /// The default, in JSON5.
  var standard: String? {
    guard case .standard(let value) = need else { return nil }
    return value.json5
  }

  /// What the key is for, what it accepts, and what holds without it.
  public var paragraph: String {
    var sentences = [text]
    if let values { sentences.append("\(values).") }
    if need == .required { sentences.append("Required.") }
    if let standard {
      sentences.append("Default: \(standard).")
    } else if let example {
      sentences.append("Example: \(example.json5).")
    }
    if needsRestart { sentences.append("A change takes effect at the next start.") }
    return sentences.joined(separator: " ")
  }
}

extension JSONValue {
  /// The value on one line, as people write it in JSON5.
  var json5: String {
    switch self {
    case .array(let elements): "[\(elements.map(\.json5).joined(separator: ", "))]"
    case .object(let members) where members.isEmpty: "{}"
    case .object(let members):
      "{ \(members.map { "\(JSONValue.key($0.name)): \($0.value.json5)" }.joined(separator: ", ")) }"
    case .number(let number): Int(exactly: number).map(String.init) ?? text
    default: text
    }
  }

  /// The name of a member, in quotes unless it is an identifier of letters, digits and underscores.
  static func key(_ name: String) -> String {
    let isPlain = name.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    let startsWithDigit = name.utf8.first.map { $0 < UInt8(ascii: "A") } ?? true
    return isPlain && !startsWithDigit ? name : JSONValue.string(name).text
  }
}
