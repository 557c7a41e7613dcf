// The starter file that `receiptctl config init` writes, generated from the declarations of the keys. Pure;
// any thread.

internal import Formats

/// The commented starter file.
public enum ConfigurationTemplate {
  /// JSON5 that loads once the secret files that it names exist. A line that begins with `//` without a space
  /// states a default; every other comment explains, or is an example.
  public static let text = text(.standard)

  /// The text with the sections of these processors.
  /// - Parameter isEveryKeySet: whether defaults and examples are values, too, and not comments. Some of
  ///   them exclude each other.
  static func text(_ registry: ProcessorRegistry, isEveryKeySet: Bool = false) -> String {
    var writer = TemplateWriter(isEveryKeySet: isEveryKeySet)
    writer.members(ConfigurationReference.keys(registry), isSpaced: true)
    return "\(head){\n\(writer.text)}\n"
  }

  private static let head = #"""
    // Configuration of receiptd (JSON5: comments and trailing commas are allowed).
    //
    // A line that begins with two slashes and no space states a default: remove the slashes to change it.
    // Lines that begin with two slashes, a space and a key are examples of keys that have no default.
    // Durations: "250ms" "30s" "5m" "72h" "30d". Sizes: "512B" "64KiB" "1MiB". Secrets: "file:/path" is read
    // from a file without the newline at its end, "env:NAME" from an environment variable.
    //
    // Check this file with: receiptctl config check. A running receiptd reads it and the files of secrets
    // again with: receiptctl reload. It reads the environment and systemd credentials at its start only: a
    // new value there needs a restart.

    """#
}

/// Writes keys as lines of the file.
private struct TemplateWriter {
  private static let columnsMax = 110

  private let isEveryKeySet: Bool
  private(set) var text = ""
  private var level = 1
  /// The indentation of the comment that the present lines are in.
  private var commentLevel: Int?

  init(isEveryKeySet: Bool) { self.isEveryKeySet = isEveryKeySet }

  /// - Parameter isSpaced: whether empty lines separate the keys.
  mutating func members(_ keys: [KeyDescription], isSpaced: Bool = false) {
    for (index, key) in keys.enumerated() {
      if isSpaced, index > 0 { text += "\n" }
      write(key)
    }
  }

  private mutating func write(_ key: KeyDescription) {
    explain(key.text)
    if key.shape.members.isEmpty { return writeValue(key) }
    switch key.need {
    case .required, .section, .alternative(isPreferred: true): writeSection(key)
    case .absent, .alternative, .standard: commented { $0.writeSection(key) }
    }
  }

  private mutating func writeSection(_ key: KeyDescription) {
    let name = JSONValue.key(key.name)
    // An app's name is the operator's choice.
    let (opening, closing) =
      switch key.shape.infix {
      case "": (["\(name): {"], ["},"])
      case "[]": (["\(name): [", "{"], ["},", "],"])
      default: (["\(name): {", "ios: {"], ["},", "},"])
      }
    for line in opening {
      add(line)
      level += 1
    }
    members(key.shape.members, isSpaced: key.shape.infix.hasPrefix("."))
    for line in closing {
      level -= 1
      add(line)
    }
  }

  private mutating func writeValue(_ key: KeyDescription) {
    let name = JSONValue.key(key.name)
    switch key.need {
    case .standard(let value) where commentLevel == nil:
      add("\(isEveryKeySet ? "" : "//")\(name): \(value.json5),")
    case .standard(let value): addValue(name, key.example ?? value)
    case .required, .section, .alternative(isPreferred: true): addValue(name, key.example ?? "")
    case .alternative: addExample(name, key)
    case .absent:
      if commentLevel == nil { addExample(name, key) } else { addValue(name, key.example ?? "") }
    }
  }

  private mutating func addExample(_ name: String, _ key: KeyDescription) {
    add("\(isEveryKeySet ? "" : "// ")\(name): \((key.example ?? "").json5),")
  }

  /// One line, or a line for each element of a list that is too long for that.
  private mutating func addValue(_ name: String, _ value: JSONValue) {
    let line = "\(name): \(value.json5),"
    guard case .array(let elements) = value, indented(line).count > Self.columnsMax else { return add(line) }
    add("\(name): [")
    level += 1
    for element in elements { add("\(element.json5),") }
    level -= 1
    add("],")
  }

  /// Writes lines that an operator may take out of their comment.
  private mutating func commented(_ body: (inout TemplateWriter) -> Void) {
    let outer = commentLevel
    if outer == nil { commentLevel = level }
    body(&self)
    commentLevel = outer
  }

  private mutating func explain(_ words: String) {
    var line = "//"
    for word in words.split(separator: " ") {
      if indented("\(line) \(word)").count > Self.columnsMax {
        add(line)
        line = "//"
      }
      line += " \(word)"
    }
    add(line)
  }

  private mutating func add(_ line: String) { text += "\(indented(line))\n" }

  private func indented(_ line: String) -> String {
    guard let commentLevel, !isEveryKeySet else { return String(repeating: "  ", count: level) + line }
    let inner = String(repeating: "  ", count: level - commentLevel)
    return "\(String(repeating: "  ", count: commentLevel))// \(inner)\(line)"
  }
}
