// Both programs refuse a database with a newer schema, report it and leave the database unchanged (R10). Runs
// the real programs as child processes.

import Foundation
import Migrations
import SQLiteStore
import Store
import TestSupport
import Testing

@Suite("A database of a newer schema")
struct NewerSchemaTests {
  /// A directory with a database and a configuration for it.
  private static func directory(schema version: Int) throws -> URL {
    let directory = FileManager.default.temporaryDirectory.appending(path: "newer-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    let database = directory.appending(path: "relay.db").path
    let life = Life(path: database, seed: 1, ledger: Ledger(), isTerse: true)
    try life.open(at: 0)
    for step in 0..<4 { try #require(life.run(step) == nil) }
    life.close()
    let file = try Connection(path: database, mode: .readWrite, busyTimeout: .seconds(1))
    try file.execute("PRAGMA user_version = \(version); PRAGMA journal_mode = DELETE")
    let configuration = """
      {
        listen: { address: "127.0.0.1", port: 0 }, admin: { address: "127.0.0.1", port: 0 },
        database: "\(database)",
        apps: { ios: {
          client: "open", stripe: { webhook_secrets: ["whsec_test"] }, purchasely: { api_key: "key" },
        } },
      }
      """
    let path = directory.appending(path: "receiptd.json5").path
    #expect(
      FileManager.default.createFile(
        atPath: path, contents: Data(configuration.utf8), attributes: [.posixPermissions: 0o600]))
    return directory
  }

  /// Runs a program of this build to its end.
  private static func run(
    _ program: String, _ arguments: [String], in directory: URL
  ) throws -> (code: Int32, errors: String) {
    // The test program is in the same folder.
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let path = URL(filePath: own).deletingLastPathComponent().appending(component: program).path
    let run = try ShellRun([path, "--config", directory.appending(path: "receiptd.json5").path] + arguments)
    return (run.code, run.output)
  }

  @Test(
    "receiptd and receiptctl refuse it, say why, and do not touch it (R10)",
    arguments: [
      (program: "receiptd", arguments: [String](), code: Int32(69)),
      (program: "receiptctl", arguments: ["receipts", "list"], code: 65),
      (program: "receiptctl", arguments: ["receipts", "cancel", "rcp_1", "--why", "x", "--yes"], code: 65),
      (program: "receiptctl", arguments: ["db", "check"], code: 65),
    ])
  func isRefused(program: String, arguments: [String], code: Int32) throws {
    let newer = Migrations.currentVersion + 1
    let directory = try Self.directory(schema: newer)
    // A leftover in the temporary directory must not fail the test.
    defer { try? FileManager.default.removeItem(at: directory) }
    let database = directory.appending(path: "relay.db").path
    let before = try #require(FileManager.default.contents(atPath: database))
    let result = try Self.run(program, arguments, in: directory)
    #expect(result.code == code, "\(result.errors)")
    #expect(result.errors.contains("schema version \(newer)"), "\(result.errors)")
    #expect(FileManager.default.contents(atPath: database) == before)
  }
}
