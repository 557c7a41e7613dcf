// Tests opening the database: which role creates it, which migrates it, and what is refused (R1, R10).

import FoundationEssentials
import Migrations
import Testing

@testable import SQLiteStore
@testable import Store

private final class Files {
  let directory: URL

  init() throws { directory = try makeDirectory() }

  deinit {
    // If this fails, the files stay in the system's temporary directory.
    try? FileManager.default.removeItem(at: directory)
  }

  var path: String { directory.appending(path: "relay.db").path }

  func execute(_ sql: String) throws {
    try Connection(path: path, mode: .readWriteCreate, busyTimeout: .seconds(1)).execute(sql)
  }

  func fault(_ role: DatabaseRole) -> StoreError? {
    do throws(StoreError) {
      _ = try Database.open(path: path, role: role)
      return nil
    } catch {
      return error
    }
  }
}

private let roles: [DatabaseRole] = [.owner, .guest, .reader]
private let known = Migrations.currentVersion

@Suite("The database")
struct DatabaseTests {
  @Test func `The owner creates it at the current version; others find it only afterwards (R10)`() throws {
    let files = try Files()
    #expect(files.fault(.guest) == .missing)
    #expect(files.fault(.reader) == .missing)
    #expect(!FileManager.default.fileExists(atPath: files.path), "asking makes no file")
    let owner = try Database.open(path: files.path, role: .owner)
    #expect(try owner.integer("PRAGMA user_version") == Int64(known))
    #expect(try owner.integer("PRAGMA application_id") == Database.applicationID)
    #expect(files.fault(.guest) == nil)
    #expect(files.fault(.reader) == nil)
    #expect(files.fault(.owner) == nil)
    #expect(try owner.text("PRAGMA integrity_check") == "ok")
  }

  @Test func `An empty file is a new database for the owner, and missing for others`() throws {
    for role in roles {
      let files = try Files()
      try Data().write(to: URL(filePath: files.path))
      #expect(files.fault(role) == (role == .owner ? nil : .missing))
    }
  }

  @Test(arguments: [known + 1, known + 7])
  func `A newer schema is refused by all and not changed (R10)`(version: Int) throws {
    let files = try Files()
    _ = try Database.open(path: files.path, role: .owner)
    try files.execute("PRAGMA user_version = \(version)")
    for role in roles { #expect(files.fault(role) == .newerSchema(found: version, known: known)) }
    let found = try Connection(path: files.path, mode: .readOnly, busyTimeout: .zero)
    #expect(try found.integer("PRAGMA user_version") == Int64(version))
  }

  @Test func `An older schema is for the owner alone to migrate (R10)`() throws {
    let files = try Files()
    _ = try Database.open(path: files.path, role: .owner)
    try files.execute("PRAGMA user_version = 0")
    #expect(files.fault(.guest) == .olderSchema(found: 0, known: known))
    #expect(files.fault(.reader) == .olderSchema(found: 0, known: known))
  }

  @Test func `A database of another program is refused and not changed`() throws {
    for role in roles {
      let files = try Files()
      try files.execute("CREATE TABLE theirs (x); PRAGMA application_id = 7")
      #expect(files.fault(role) == .foreign)
      let found = try Connection(path: files.path, mode: .readOnly, busyTimeout: .zero)
      #expect(try found.integer("SELECT count(*) FROM sqlite_schema") == 1)
      #expect(try found.text("PRAGMA journal_mode") == "delete")
    }
  }

  @Test("A database of a development version is refused and not changed, whatever its version (R10)")
  func development() throws {
    for role in roles {
      let files = try Files()
      try files.execute(
        "CREATE TABLE contexts (x); PRAGMA application_id = 1381133433; PRAGMA user_version = \(known)")
      #expect(files.fault(role) == .ofDevelopment)
      #expect(throws: StoreError.ofDevelopment) { try BackupFile(path: files.path) }
      let found = try Connection(path: files.path, mode: .readOnly, busyTimeout: .zero)
      #expect(try found.integer("SELECT count(*) FROM sqlite_schema") == 1)
      #expect(try found.text("PRAGMA journal_mode") == "delete")
    }
  }

  @Test func `A file that is not a database is refused and not changed`() throws {
    for role in roles {
      let files = try Files()
      let bytes = Data(String(repeating: "no database ", count: 1000).utf8)
      try bytes.write(to: URL(filePath: files.path))
      guard case .fault(let error) = files.fault(role) else {
        Issue.record("opened as \(role)")
        continue
      }
      #expect(error.kind == .corrupt)
      #expect(try Data(contentsOf: URL(filePath: files.path)) == bytes)
    }
  }

  @Test func `A path that cannot be created is an error for the owner and missing for others`() throws {
    let files = try Files()
    let path = files.directory.appending(path: "not/there.db").path
    #expect(throws: StoreError.missing) { try Database.open(path: path, role: .guest) }
    #expect(throws: StoreError.missing) { try Database.open(path: path, role: .reader) }
    #expect {
      try Database.open(path: path, role: .owner)
    } throws: { error in
      guard case .fault(let error)? = error as? StoreError else { return false }
      return error.kind == .cannotOpen
    }
  }

