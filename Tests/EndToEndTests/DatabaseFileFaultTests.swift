// The database's files and the messages about them after failures.

import Formats
import Glibc
import Platform
import TestSupport
import Testing

@Suite("Files of the database after faults", .withDaemonLog) struct DatabaseFileFaultTests {
  private func receiptctl(_ relay: Relay, _ words: [String], before: [String] = []) throws -> ShellRun {
    try ShellRun(before + relay.receiptctlCommand + words)
  }

  private func exists(_ path: String) -> Bool { FileIdentity(path: path) != nil }

  private func owner(_ path: String) -> uid_t? {
    var found = stat()
    return unsafe stat(path, &found) == 0 ? found.st_uid : nil
  }

  @Test func `A restore that fails on a fresh machine leaves no lock file`() throws {
    let destination = try Destination()
    defer { destination.stop() }
    let relay = try Relay(destination)
    try Relay.$logPath.withValue(relay.logPath) {
      try relay.writeConfiguration()
      try relay.directory.write("no database at all", to: "text.db")
      for (file, code) in [("none.db", Int32(66)), ("text.db", 65)] {
        let ran = try receiptctl(relay, ["db", "restore", relay.directory.file(file), "--yes"])
        #expect(ran.code == code, "\(ran.output)")
        #expect(!exists(relay.databasePath + ".lock"))
        #expect(!exists(relay.databasePath))
      }
      try relay.start()
      try relay.passTime()
    }
  }

  @Test(.enabled(if: Tool.hasTracing, "needs strace"))
  func `A restore whose last sync fails says that the database was replaced`() throws {
    try withRelay { relay, _ in
      try relay.passTime()
      let backup = relay.directory.file("backup.db")
      #expect(try receiptctl(relay, ["db", "backup", backup]).code == 0)
      #expect(try relay.stop() == 0)
      let ran = try receiptctl(
        relay, ["db", "restore", backup, "--yes"],
        before: [
          "strace", "-f", "-o", "/dev/null", "-P", relay.directory.path, "-e", "trace=fsync", "-e",
          "inject=fsync:error=EIO",
        ])
      #expect(ran.code == 1, "\(ran.output)")
      for part in ["is now \(backup)", "before-restore-", "could not be synced", "run: sync"] {
        #expect(ran.output.contains(part), "\(part) in \(ran.output)")
      }
      #expect(!ran.output.contains("nothing was changed"))
      #expect(!ran.output.contains("the previous database is still in use"))
      try relay.start()
      try relay.passTime()
    }
  }

  @Test(.enabled(if: Tool.hasTracing, "needs strace"))
  func `A restore that a signal stops removes its copy`() throws {
    try withRelay { relay, _ in
      try relay.passTime()
      let backup = relay.directory.file("backup.db")
      #expect(try receiptctl(relay, ["db", "backup", backup]).code == 0)
      #expect(try relay.stop() == 0)
      let before = try ShellRun(["ls", "-A", relay.directory.path]).output
      // It pauses at the first sync of the copy, for less time than the test waits for its end: strace 6.1
      // may keep an ended process until the delay is over.
      let slow = ["strace", "-D", "-f", "-o", "/dev/null", "-e", "trace=fsync", "-e"]
      let screen = try PseudoTerminal(
        slow + ["inject=fsync:delay_enter=10000000", Program.receiptctl, "--config", relay.configurationPath]
          + ["db", "restore", backup, "--yes"])
      try waitUntil("the copy is there") { exists(relay.databasePath + ".restore") }
      screen.interrupt()
      #expect(screen.end() == 75, "\(screen.text)")
      #expect(screen.text.contains("stopped by a signal; nothing was changed"), "\(screen.text)")
      #expect(try ShellRun(["ls", "-A", relay.directory.path]).output == before)
      try relay.start()
      try relay.passTime()
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root may give files to another user"))
  func `A first start as root makes files that the service's user can open`() throws {
    let service: uid_t = 65_534
    let destination = try Destination()
    defer { destination.stop() }
    let relay = try Relay(destination)
    let folder = relay.directory.file("data")
    try #require(unsafe mkdir(folder, 0o750) == 0)
    try #require(unsafe chown(folder, service, service) == 0)
    let path = folder + "/receiptd.db"
    relay.configuration = relay.configuration.merging(["database": .string(path)])
    try Relay.$logPath.withValue(relay.logPath) {
      for arguments in [[], ["--new-database"]] {
        relay.arguments = arguments
        try relay.start()
        #expect(try relay.outside.send(Checkout("jdo-1").completed).status == 200)
        for suffix in ["", "-wal", "-shm", ".lock", ".reserve"] {
          #expect(owner(path + suffix) == service, "\(suffix) \(arguments)")
        }
        #expect(try relay.stop() == 0)
        // The second start begins again, with the leftovers of the first one.
        unsafe unlink(path)
        unsafe unlink(path + ".reserve")
      }
    }
  }

  @Test(
    .enabled(if: Tool.works("unshare", "--map-root-user", "--pid", "--fork", "true"), "needs pid namespaces"))
  func `A receiptd in another container is not reported as process 0`() throws {
    try withRelay { relay, _ in
      try relay.passTime()
      let container = ["unshare", "--map-root-user", "--pid", "--fork"]
      for words in [["stats"], ["reload"], ["db", "restore", relay.databasePath + "x", "--yes"]] {
        let ran = try receiptctl(relay, words, before: container)
        #expect(ran.output.contains("in another container"), "\(ran.output)")
        #expect(!ran.output.contains("process 0"), "\(ran.output)")
        #expect(ran.code == (words == ["stats"] ? 0 : words == ["reload"] ? 69 : 77), "\(ran.output)")
      }
      let json = try receiptctl(relay, ["stats", "--json"], before: container)
      #expect(json.output.contains(#""running":true,"process":null"#), "\(json.output)")
      #expect(relay.process?.exitCode == nil)
    }
  }

  @Test func `receiptctl reports the running receiptd whose database was moved`() throws {
    try withRelay { relay, _ in
      try relay.passTime()
      let id = try #require(relay.process?.id)
      let away = relay.directory.file("away.db")
      try #require(unsafe rename(relay.databasePath, away) == 0)
      let served = try receiptctl(relay, ["receipts", "list"])
      #expect(served.code == 69, "\(served.output)")
      #expect(!served.output.contains("start receiptd once"), "\(served.output)")
      #expect(served.output.contains("while receiptd (process \(id)) serves it"), "\(served.output)")
      #expect(try relay.stop(SIGKILL) == 128 + SIGKILL)
      let alone = try receiptctl(relay, ["receipts", "list"])
      #expect(alone.code == 66, "\(alone.output)")
      #expect(!alone.output.contains("start receiptd once"), "\(alone.output)")
      #expect(alone.output.contains("was moved or removed: other files"), "\(alone.output)")
      // The remedy.
      try #require(unsafe rename(away, relay.databasePath) == 0)
      #expect(try receiptctl(relay, ["receipts", "list"]).code == 0)
    }
  }
}
