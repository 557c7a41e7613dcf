// Reads the value of `env:NAME`, `file:/path` or a secret in place. No report repeats a value (R7). Blocks on
// files; one thread.

internal import Formats
internal import Platform

/// How to treat a secret whose variable or file cannot be read.
public enum SecretPolicy: Sendable {
  /// It is a fault: the daemon needs every secret.
  case required
  /// It is kept without a value: operators who run receiptctl may lack access to the daemon's secrets, and
  /// few commands need one.
  case whereAvailable
}

/// Reads secrets for one configuration.
struct SecretReader {
  let environment: Environment
  let policy: SecretPolicy
  /// Whether every user of the machine may read or write the configuration file.
  let isFileOpenToAll: Bool
  let collector: FaultCollector

  private static let advice = "write \"env:NAME\" or \"file:/path\""

  /// - Parameter value: nil when the key is missing; the caller reports that.
  func secret(_ value: JSONValue?, path: String) -> Secret? {
    guard let value else { return nil }
    guard case .string(let text) = value else {
      collector.fault(path, "must be text; \(Self.advice)")
      return nil
    }
    if Self.isElsewhere(text) { return elsewhere(text, path: path, .secret) }
    if let flaw = Self.flaw(in: text) {
      collector.fault(path, "\(flaw); \(Self.advice)")
      return nil
    }
    if isFileOpenToAll {
      collector.warning(
        path,
        "is written in a file that all users of this machine can read; \(Self.advice), or take their "
          + "rights away (chmod o=)")
    }
    return Secret(text)
  }

  /// What kind of value a reference points to.
  private enum Form {
    /// One line.
    case secret
    /// Any number of lines.
    case document(bytesMax: Int)
    /// One line: the URL of a database.
    case databaseURL

    var fileBytesMax: Int {
      switch self {
      case .secret, .databaseURL: KeyRanges.secretFileBytesMax
      case .document(let bytesMax): bytesMax
      }
    }

    /// Whether nobody may read it. A document has public keys in most cases.
    var isSecret: Bool { if case .document = self { false } else { true } }

    /// What to put into the source.
    var advice: String {
      switch self {
      case .secret: "put the secret alone into it, on one line"
      case .document: "put the keys into it"
      case .databaseURL:
        "put the URL, postgres://…, alone into it, on one line; for a database file, write its path itself"
      }
    }

    /// What to do about a file that cannot be read.
    var fileAdvice: String {
      let isPath = if case .databaseURL = self { true } else { false }
      return "create it, or let the service's user read it"
        + (isPath ? "; for a database file, write its path without \"file:\"" : "")
    }

    /// Describes the fault of a value.
    func flaw(in value: String) -> String? {
      switch self {
      case .secret, .databaseURL: SecretReader.flaw(in: value)
      case .document(let bytesMax):
        value.utf8.allSatisfy({ $0 <= 0x20 })
          ? "is empty"
          : SecretReader.hasMark(value)
            ? SecretReader.markFlaw : value.utf8.count > bytesMax ? "is too long" : nil
      }
    }
  }

  /// A text of several lines, such as keys; never in place.
  func document(_ value: JSONValue, path: String, bytesMax: Int) -> Secret? {
    guard case .string(let text) = value, Self.isElsewhere(text) else {
      collector.fault(path, "must say where it is; \(Self.advice)")
      return nil
    }
    return elsewhere(text, path: path, .document(bytesMax: bytesMax))
  }

  /// The URL of a database that is not in place.
  func databaseURL(_ text: String, path: String) -> Secret? { elsewhere(text, path: path, .databaseURL) }

  static func isElsewhere(_ text: String) -> Bool {
    text.hasPrefix("env:") || text.hasPrefix("file:")
  }

  private func elsewhere(_ text: String, path: String, _ form: Form) -> Secret? {
    if text.hasPrefix("env:") { return variable(String(text.dropFirst(4)), path: path, form) }
    return text.hasPrefix("file:") ? file(String(text.dropFirst(5)), path: path, form) : nil
  }