  @Test func `The settings for durability and consistency are in force (R1)`() throws {
    let files = try Files()
    for role in [DatabaseRole.owner, .guest] {
      let connection = try Database.open(path: files.path, role: role)
      #expect(try connection.text("PRAGMA journal_mode") == "wal")
      #expect(try connection.integer("PRAGMA synchronous") == 2)
      #expect(try connection.integer("PRAGMA foreign_keys") == 1)
    }
    let reader = try Database.open(path: files.path, role: .reader)
    #expect(throws: SQLiteError.self) { try reader.execute("DELETE FROM events") }
  }

  @Test func `A migration that fails leaves nothing behind, and the version as it was (R10)`() throws {
    let files = try Files()
    let connection = try Connection(path: files.path, mode: .readWriteCreate, busyTimeout: .zero)
    let good = "CREATE TABLE one (x) STRICT"
    #expect(throws: SQLiteError.self) {
      try Migrator.migrate(
        connection, from: 0, to: ["CREATE TABLE one (x INTEGER) STRICT", "CREATE TABLE one ("])
    }
    #expect(try connection.integer("SELECT count(*) FROM sqlite_schema") == 0)
    #expect(try connection.integer("PRAGMA user_version") == 0)
    #expect(throws: SQLiteError.self) { try Migrator.migrate(connection, from: 0, to: [good]) }
  }

  @Test func `Migrations run from the database's version to the end (R10)`() throws {
    let files = try Files()
    let connection = try Connection(path: files.path, mode: .readWriteCreate, busyTimeout: .zero)
    let steps = (1...3).map { "CREATE TABLE step\($0) (x INTEGER) STRICT" }
    try Migrator.migrate(connection, from: 0, to: Array(steps[..<1]))
    #expect(try connection.integer("PRAGMA user_version") == 1)
    try Migrator.migrate(connection, from: 1, to: steps)
    try Migrator.migrate(connection, from: 3, to: steps)
    #expect(try connection.integer("PRAGMA user_version") == 3)
    #expect(try connection.integer("SELECT count(*) FROM sqlite_schema") == 3)
  }

  @Test func `The text of a fault has a remedy, and no path or data`() {
    let faults: [StoreError] = [
      .missing, .foreign, .ofDevelopment, .newerSchema(found: 9, known: 1), .olderSchema(found: 0, known: 1),
      .unsafeSetting("wal"),
      .fault(StoreFault(.full, operation: "INSERT", reason: "test")),
    ]
    for fault in faults {
      #expect(!fault.description.isEmpty)
      #expect(!fault.description.contains("/"))
    }
    #expect(StoreError.newerSchema(found: 9, known: 1).description.contains("version 9"))
  }
}
