// The differences between two configurations, by key and without any value. Pure; any thread.

internal import Cryptography
internal import Domain
internal import Formats
internal import Platform

/// A configuration with the content of its files at the time it was read.
public struct ConfigurationSnapshot: Sendable {
  let configuration: Configuration
  /// Digests of the listener's certificate and key, by configuration key.
  private let files: [String: [UInt8]]

  /// Reads the certificate's files; an unreadable file has no digest.
  public init(_ configuration: Configuration) {
    self.configuration = configuration
    var files: [String: [UInt8]] = [:]
    let tls = configuration.listen.tls
    for (key, path) in [
      ("listen.tls.certificate", tls?.certificatePath), ("listen.tls.key", tls?.keyPath),
    ] {
      guard let path,
        let content = try? FileReading.content(of: path, bytesMax: KeyRanges.pemFileBytesMax)
      else { continue }
      files[key] = Array(SHA256.digest(content.bytes))
    }
    self.files = files
  }

  /// The keys in which a newer snapshot differs, in the order of the manual page.
  /// - Returns: the keys that a reload applies, and those that need a restart.
  public func changes(to newer: ConfigurationSnapshot) -> (reloadable: [String], fixed: [String]) {
    var keys = Self.differences(configuration.redacted, newer.configuration.redacted, path: "")
    let before = Dictionary(configuration.secrets.map { ($0.path, $0.secret) }) { first, _ in first }
    for entry in newer.configuration.secrets {
      // A URL of the database is a secret of which a part is printed.
      guard let old = before[entry.path], old.source == entry.secret.source, old != entry.secret,
        !keys.contains(entry.path)
      else { continue }
      keys.append(entry.path)
    }
    let readAgain = readAgain(by: newer)
    for key in files.keys.sorted()
    where readAgain.contains(key) && files[key] != newer.files[key] && !keys.contains(key) {
      keys.append(key)
    }
    keys += hiddenDifferences(to: newer, known: keys)
    let isFixed = { (key: String) in !readAgain.contains(key) && Self.isFixed(key) }
    return (keys.filter { !isFixed($0) }, keys.filter(isFixed))
  }

  /// Whether a key of the outermost object is used only at the start.
  private static func isFixed(_ path: String) -> Bool {
    let name = path.prefix { $0 != "." && $0 != "[" }
    return ConfigurationReference.keys.contains { $0.name == name && $0.needsRestart }
  }

  /// What a reload applies although its section is fixed: the certificate of a listener that has one, and
  /// another password in the file of the database's URL.
  private func readAgain(by newer: ConfigurationSnapshot) -> Set<String> {
    var keys: Set<String> = []
    if configuration.listen.tls != nil, newer.configuration.listen.tls != nil {
      keys = ["listen.tls.certificate", "listen.tls.key"]
    }
    if let old = configuration.database.url, let new = newer.configuration.database.url,
      case .file = new.secret.source, old.secret.source == new.secret.source,
      old.description == new.description
    {
      keys.insert("database")
    }
    return keys
  }

  /// Changes in values that are printed redacted, such as the query of a URL. Each is reported by the key of
  /// the part that contains it.
  private func hiddenDifferences(to newer: ConfigurationSnapshot, known: [String]) -> [String] {
    newer.configuration.apps.flatMap { app -> [String] in
      guard let old = configuration.app(app.slug), old != app else { return [] }
      let path = JSON5Reader.path("apps", app.slug.text)
      let parts: [(name: String, isChanged: Bool)] = [
        ("client", old.client != app.client), ("purchasely", old.purchasely != app.purchasely),
        ("webhook", old.webhook != app.webhook), ("links", old.links != app.links),
      ]
      let processors = app.processors.map { processor in
        (name: processor.name.text, isChanged: !old.processors.contains(processor))
      }
      return (parts + processors).filter { part in
        part.isChanged && !known.contains { $0.hasPrefix("\(path).\(part.name)") }
      }.map { "\(path).\($0.name)" }
    }
  }

  /// Objects are compared member by member; anything else is one key.
  private static func differences(_ old: JSONValue?, _ new: JSONValue?, path: String) -> [String] {
    if old == new { return [] }
    guard case .object(let before)? = old, case .object(let after)? = new else { return [path] }
    let names = after.map(\.name) + before.map(\.name).filter { name in !after.contains { $0.name == name } }
    return names.flatMap { name in
      differences(
        old?[name], new?[name], path: path.isEmpty ? name : JSON5Reader.path(path, name))
    }
  }
}
