// The database as a file with several names, moved away, and replaced by a restore.

import Domain
import Formats
import FoundationEssentials
import Glibc
import HTTPServer
import Platform
import Store
import TestSupport
import Testing

@Suite("The database file", .withDaemonLog) struct DatabaseFileTests {
  /// Runs a second receiptd with the relay's configuration and another path of the database.
  private func second(
    _ relay: Relay, database: String, _ arguments: [String] = []
  ) throws -> (code: Int32, output: String) {
    let text = relay.configuration.merging(["database": .string(database)]).prettyText
    try relay.directory.write(text, to: "second.json5")
    let output = relay.directory.file("second.log")
    let words = [Program.receiptd, "--config", relay.directory.file("second.json5")] + arguments
    return (try ChildProcess(words, output: output).end(), TextFile.read(output))
  }

  private func exists(_ path: String) -> Bool { FileIdentity(path: path) != nil }

  @Test func `A second daemon is refused also by a symbolic or a hard link (R3)`() throws {
    try withRelay { relay, _ in
      let id = try #require(relay.process?.id)
      let (soft, hard) = (relay.directory.file("soft.db"), relay.directory.file("hard.db"))
      try #require(unsafe symlink("receiptd.db", soft) == 0)
      try #require(unsafe link(relay.databasePath, hard) == 0)
      let bySoft = try second(relay, database: soft)
      #expect(bySoft.code == 75, "\(bySoft.output)")
      #expect(bySoft.output.contains("pid=\(id)"), "\(bySoft.output)")
      let byHard = try second(relay, database: hard)
      #expect(byHard.code == 75, "\(byHard.output)")
      #expect(byHard.output.contains("another name"), "\(byHard.output)")
      #expect(!exists(hard + "-wal"))
      #expect(!exists(soft + "-wal"))
      #expect(!exists(soft + ".lock"))
      // receiptctl must not write a second log either.
      try relay.directory.write(
        relay.configuration.merging(["database": .string(hard)]).prettyText, to: "other.json5")
      let write = try ShellRun([Program.receiptctl, "--config", relay.directory.file("other.json5"), "stats"])
      #expect(write.code == 75, "\(write.output)")
      #expect(write.output.contains("under another name"), "\(write.output)")
      unsafe unlink(hard)
      try relay.passTime()
    }
  }

