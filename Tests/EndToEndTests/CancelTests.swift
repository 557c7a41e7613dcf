// Long work on a database at a terminal: its progress, and what Ctrl-C leaves behind.

import Glibc
import Platform
import TestSupport
import Testing

/// Under a sanitizer the copy takes many minutes, and no bound of time holds.
@Suite(
  "Long work on a database", .withDaemonLog, .enabled(if: !Sanitizer.isOn, "it takes too long"))
struct CancelTests {
  /// A stopped relay with 60,000 receipts, their events and contexts: enough for each step to be seen.
  private final class Bench {
    let relay: Relay
    let destination: Destination
    var backup: String { relay.directory.file("backup.db") }

    init() throws {
      destination = try Destination()
      relay = try Relay(destination)
      try relay.start()
      try #require(try relay.stop() == 0)
      try LargeDatabase.fill(path: relay.databasePath, .init(receipts: 60_000, isWhole: true), app: "shop")
    }

    deinit { destination.stop() }

    func words(_ command: [String]) -> [String] {
      relay.receiptctlCommand + ["db"] + command
    }

    /// The names in the relay's folder.
    func files() throws -> [Substring] {
      try ShellRun(["ls", "-A", relay.directory.path]).output.split(separator: "\n")
    }

    func isSound() throws -> Bool { try ShellRun(words(["check"])).code == 0 }
  }

  /// Interrupts a command when it shows each of these texts.
  private func interrupt(_ command: [String], at labels: [String], _ bench: Bench) throws {
    for (number, label) in labels.enumerated() {
      let before = try bench.files()
      let screen = try PseudoTerminal(bench.words(command))
      #expect(screen.shows(label), "\(label): \(screen.text)")
      let start = MonotonicInstant.now()
      if number == 0 { screen.interrupt() } else { screen.send(SIGTERM) }
      #expect(screen.end() == 75, "\(label): \(screen.text)")
      // A second, and as much for a busy machine.
      #expect(MonotonicInstant.now().duration(since: start) < .seconds(2), "\(label)")
      #expect(screen.text.contains("stopped by a signal; "), "\(screen.text)")
      #expect(try bench.files() == before, "\(label)")
    }
    #expect(try bench.isSound())
  }

  /// Runs a command to its end, and looks at its bar.
  private func complete(_ command: [String], _ bench: Bench) throws {
    let screen = try PseudoTerminal(bench.words(command))
    #expect(screen.end(within: .seconds(300)) == 0, "\(screen.text)")
    let shares = screen.text.matches(of: /\] (\d+) %/).compactMap { Int($0.output.1) }
    #expect(shares.last == 100, "\(screen.text)")
    #expect(shares == shares.sorted(), "it never goes back: \(shares)")
    #expect(shares.count > 2, "\(shares)")
  }

  @Test func `check, backup and restore end within a second, leave nothing, and succeed afterwards`() throws {
    let bench = try Bench()
    try interrupt(["check"], at: ["checking  ["], bench)
    try complete(["check"], bench)
    try interrupt(["backup", bench.backup], at: ["copying  [", "checking the copy  ["], bench)
    try complete(["backup", bench.backup], bench)
    let restore = ["restore", bench.backup, "--yes", "--reason", "test"]
    try interrupt(restore, at: ["checking the backup  [", "copying  [", "checking the copy  ["], bench)
    try complete(restore, bench)
    #expect(try bench.isSound())
  }

  @Test func `A copy that is stopped continues with the same command`() throws {
    let bench = try Bench()
    let target = bench.relay.directory.file("copy.db")
    let command = ["copy", "--to", target]
    for label in ["copying ", "comparing "] {
      let screen = try PseudoTerminal(bench.words(command))
      // It compares once all is copied.
      #expect(screen.shows(label, within: .seconds(300)), "\(screen.text)")
      let start = MonotonicInstant.now()
      screen.interrupt()
      #expect(screen.end() == 75, "\(screen.text)")
      #expect(MonotonicInstant.now().duration(since: start) < .seconds(2))
      #expect(screen.text.contains("run the same command again, it continues"), "\(screen.text)")
    }
    try complete(command, bench)
  }
}
