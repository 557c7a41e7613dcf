// The manual page of the configuration, generated from the starter file: its comments are the documentation
// of every key. Pure; any thread.

internal import Configuration
internal import Relay
internal import Telemetry
internal import Terminal

/// Reads the starter file line by line.
struct ConfigurationManual {
  /// One key, or a group of keys.
  struct Entry: Equatable {
    /// The full path, such as `apps.NAME.stripe.tolerance`.
    var path: String
    var comment: String
    /// Its value in the starter file; nil for a group.
    var value: String?
    var kind: Kind
  }

  enum Kind {
    case group, required, optional, withDefault
  }

  private(set) var entries: [Entry] = []
  private var path: [String] = []
  private var comment: [String] = []
  /// How many of the open groups are in comments, which means that a file may omit them.
  private var optionalDepth = 0

  init(_ template: String) {
    for line in template.split(separator: "\n", omittingEmptySubsequences: false) {
      read(line.drop { $0 == " " })
    }
  }

  private mutating func read(_ line: Substring) {
    if optionalDepth > 0, line.hasPrefix("//") { return readOptional(line.dropFirst(2).drop { $0 == " " }) }
    // The text above the first brace describes the file.
    if line.isEmpty || line == "{" {
      comment = []
    } else if line.hasPrefix("// "), let (key, value) = Self.member(line.dropFirst(3)), Self.isValue(value) {
      addOptional(key, value)
    } else if line.hasPrefix("// ") {
      comment.append(String(line.dropFirst(3)))
    } else if line.hasPrefix("//"), let (key, value) = Self.member(line.dropFirst(2)) {
      add(key, value, .withDefault)
    } else if line.hasPrefix("}") {
      _ = path.popLast()
    } else if let (key, value) = Self.member(line) {
      if value == "{" {
        // The operator chooses the name of an app.
        open(path == ["apps"] ? "NAME" : key)
      } else {
        add(key, value, .required)
      }
    }
  }

  /// A line of a commented-out group, without the slashes and the spaces before it.
  private mutating func readOptional(_ line: Substring) {
    if line.hasPrefix("// ") {
      comment.append(String(line.dropFirst(3)))
    } else if line.hasPrefix("}") {
      _ = path.popLast()
      optionalDepth -= 1
    } else if let (key, value) = Self.member(line) {
      addOptional(key, value)
    }
  }

  private mutating func addOptional(_ key: String, _ value: String) {
    guard value == "{" else { return add(key, value, .optional) }
    optionalDepth += 1
    open(key)
  }

  private mutating func open(_ group: String) {
    path.append(group)
    entries.append(Entry(path: path.joined(separator: "."), comment: text(), value: nil, kind: .group))
  }

  private mutating func add(_ key: String, _ value: String, _ kind: Kind) {
    let path = (path + [key]).joined(separator: ".")
    entries.append(Entry(path: path, comment: text(), value: value, kind: kind))
  }

  /// The preceding comment; it belongs to one key only.
  private mutating func text() -> String {
    defer { comment = [] }
    return comment.joined(separator: " ")
  }

  /// `key: value,`
  private static func member(_ line: Substring) -> (key: String, value: String)? {
    guard let colon = line.firstIndex(of: ":") else { return nil }
    let key = line[..<colon].replacing("\"", with: "")
    let isKey = key.utf8.allSatisfy { (97...122).contains($0) || $0 == UInt8(ascii: "_") }
    guard !key.isEmpty, isKey else { return nil }
    var value = line[line.index(after: colon)...].drop { $0 == " " }
    if value.last == "," { value.removeLast() }
    return (String(key), String(value))
  }

  /// Whether the text after a colon is a value, and not the rest of a sentence.
  private static func isValue(_ text: String) -> Bool {
    text.first.map { "\"[{".contains($0) || $0.isNumber } ?? false
  }

  /// The text of the page.
  static var text: String {
    let reading = ConfigurationManual(ConfigurationTemplate.text)
    var page = Roff("receiptd.json5", section: 5, source: "Receipt Relay \(Version.number)")
    page.name("receiptd.json5", "configuration of receiptd and receiptctl")
    page.section("DESCRIPTION")
    page.paragraph(
      """
      One JSON5 file: comments and trailing commas are fine, unknown keys are faults. Durations are "250ms", \
      "30s", "5m", "72h", "30d"; sizes are "512B", "64KiB", "1MiB". A secret is "file:/path", read from a \
      file whose last newline is dropped, "env:NAME", read from an environment variable, or the text itself.
      """)
    page.paragraph(
      """
      A starter file comes from: receiptctl config init. Faults are found by: receiptctl config check. A \
      running receiptd reads it and the files of secrets again with: receiptctl reload, which reports the \
      result. Listeners, limits, log and database stay as they are until a restart, and so do secrets in the \
      environment and systemd credentials.
      """)
    page.section("KEYS")
    for entry in reading.entries {
      let words = entry.comment.isEmpty ? "" : "\(entry.comment) "
      switch entry.kind {
      case .group: page.subsection(entry.path)
      case .required:
        // The comment says when, if it is not always required.
        let word = words.contains("Required") ? "For instance" : "Required; for instance"
        page.term(entry.path, "\(words)\(word) \(entry.value ?? "").")
      case .optional: page.term(entry.path, "\(words)Unset by default; for instance \(entry.value ?? "").")
      case .withDefault: page.term(entry.path, "\(words)Default: \(entry.value ?? "").")
      }
      if entry.kind == .group, !entry.comment.isEmpty { page.paragraph(entry.comment) }
    }
    page.section("SEE ALSO")
    page.paragraph("receiptd(8), receiptctl(1)")
    return page.text
  }
}