  @Test("A daemon whose database is a link keeps everything beside the file, and receiptctl wakes it there")
  func linkedDatabase() throws {
    let destination = try Destination()
    defer { destination.stop() }
    let relay = try Relay(destination)
    let data = relay.directory.file("data")
    try #require(unsafe mkdir(data, 0o700) == 0)
    try #require(unsafe symlink("data/real.db", relay.databasePath) == 0)
    try Relay.$logPath.withValue(relay.logPath) {
      try relay.start()
      for suffix in ["", "-wal", ".lock"] { #expect(exists(data + "/real.db" + suffix), "\(suffix)") }
      for suffix in ["-wal", ".lock", ".reserve"] { #expect(!exists(relay.databasePath + suffix)) }
      try relay.passTime()
      // Without a signal the daemon looks only after five seconds.
      destination.answer(.status(422))
      let checkout = Checkout("woken")
      try relay.ingest(checkout.completed)
      let receipt = try relay.reaches(.failed, checkout.subscription)
      let replay = try relay.receiptctl("receipts", "replay", receipt.id.text, "--yes")
      #expect(replay.code == 0, "\(replay.output)")
      try relay.reaches(.delivered, checkout.subscription)
      #expect(try relay.stop() == 0)
    }
  }

  @Test(
    "While the database file is moved nothing is acknowledged; requests are accepted when it is back (R1)")
  func movedDatabase() throws {
    try withRelay { relay, _ in
      let away = relay.directory.file("away.db")
      try relay.passTime()
      for (from, to) in [(relay.databasePath, away), (relay.databasePath + "-wal", away + "-wal")] {
        try #require(unsafe rename(from, to) == 0)
        let checkout = Checkout("lost-\(TextFile.size(to))")
        let (event, context) = (
          try relay.outside.send(checkout.completed), try relay.outside.postContext("u", checkout.context)
        )
        #expect(event.status == 503, "\(event.text)")
        #expect(event.header("Retry-After") != nil, "\(event.text)")
        #expect(context.status == 503, "\(context.text)")
        let ready = try relay.admin.request("GET", "/readyz")
        #expect(ready.status == 503)
        #expect(ready.text.contains("the database file was moved or removed"))
        try waitUntil("the log says so") { relay.log.contains("nothing is stored until it is back") }
        try #require(unsafe rename(to, from) == 0)
        #expect(try relay.admin.request("GET", "/readyz").status == 200)
        #expect(try relay.receipt(of: checkout.subscription) == nil)
        try relay.ingest(checkout.completed)
        try relay.reaches(.delivered, checkout.subscription)
      }
      #expect(try relay.stop() == 0)
    }
  }

  @Test("An idle daemon detects a removed database, and does not accept another file in its place")
  func removedDatabase() throws {
    try withRelay { relay, _ in
      try relay.passTime()
      let copy = relay.directory.file("copy.db")
      #expect(try relay.receiptctl("db", "backup", copy).code == 0)
      unsafe unlink(relay.databasePath)
      try waitUntil("the log says so although nobody asks") {
        relay.log.contains("the database file was moved or removed")
      }
      try #require(unsafe rename(copy, relay.databasePath) == 0)
      #expect(try relay.outside.send(Checkout("lost").completed).status == 503)
      // receiptctl refuses, too: it would delete the daemon's log.
      let read = try relay.receiptctl("receipts", "list")
      #expect(read.code == 75, "\(read.output)")
      #expect(read.output.contains("serves another file"), "\(read.output)")
      #expect(try relay.admin.request("GET", "/readyz").status == 503)
    }
  }

  @Test func `A start that finds files of a lost database is refused, except with --new-database`() throws {
    try withRelay { relay, _ in
      try relay.passTime()
      #expect(try relay.stop(SIGKILL) == 128 + SIGKILL)
      let away = relay.directory.file("away.db")
      try #require(unsafe rename(relay.databasePath, away) == 0)
      let refused = try relay.runAgain()
      #expect(refused.code == 77, "\(refused.output)")
      for part in ["no database at \(relay.databasePath)", "receiptd.db-wal", "db restore", "--new-database"]
      {
        #expect(refused.output.contains(part), "\(part) in \(refused.output)")
      }
      #expect(!exists(relay.databasePath))
      // The first remedy: move it back.
      try #require(unsafe rename(away, relay.databasePath) == 0)
      try relay.start()
      #expect(try relay.receipts().count == 1)
      #expect(try relay.stop() == 0)
      let existing = try relay.runAgain(["--new-database"])
      #expect(existing.code == 77, "\(existing.output)")
      #expect(existing.output.contains("there is a database at"), "\(existing.output)")
      // The lock and the reserve are sufficient: a clean stop removes the log.
      try #require(unsafe rename(relay.databasePath, away) == 0)
      #expect(try relay.runAgain().code == 77)
      #expect(try second(relay, database: relay.directory.file("first.db"), ["--check"]).code == 0)
      relay.arguments = ["--new-database"]
      try relay.start()
      #expect(try relay.receipts().isEmpty)
      try relay.passTime()
      #expect(try relay.stop() == 0)
      relay.arguments = []
      try relay.start()
      #expect(try relay.receipts().count == 1)
    }
  }

  @Test func `A log that was lost after a crash was taken for an empty one`() throws {
    try withRelay { relay, _ in
      try relay.passTime()
      let (log, index) = (relay.databasePath + "-wal", relay.databasePath + "-shm")
      #expect(try relay.stop(SIGKILL) == 128 + SIGKILL)
      // The last connection to close would delete the log.
      #expect(try relay.receiptctl("db", "backup", "--record", "x").code == 0)
      #expect(TextFile.size(log) > 0)
      try relay.start()
      #expect(try relay.receipts().count == 1)
      #expect(try relay.stop(SIGKILL) == 128 + SIGKILL)
      let away = relay.directory.file("away-wal")
      try #require(unsafe rename(log, away) == 0)
      unsafe unlink(index)
      // SQLite makes an empty log when it reads the database.
      for isEmpty in [false, true] {
        if isEmpty { try relay.directory.write("", to: "receiptd.db-wal") }
        let read = try relay.receiptctl("receipts", "list")
        #expect(read.code == 77, "\(read.output)")
        let refused = try relay.runAgain()
        #expect(refused.code == 77, "\(refused.output)")
        for part in [log, "db restore", "--without-log", "events backfill"] {
          #expect(refused.output.contains(part), "\(part) in \(refused.output)")
        }
      }
      try #require(unsafe rename(away, log) == 0)
      try relay.start()
      #expect(try relay.stop() == 0)
      // After a clean end there is no log, and nothing to accept.
      let needless = try relay.runAgain(["--without-log"])
      #expect(needless.code == 77, "\(needless.output)")
      try relay.start()
      try relay.passTime()
      #expect(try relay.stop(SIGKILL) == 128 + SIGKILL)
      unsafe unlink(log)
      relay.arguments = ["--without-log"]
      try relay.start()
      #expect(try relay.stop(SIGKILL) == 128 + SIGKILL)
      relay.arguments = []
      try relay.start()
      #expect(try relay.stop() == 0)
    }
  }

  @Test("A lost log leaves a way back: a backup can be restored, and then a start needs no log")
  func restoredAfterLoss() throws {
    try withRelay { relay, _ in
      try relay.passTime()
      let backup = relay.directory.file("backup.db")
      #expect(try relay.receiptctl("db", "backup", backup).code == 0)
      #expect(try relay.stop(SIGKILL) == 128 + SIGKILL)
      unsafe unlink(relay.databasePath + "-wal")
      let restored = try relay.receiptctl("db", "restore", backup, "--yes")
      #expect(restored.code == 0, "\(restored.output)")
      try relay.start()
      #expect(try relay.receipts().count == 1)
      #expect(try relay.stop() == 0)
      // A backup that is copied into the place of the database belongs to no log either.
      unsafe unlink(relay.databasePath)
      try FileManager.default.copyItem(atPath: backup, toPath: relay.databasePath)
      try relay.start()
      #expect(try relay.receipts().count == 1)
    }
  }

  @Test func `While the log's index is removed, two programs wrote without each other's locks`() throws {
    try withRelay { relay, _ in
      try relay.passTime()
      unsafe unlink(relay.databasePath + "-shm")
      #expect(try relay.outside.send(Checkout("lost").completed).status == 503)
      for words in [["receipts", "list"], ["apps", "pause", "shop", "--why", "x"]] {
        let ran = try relay.receiptctl(words)
        #expect(ran.code == 77, "\(ran.output)")
        #expect(ran.output.contains("receiptd.db-shm is not the file that receiptd uses"), "\(ran.output)")
      }
      #expect(!exists(relay.databasePath + "-shm"))
      #expect(try relay.stop() == 0)
      try relay.start()
      #expect(try relay.receipts().count == 1)
      let lock = relay.databasePath + ".lock"
      unsafe unlink(lock)
      unsafe unlink(relay.databasePath + ".reserve")
      try waitUntil("the log says so") { relay.log.contains("the lock file was moved or removed") }
      try waitUntil("the reserve is back") { exists(relay.databasePath + ".reserve") }
      try relay.passTime()
    }
  }

  @Test func `The rest of a lost database's log is kept beside the new one`() throws {
    try withRelay { relay, _ in
      try relay.passTime()
      #expect(try relay.stop(SIGKILL) == 128 + SIGKILL)
      let bytes = TextFile.size(relay.databasePath + "-wal")
      try #require(bytes > 0)
      try #require(unsafe unlink(relay.databasePath) == 0)
      relay.arguments = ["--new-database"]
      try relay.start()
      #expect(try relay.receipts().isEmpty)
      let names = try FileManager.default.contentsOfDirectory(atPath: relay.directory.path)
      let kept = try #require(names.first { $0.contains("before-new-database") && $0.hasSuffix("-wal") })
      #expect(TextFile.size(relay.directory.file(kept)) == bytes)
    }
  }

  @Test(
    "A restore that waits for its answer survives other commands and SIGUSR1, and blocks writes")
  func restoreIsNotWoken() throws {
    try withRelay { relay, destination in
      destination.answer(.status(422))
      let checkout = Checkout("jdo-1")
      try relay.ingest(checkout.completed)
      let receipt = try relay.reaches(.failed, checkout.subscription)
      let backup = relay.directory.file("backup.db")
      #expect(try relay.receiptctl("db", "backup", backup).code == 0)
      #expect(try relay.stop() == 0)
      let restore = try PseudoTerminal(relay.receiptctlCommand + ["db", "restore", backup])
      #expect(restore.shows("Put it in the place of"))
      let replay = try relay.receiptctl("receipts", "replay", receipt.id.text, "--yes")
      #expect(replay.code == 75, "\(replay.output)")
      #expect(replay.output.contains("db copy (process \(restore.id)) is using the database"))
      let start = try relay.runAgain()
      #expect(start.code == 75, "\(start.output)")
      #expect(start.output.contains("db restore"), "\(start.output)")
      // Reads still work, and send no signal.
      #expect(try relay.receiptctl("stats").code == 0)
      restore.send(SIGUSR1)
      restore.type("y\n")
      #expect(restore.end() == 0, "\(restore.text)")
      #expect(try relay.receiptctl("receipts", "replay", receipt.id.text, "--yes").code == 0)
      try relay.start()
      try relay.reaches(.delivered, checkout.subscription)
    }
  }

  @Test func `A restore is refused while another receiptctl has the database open`() throws {
    try withRelay { relay, _ in
      try relay.passTime()
      let backup = relay.directory.file("backup.db")
      #expect(try relay.receiptctl("db", "backup", backup).code == 0)
      #expect(try relay.stop() == 0)
      let screen = try PseudoTerminal(relay.receiptctlCommand + ["top"])
      #expect(screen.shows("DELIVERED"))
      let refused = try relay.receiptctl("db", "restore", backup, "--yes")
      #expect(refused.code == 75)
      #expect(refused.output.contains("another program has the database open"))
      #expect(!exists(relay.databasePath + ".restore"))
      screen.type("q")
      #expect(screen.end() == 0)
      #expect(try relay.receiptctl("db", "restore", backup, "--yes").code == 0)
      try relay.start()
      try relay.passTime()
    }
  }

  @Test("Overwritten pages end readiness, also when no request reads them, and the dashboard reports it")
  func damagedPages() throws {
    try withRelay { relay, _ in
      #expect(try relay.stop() == 0)
      let size = LargeDatabase.Size(receipts: 2000, failed: 10, isWhole: true)
      try LargeDatabase.fill(path: relay.databasePath, size, app: "shop", start: 1_795_168_800_000)
      // After a clean stop there is no log that would hide the damage.
      try relay.start()
      #expect(try relay.stop() == 0)
      #expect(try DamagedPages.overwrite("purchases", in: relay.databasePath, keeping: 1) > 10)
      try relay.start(untilReady: false)
      try waitUntil("the check of the start finds it") {
        try relay.admin.request("GET", "/readyz").text.contains("the database is damaged")
      }
      #expect(try relay.admin.request("GET", "/readyz").status == 503)
      try waitUntil("the log says what to do") { relay.log.contains("receiptctl db check") }
      let page = try relay.admin.request("GET", "/receipts")
      #expect(!page.text.contains("send it again"), "\(page.text)")
      let check = try relay.receiptctl("db", "check")
      #expect(check.code == 65, "\(check.output)")
      #expect(check.output.contains("rows are lost"), "\(check.output)")
    }
  }

  @Test func `The dashboard's first page opens while the events cannot be counted, and says so`() throws {
    try withRelay { relay, _ in
      #expect(try relay.stop() == 0)
      let size = LargeDatabase.Size(receipts: 2000, failed: 10, isWhole: true)
      try LargeDatabase.fill(path: relay.databasePath, size, app: "shop", start: 1_795_168_800_000)
      try relay.start()
      #expect(try relay.stop() == 0)
      #expect(try DamagedPages.overwrite("events", in: relay.databasePath) > 0)
      try relay.start(untilReady: false)
      try waitUntil("the dashboard answers") { (try? relay.admin.request("GET", "/"))?.status == 200 }
      let page = try relay.admin.request("GET", "/").text
      #expect(page.contains("The events could not be counted"), "\(page)")
      #expect(page.contains("The database is damaged"), "\(page)")
    }
  }

  @Test func `The thread of the quick check sleeps until the stop joins it`() throws {
    try withRelay(top: ["log": ["level": "debug"]]) { relay, _ in
      try waitUntil("the check has ended") { relay.log.contains("the quick check found no damage") }
      let folder = "/proc/\(try #require(relay.process).id)/task"
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        .map { TextFile.read("\(folder)/\($0)/comm") }
      #expect(names.contains("checker\n"), "\(names)")
      #expect(try relay.stop() == 0)
    }
  }
}
