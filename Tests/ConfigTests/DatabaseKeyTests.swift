// The keys `database` and `database_durability`.

import Formats
import Platform
import TestSupport
import Testing

@testable import Config

@Suite struct DatabaseKeyTests {
  private static let url = "postgres://receiptd:very-secret@db/receipts"

  private func load(
    _ database: String, _ more: String = "", mode: UInt32 = 0o600, environment: [String: String] = [:],
    secrets: SecretPolicy = .required
  ) throws(ConfigurationFaults) -> LoadedConfiguration {
    let text = """
      { database: '\(database)', \(more) apps: { shop: { client: 'open',
        stripe: { webhook_secrets: ['whsec_a'] }, purchasely: { api_key: 'b' } } } }
      """
    return try ConfigurationLoader.read(
      FileContent(bytes: Array(text.utf8), mode: mode), path: "/etc/receiptd/receiptd.json5",
      environment: Environment(environment), secrets: secrets)
  }

  private func faults(
    _ database: String, _ more: String = "", environment: [String: String] = [:]
  ) -> [Fault] {
    do throws(ConfigurationFaults) {
      _ = try load(database, more, environment: environment)
      return []
    } catch {
      return error.faults
    }
  }

  private func shown(_ loaded: LoadedConfiguration) -> JSONValue? {
    loaded.configuration.redacted["database"]
  }

  @Test func `A text that is not a URL is the path of a file`() throws {
    #expect(try load("/var/r.db").configuration.database == .file("/var/r.db"))
    #expect(try load("r=1.db").configuration.database == .file("/etc/receiptd/r=1.db"))
    #expect(try load("/var/r.db").configuration.durability == .safe)
    #expect(try load("/var/r.db").configuration.secrets.allSatisfy { $0.path != "database" })
  }

  @Test func `Backups have defaults, are for a file only, and start a program by its whole path`() throws {
    let loaded = try load("/var/r.db", "backup: { to: 'copies/' },").configuration
    #expect(loaded.backup == .init(to: "/etc/receiptd/copies", every: .days(1), keep: 14, then: []))
    #expect(loaded.redacted["backup"]?["to"] == "/etc/receiptd/copies")
    #expect(try load("/var/r.db").configuration.backup == nil)
    let server = faults(Self.url, "backup: { to: '/copies' },")
    #expect(server.map(\.path) == ["backup"])
    #expect(server.first?.message.contains("pg_basebackup") == true)
    for (text, path) in [
      ("to: '/c', then: ['rclone']", "backup.then"), ("to: '/c', keep: 0", "backup.keep"),
      ("to: '/c', every: '1s'", "backup.every"), ("every: '1d'", "backup.to"),
    ] {
      #expect(faults("/var/r.db", "backup: { \(text) },").map(\.path) == [path])
    }
  }

  @Test func `A URL is used unchanged, and shown without its password (R7)`() throws {
    let loaded = try load(Self.url)
    let place = loaded.configuration.database
    #expect(try place.url?.reveal() == Self.url)
    #expect(place.filePath == nil)
    #expect(shown(loaded) == "postgres://receiptd:***@db/receipts")
    #expect(loaded.configuration.secrets.first?.path == "database")
    #expect(!loaded.warnings.contains { $0.path == "database" })
  }

  @Test func `A URL that is elsewhere is read as other secrets are, and its source is shown (R7)`() throws {
    let loaded = try load("env:DATABASE_URL", environment: ["DATABASE_URL": Self.url])
    #expect(try loaded.configuration.database.url?.reveal() == Self.url)
    #expect(shown(loaded) == "env:DATABASE_URL")
    #expect("\(loaded.configuration.database)" == "postgres://receiptd:***@db/receipts")
    #expect(loaded.configuration.secrets.first { $0.path == "database" }?.secret.isFixedUntilRestart == true)
    let folder = try TestFolder()
    let path = try folder.write("\(Self.url)\n")
    let file = try load("file:\(path)")
    #expect(try file.configuration.database.url?.reveal() == Self.url)
    #expect(shown(file) == .string("file:\(path)"))
    #expect(file.configuration.secrets.first { $0.path == "database" }?.secret.isFixedUntilRestart == false)
  }

