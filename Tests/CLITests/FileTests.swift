// Tests of configuration files and database files.

import Domain
import Formats
import FoundationEssentials
import Platform
import SQLiteStore
import Store
import Terminal
import TestSupport
import Testing

@testable import Config

@Suite struct FileTests {
  private static func mode(_ path: String) throws -> UInt32 {
    try FileReading.content(of: path, bytesMax: 1 << 26).mode
  }

  @Test func aBackupIsWholeAndForItsOwner() throws {
    let harness = try OperatorHarness()
    let id = try harness.purchase("sub_1")
    let path = harness.folder + "/copy.db"
    let ran = harness.run("db", "backup", path)
    #expect(ran.code == .done)
    #expect(
      ran.out == "FOLDER/copy.db: copied and verified (0 contexts, 1 events, 1 purchases, 0 attempts)\n")
    #expect(try Self.mode(path) == 0o600)
    #expect(try StoreReader(path: path).receipt(id: ReceiptID(id))?.purchase.key.id == "sub_1")
    #expect(!FileManager.default.fileExists(atPath: path + ".part"))
    let report = try #require(try StoreReader(path: harness.databasePath).serviceReport(.backup))
    #expect(report.at == harness.clock.now)
    #expect(report.content.contains("/copy.db"))
    let again = harness.run("db", "backup", path)
    #expect(again.code == .refused)
    #expect(
      again.notes == "receiptctl: FOLDER/copy.db exists; choose another name, or replace it with --force\n")
    let other = try harness.purchase("sub_2")
    #expect(harness.run("db", "backup", path, "--force").code == .done)
    #expect(try StoreReader(path: path).receipt(id: ReceiptID(other))?.purchase.key.id == "sub_2")
  }

  @Test func `--force does not replace the database, nor a good copy by one that cannot be made`() throws {
    let harness = try OperatorHarness()
    try harness.purchase("sub_1")
    #expect(harness.run("db", "backup", harness.databasePath, "--force").code == .refused)
    #expect(harness.run("stats").code == .done)
    let path = harness.folder + "/copy.db"
    #expect(harness.run("db", "backup", path).code == .done)
    _ = FileManager.default.createFile(atPath: path + ".part", contents: nil)
    #expect(harness.run("db", "backup", path, "--force").code == .tryAgain)
    #expect(try StoreReader(path: path).rowCounts().contains { $0.table == "purchases" && $0.rows == 1 })
  }

  @Test func aBackupThatCannotBeMadeLeavesNothing() throws {
    let harness = try OperatorHarness()
    #expect(harness.run("db", "backup", harness.folder + "/none/copy.db").code == .notFound)
    let path = harness.folder + "/copy.db"
    _ = FileManager.default.createFile(atPath: path + ".part", contents: nil)
    #expect(harness.run("db", "backup", path).code == .tryAgain)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `A count in a message of the database commands is grouped, and plain in JSON`() throws {
    let harness = try OperatorHarness()
    try LargeDatabase.fill(
      path: harness.databasePath, .init(receipts: 4678, failed: 1000), start: LargeDatabase.start)
    #expect(harness.run("db", "backup", harness.folder + "/a.db").out.contains("4,678 purchases"))
    let rows = try harness.run("db", "backup", harness.folder + "/b.db", "--json").objects.first?["rows"]
    #expect(rows?["purchases"] == 4678)
    let stats = harness.run("stats")
    #expect(stats.out.contains("3,678"))
    #expect(stats.out.contains("1,000"))
    #expect(try harness.run("stats", "--json").objects.last?["delivered"] == 3678)
  }

  @Test func aSoundDatabaseIsSaidToBe() throws {
    let harness = try OperatorHarness()
    try harness.purchase("sub_1")
    #expect(harness.run("db", "check").out == "FOLDER/receiptd.db: sound\n")
    #expect(try harness.run("db", "check", "--json").objects.first?["sound"] == true)
  }

  @Test func aSchemaThatIsNotItsOwnIsRefused() throws {
    let harness = try OperatorHarness()
    let connection = try Connection(path: harness.databasePath, mode: .readWrite, busyTimeout: .seconds(1))
    try connection.execute("PRAGMA user_version = 99")
    let ran = harness.run("receipts", "list")
    #expect(ran.code == .badData)
    #expect(ran.notes.contains("the database has schema version 99"))
    #expect(harness.run("receipts", "replay", "rcp_1", "--yes").code == .badData)
  }

  @Test func aDatabaseThatIsNotThereIsNotMade() throws {
    let harness = try OperatorHarness()
    try FileManager.default.removeItem(atPath: harness.databasePath)
    let ran = harness.run("stats")
    #expect(ran.code == .notFound)
    #expect(ran.notes.contains("other files of the database are there (FOLDER/receiptd.db-wal"), "\(ran)")
    for suffix in ["-wal", "-shm"] {
      try FileManager.default.removeItem(atPath: harness.databasePath + suffix)
    }
    let first = harness.run("stats")
    #expect(first.notes.contains("start receiptd once, or check `database` in the configuration"))
    #expect(!FileManager.default.fileExists(atPath: harness.databasePath))
  }

  @Test func aStarterFileIsWrittenOnce() throws {
    let harness = try OperatorHarness()
    let path = harness.folder + "/new.json5"
    let ran = harness.run("config", "init", path)
    #expect(ran.code == .done)
    #expect(ran.notes.contains("config check --config FOLDER/new.json5"))
    let content = try FileReading.content(of: path, bytesMax: 1 << 20)
    #expect(content.bytes == Array(ConfigurationTemplate.text.utf8))
    #expect(content.mode == 0o600)
    #expect(harness.run("config", "init", path).code == .refused)
    // Without a path it means the file given by --config, which exists.
    #expect(harness.run("config", "init").code == .refused)
    #expect(harness.run("config", "init", "-").out == ConfigurationTemplate.text)
    let nowhere = harness.run("config", "init", harness.folder + "/a/b.json5")
    #expect(nowhere.code == .notFound)
    #expect(nowhere.notes.contains("mkdir -p FOLDER/a"))
  }

  @Test func aCheckNeedsTheSecretsAndShowingDoesNot() throws {
    let harness = try OperatorHarness()
    let lacking = harness.run("config", "check")
    #expect(lacking.code == .configuration)
    #expect(lacking.notes.contains("receiptctl: apps.ios.stripe.webhook_secrets[0]: needs"))
    #expect(lacking.notes.contains("receiptctl: apps.ios.purchasely.api_key: needs"))
    let secrets = ["WEBHOOK_SECRET": "whsec_very_secret", "API_KEY": "key_very_secret"]
    let good = harness.run("config", "check", environment: secrets)
    #expect(good.code == .done)
    #expect(good.out == "FOLDER/receiptd.json5: ok\n")
    let shown = harness.run("config", "show", environment: secrets)
    #expect(shown.code == .done)
    #expect(shown.out.contains("\"env:API_KEY\""))
    #expect(!shown.out.contains("very_secret"))
    #expect(try harness.run("config", "show", "--json").objects.count == 1)
  }
}
