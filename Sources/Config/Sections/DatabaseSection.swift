// The keys of the database. As ConfigurationReader: one thread, every fault.

internal import Formats
internal import Platform

extension Configuration {
  static let database = ConfigurationKey<Configuration>.required(
    "database", \.database, .database, example: "/var/lib/receiptd/receiptd.db",
    advice: "write the path of the database's file, such as \"/var/lib/receiptd/receiptd.db\"",
    "The database: the path of a file; or, for several receiptd on one PostgreSQL, its URL as libpq "
      + "understands it, such as \"postgres://receiptd@db1,db2/receipts?target_session_attrs=read-write\", "
      + "or \"env:NAME\" or \"file:/path\", where the URL is read from. A relative path begins at the folder "
      + "of the configuration file."
  ).then { configuration, reader, context in
    guard let path = configuration.database.filePath, !path.isEmpty,
      reader.value("database")?.stringValue?.hasPrefix("/") == false
    else { return }
    context.collector.warning(
      "database",
      "is relative to the folder of this file and moves with it; write the whole path, such as "
        + "\"/var/lib/receiptd/receiptd.db\"")
  }.fixedUntilRestart

  static let durability = ConfigurationKey<Configuration>.key(
    "database_durability", \.durability, .choice,
    "Which PostgreSQL servers receiptd uses. With \"safe\" it refuses one whose settings (fsync, "
      + "full_page_writes, synchronous_commit) can lose what was committed, and several hosts without a "
      + "synchronous standby. With \"asynchronous\" it uses the latter: a failover can then lose receipts, "
      + "and while an old primary is still up, two relays may deliver. With \"unsafe\" it uses "
      + "any server: a crash, a power cut or a failover can then lose receipts."
  ).then { configuration, reader, context in
    guard reader.has("database_durability"), let path = configuration.database.filePath, !path.isEmpty
    else { return }
    context.collector.warning(
      "database_durability",
      "is for PostgreSQL and has no effect: a database file always keeps what was committed; take it out")
  }.fixedUntilRestart
}

extension ValueForm<DatabasePlace> {
  /// The path of a file, or the URL of a server, or where that URL is.
  static var database: ValueForm {
    ValueForm(
      shape: ValueShape("the path of a file, or a URL that begins with postgres://", .text()),
      read: { value, path, context in context.database(value, path: path) },
      show: { .string($0.url?.shown ?? $0.description) },
      secrets: { place, path in place.url.map { [.init(path: path, secret: $0.secret)] } ?? [] })
  }
}

extension ConfigurationReader {
  fileprivate func database(_ value: JSONValue, path: String) -> DatabasePlace? {
    let expected = "the path of a file, or a URL such as \(DatabaseURLParts.example)"
    guard let text = text(value, path: path, mustBe: expected) else { return nil }
    guard !SecretReader.isElsewhere(text) else {
      guard let secret = secrets.databaseURL(text, path: path) else { return nil }
      return url(secret, path: path)
    }
    guard DatabaseURLParts.scheme(of: text) == nil else {
      guard let url = url(Secret(text), path: path) else { return nil }
      if case .postgres(let url) = url, url.hasPassword, secrets.isFileOpenToAll {
        collector.warning(
          path,
          "has a password in a file that all users of this machine can read; write \"env:NAME\" or "
            + "\"file:/path\", or take their rights away (chmod o=)")
      }
      return url
    }
    guard !Self.isMeantAsServer(text) else {
      collector.fault(path, "must be \(expected); a URL begins with postgres:// or postgresql://")
      return nil
    }
    return filePath(value, path: path).map(DatabasePlace.file)
  }

  /// Checks the form of a URL, if it could be read.
  private func url(_ secret: Secret, path: String) -> DatabasePlace? {
    // An unreadable one was already reported, where it matters.
    guard let text = try? secret.reveal() else { return .postgres(DatabaseURL(secret)) }
    do throws(DatabaseURLParts.Mistake) {
      warn(of: try DatabaseURLParts(text), path: path)
      return .postgres(DatabaseURL(secret))
    } catch {
      let place =
        switch secret.source {
        case .inPlace: ""
        case .environment(let name): " (in the environment variable \(name))"
        case .file(let file): " (in \(file))"
        }
      let isFile = DatabaseURLParts.scheme(of: text) == nil
      collector.fault(
        path,
        "\(error.what)\(place); \(error.advice)"
          + (isFile ? "; for a database file, write its path here, without \"env:\" or \"file:\"" : ""))
      return nil
    }
  }

  /// Whether a text that is not a URL of PostgreSQL looks like a server's.
  private static func isMeantAsServer(_ text: String) -> Bool {
    let lower = text.lowercased()
    return lower.contains("://") || lower.hasPrefix("postgres:") || lower.hasPrefix("postgresql:")
      // The form of libpq that is not a URL.
      || ["host=", "hostaddr=", "dbname=", "user=", "port=", "service="].contains(where: lower.hasPrefix)
  }

  private func warn(of url: DatabaseURLParts, path: String) {
    for name in url.parameters.compactMap(\.suggestion) {
      collector.warning(
        path, "has a parameter that libpq does not know, and refuses then; did you mean \(name)?")
    }
    let session = url.parameter("target_session_attrs") ?? "any"
    if url.hostCount > 1, session != "read-write", session != "primary" {
      collector.warning(
        path,
        "has several hosts, and may lead to a standby, which cannot be written; add the parameter "
          + "target_session_attrs=read-write")
    }
  }
}