  @Test("A URL that cannot be read is a fault for the daemon, and for receiptctl only when it needs it")
  func unreadable() throws {
    let missing = faults("env:DATABASE_URL")
    #expect(missing.map(\.path) == ["database"])
    #expect(missing.first?.message.contains("needs the environment variable DATABASE_URL") == true)
    let loaded = try load("env:DATABASE_URL", secrets: .whereAvailable)
    #expect("\(loaded.configuration.database)" == "env:DATABASE_URL")
    #expect(loaded.configuration.database.url?.withoutPasswords == nil)
    #expect(throws: Fault.self) { try loaded.configuration.database.url?.reveal() }
    let file = faults("file:/nowhere/url")
    #expect(file.first?.message.contains("cannot read /nowhere/url") == true)
    #expect(file.first?.message.contains("for a database file, write its path without \"file:\"") == true)
  }

  @Test("What env: and file: lead to must be a URL of PostgreSQL; a fault says what to write instead (R7)")
  func notURLs() throws {
    let path = faults("env:PLACE", environment: ["PLACE": "/very-secret/r.db"])
    #expect(path.map(\.path) == ["database"])
    let message = try #require(path.first?.message)
    #expect(message.contains("must begin with postgres://"))
    #expect(message.contains("postgres:// (in the environment variable PLACE); "))
    #expect(message.contains("for a database file, write its path here, without \"env:\" or \"file:\""))
    #expect(!message.contains("very-secret"))
    let bad = faults("env:PLACE", environment: ["PLACE": "postgres://u:very/secret@db/r"])
    #expect(bad.first?.message.contains("write @ as %40") == true)
    #expect(bad.first?.message.contains("database file") == false)
    #expect(bad.first?.message.contains("secret") == false)
    // The database itself.
    let folder = try TestFolder()
    let file = try folder.write("SQLite format 3\u{0}\u{1}")
    #expect(
      faults("file:\(file)").first?.message.contains("for a database file, write its path") == true)
  }

  @Test(arguments: [
    "Postgres://db/r", " postgres://db/r", "postgres:/db/r", "postgresql:db", "mysql://db/r",
    "jdbc:postgresql://db/r", "sqlite:///var/r.db", "host=db dbname=receipts", "dbname=receipts",
    "service=receipts",
  ])
  func `A text that is meant as a server is not the path of a file`(text: String) {
    let found = faults(text)
    #expect(found.map(\.path) == ["database"])
    #expect(found.first?.message.contains("a URL begins with postgres://") == true)
  }

  @Test func `A mistyped URL in place is a fault without any part of it (R7)`() {
    let found = faults("postgres://receiptd:very/secret@db/receipts")
    #expect(found.map(\.path) == ["database"])
    #expect(found.first?.message.contains("write @ as %40, : as %3A, / as %2F") == true)
    #expect(found.first?.description.contains("secret") == false)
  }

  @Test func `A password in a file that all can read is a warning, and a URL without one is not`() throws {
    let open = try load(Self.url, mode: 0o644).warnings.filter { $0.path == "database" }
    #expect(open.count == 1)
    #expect(open.first?.message.contains("chmod o=") == true)
    #expect(try load("postgres://db/r", mode: 0o644).warnings.allSatisfy { $0.path != "database" })
  }

  @Test("Several hosts without a primary, and a parameter that libpq does not know, are warnings")
  func warnings() throws {
    func messages(_ url: String) throws -> [String] {
      try load(url).warnings.filter { $0.path == "database" }.map(\.message)
    }
    #expect(try messages("postgres://a,b/r").first?.contains("target_session_attrs=read-write") == true)
    #expect(try messages("postgres:///r?host=a,b&target_session_attrs=any").count == 1)
    #expect(try messages("postgres://a,b/r?target_session_attrs=standby").count == 1)
    #expect(try messages("postgres://a,b/r?target_session_attrs=read-write").isEmpty)
    #expect(try messages("postgres://a,b/r?target_session_attrs=primary").isEmpty)
    #expect(try messages("postgres://a/r?sslmod=require").first?.contains("did you mean sslmode?") == true)
    #expect(try messages("postgres://a/r?Password=x").first?.contains("did you mean password?") == true)
    #expect(try messages("postgres://a/r?sslmode=require&password=x").isEmpty)
  }

  @Test func `database_durability is safe unless it is set, and is without effect for a file`() throws {
    #expect(try load(Self.url).configuration.durability == .safe)
    let loaded = try load(Self.url, "database_durability: 'unsafe',")
    #expect(loaded.configuration.durability == .lossy)
    #expect(loaded.configuration.redacted["database_durability"] == "unsafe")
    #expect(!loaded.warnings.contains { $0.path == "database_durability" })
    for value in ["safe", "unsafe"] {
      let file = try load("/var/r.db", "database_durability: '\(value)',")
      #expect(file.warnings.map(\.path).contains("database_durability"))
    }
    #expect(throws: ConfigurationFaults.self) { try load(Self.url, "database_durability: 'off',") }
  }

  @Test("A change of the database needs a restart, and is reported once, whatever part of it changed")
  func changes() throws {
    func fixed(_ old: String, _ new: String, environment: [String: String] = [:]) throws -> [String] {
      let before = ConfigurationSnapshot(try load(old, environment: ["A": Self.url]).configuration)
      let after = try load(new, environment: ["A": Self.url].merging(environment) { $1 }).configuration
      let changes = before.changes(to: ConfigurationSnapshot(after))
      #expect(changes.reloadable.isEmpty)
      return changes.fixed
    }
    #expect(try fixed("/var/a.db", "/var/b.db") == ["database"])
    #expect(try fixed("/var/a.db", Self.url) == ["database"])
    #expect(try fixed(Self.url, "postgres://receiptd:other@db/receipts") == ["database"])
    #expect(try fixed(Self.url, "postgres://receiptd:other@db2/receipts") == ["database"])
    #expect(try fixed("env:A", "env:A", environment: ["A": "postgres://db2/r"]) == ["database"])
    #expect(try fixed("env:A", Self.url) == ["database"])
    #expect(try fixed("env:A", "env:A").isEmpty)
  }

  @Test("Another password in the file of the URL is applied by a reload, another host needs a restart")
  func changedPassword() throws {
    let folder = try TestFolder()
    let path = try folder.write(Self.url)
    func snapshot(_ url: String) throws -> ConfigurationSnapshot {
      try folder.write(url)
      return ConfigurationSnapshot(try load("file:\(path)").configuration)
    }
    let before = try snapshot(Self.url)
    let password = try before.changes(to: snapshot("postgres://receiptd:other@db/receipts"))
    #expect(password.reloadable == ["database"])
    #expect(password.fixed.isEmpty)
    #expect(try before.changes(to: snapshot("postgres://receiptd:other@db2/receipts")).fixed == ["database"])
  }

  @Test func `The place of the database is known although the rest of the file is faulty`() throws {
    let folder = try TestFolder()
    let file = try folder.write("{ database: 'env:URL', listen: 1, no_such_key: 2 }")
    let place = try ConfigurationLoader.readable(path: file, environment: Environment(["URL": Self.url]))
      .configuration.database
    #expect(try place.url?.reveal() == Self.url)
    let none = try ConfigurationLoader.readable(path: file, environment: Environment([:])).configuration
      .database
    #expect("\(none)" == "env:URL")
    #expect(throws: ConfigurationFaults.self) {
      let folder = try TestFolder()
      let bad = try folder.write("{ database: 'mysql://db' }")
      _ = try ConfigurationLoader.readable(path: bad, environment: Environment([:])).configuration
        .database
    }
  }
  @Test(
    "A text that is not JSON5 still names the database, if it names one",
    arguments: [
      ("{ database: '/var/a.db' apps: {}", "/var/a.db"),
      ("{ // database: '/no.db'\n log: { level: 'database: /no.db', } database : '/var/a.db' }", "/var/a.db"),
      ("{ log: { level: 'inf }, \n 'database': '/var/a.db', }", "/var/a.db"),
      ("{ database: '/var/a.db', log: { database: '/var/b.db' }", nil), ("{ database: 1, ]", nil),
      ("{ database: '/var/a.db", nil), ("database", nil), ("", nil),
    ] as [(String, String?)])
  func brokenText(text: String, path: String?) throws {
    let folder = try TestFolder()
    let file = try folder.write(text)
    let found = try? ConfigurationLoader.readable(path: file, environment: Environment([:]))
    #expect(found?.configuration.database.filePath == path)
    #expect(found?.configuration.isPartial == (path == nil ? nil : true))
  }
}