  private func variable(_ name: String, path: String, _ form: Form) -> Secret? {
    let source = Secret.Source.environment(name)
    guard Self.isVariableName(name) else {
      collector.fault(path, "names no environment variable; write \"env:NAME\" with letters, digits and _")
      return nil
    }
    guard let value = environment[name] else {
      return unavailable(
        path, source,
        "needs the environment variable \(name), which is not set; set it where the service gets its "
          + "environment and restart the service (a reload does not read the environment again), or write "
          + "\"file:/path\"")
    }
    if let flaw = form.flaw(in: value) {
      return unavailable(
        path, source, "\(flaw) (in the environment variable \(name)); \(form.advice)")
    }
    return Secret(value, source: source)
  }

  private func file(_ file: String, path: String, _ form: Form) -> Secret? {
    guard file.hasPrefix("/"), !file.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      // Nothing is expanded, not even systemd's $CREDENTIALS_DIRECTORY: the path is used as written.
      collector.fault(
        path, "must name its file by the whole path, \"file:/path\"; variables are not expanded in it")
      return nil
    }
    let source = Secret.Source.file(file)
    var bytes: [UInt8]
    do {
      let content = try FileReading.content(of: file, bytesMax: form.fileBytesMax)
      if form.isSecret, content.isOpenToAll {
        collector.warning(
          path,
          "is in \(file), to which every user of this machine has access; take the rights of others away "
            + "(chmod o= \(file))")
      }
      bytes = content.bytes
    } catch {
      return unavailable(
        path, source,
        "cannot read \(file) (\(error.reason)); \(form.fileAdvice)")
    }
    if bytes.last == UInt8(ascii: "\n") {
      bytes.removeLast()
      if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    }
    guard let value = String(validating: bytes, as: UTF8.self) else {
      return unavailable(path, source, "is not UTF-8 text (in \(file)); \(form.advice)")
    }
    if let flaw = form.flaw(in: value) {
      return unavailable(path, source, "\(flaw) (in \(file)); \(form.advice)")
    }
    return Secret(value, source: source)
  }

  private func unavailable(_ path: String, _ source: Secret.Source, _ message: String) -> Secret {
    let fault = Fault(path: path, message: message)
    if policy == .required { collector.fault(path, message) }
    return Secret(unavailable: fault, source: source)
  }

  /// Some editors write it at the beginning of a file: U+FEFF, which is no part of any secret.
  private static let markFlaw = "begins with a byte order mark"
  private static func hasMark(_ value: String) -> Bool { value.unicodeScalars.first == "\u{FEFF}" }

  /// The marks that shells and env files take away, and word processors put in their place.
  private static let quotes: [(Character, Character)] = [
    ("\"", "\""), ("'", "'"), ("`", "`"), ("“", "”"), ("‘", "’"),
  ]

  /// Padding is a copying mistake that would make every signature wrong; a line break would end the header in
  /// which the secret is sent.
  private static func flaw(in value: String) -> String? {
    if hasMark(value) { return markFlaw }
    if value.count > 1, quotes.contains(where: { value.first == $0 && value.last == $1 }) {
      return "has quotation marks around it"
    }
    let isBlank: (Character) -> Bool = { $0.isWhitespace || $0.isNewline }
    if value.allSatisfy(isBlank) { return "is empty" }
    if value.first.map(isBlank) == true || value.last.map(isBlank) == true {
      return "has spaces or line breaks around it"
    }
    if value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return "has a control character in it" }
    return value.utf8.count > KeyRanges.secretBytesMax ? "is too long for a secret" : nil
  }

  private static func isVariableName(_ name: String) -> Bool {
    guard let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
      return false
    }
    return name.utf8.allSatisfy {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "_")
    }
  }
}
