// An operator at a terminal, with the real programs: the live screen, and a restore from a backup.

import Domain
import Formats
import Glibc
import TestSupport
import Testing

@Suite("At the operator's terminal", .withDaemonLog)
struct OperatorScreenTests {
  private func terminal(_ relay: Relay, _ words: String...) throws -> PseudoTerminal {
    try PseudoTerminal(relay.receiptctlCommand + words)
  }

  @Test func `top shows the current state, refreshes, and restores the terminal on q and on Ctrl-C`() throws {
    try withRelay { relay, destination in
      destination.answer(.status(503, body: "busy"))
      try relay.buy(Checkout("jdo-1"))
      try relay.reaches(.delivered, Checkout("jdo-1").subscription)
      for key in ["q", "\u{3}"] {
        let screen = try terminal(relay, "top", "--interval", "100ms")
        #expect(screen.shows("\u{1B}[?1049h"), "the other screen")
        #expect(screen.shows("DELIVERED"))
        #expect(screen.shows("LATEST FAILURES"))
        #expect(screen.shows("503"))
        #expect(screen.shows("receiptd \(try #require(relay.process).id)"))
        if key == "q" {
          // The screen shows new purchases.
          try relay.buy(Checkout("jdo-2"))
          try relay.reaches(.delivered, Checkout("jdo-2").subscription)
          try waitUntil("the rate shows it") {
            screen.read()
            return screen.text.contains(/delivered (?!0\.0\/)\d+\.\d\/s/)
          }
        }
        screen.type(key)
        #expect(screen.end() == 0)
        #expect(screen.text.hasSuffix("\u{1B}[?25h\u{1B}[?1049l"), "the cursor and the screen are back")
      }
      let piped = try relay.receiptctl("top")
      #expect(piped.code == 0)
      #expect(piped.output.contains("DELIVERED"))
      #expect(!piped.output.contains("\u{1B}"))
    }
  }

  @Test func `top shows unfinished lookups and captures, as stats does`() throws {
    try AfterpayRelay.run { shop in
      _ = try shop.start()
      let line = "shop at afterpay: 1 lookup planned."
      #expect(try shop.relay.receiptctl("stats").output.contains(line))
      let screen = try terminal(shop.relay, "top", "--interval", "100ms")
      #expect(screen.shows(line))
      screen.type("q")
      #expect(screen.end() == 0)
    }
  }

  @Test func `top keeps its header on the first line of an 80×24 screen`() throws {
    try withRelay { relay, destination in
      // A long cause, long sentences about a pause, and more troubles than lines.
      destination.answerAll(.status(403, body: "no"))
      for number in 1...25 { try relay.buy(Checkout("jdo-\(number)")) }
      try waitUntil("the deliveries pause") { try relay.breaker().state == .paused }
      for words in [["top", "--interval", "100ms"], ["stats", "--watch", "--interval", "100ms"]] {
        let screen = try PseudoTerminal(relay.receiptctlCommand + words, columns: 80, rows: 24)
        #expect(screen.shows("ends\u{1B}[H"), "it is drawn twice")
        let drawn = try #require(screen.text.split(separator: "\u{1B}[H").dropLast().last)
        let lines = drawn.replacing(/\u{1B}\[[?0-9;]*[A-Za-z]/, with: "").split(
          separator: "\r\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 24, "\(lines)")
        // The terminal itself adds a carriage return before each newline (ONLCR in termios(3)).
        #expect(lines.allSatisfy { $0.filter { $0 != "\r" }.count <= 80 }, "\(lines)")
        let head = words[0] == "top" ? "receiptd \(try #require(relay.process).id)" : "APP"
        #expect(lines.contains { $0.hasPrefix(head) }, "\(lines)")
        #expect(lines.contains { $0.contains("http_403") })
        #expect(lines.last?.hasSuffix("ends") == true)
        screen.interrupt()
        #expect(screen.end() == 0)
      }
    }
  }

  private func withBackup(_ body: (_ folder: String, _ backup: [String]) throws -> Void) throws {
    try withRelay { relay, _ in
      try relay.buy(Checkout("jdo-1"))
      let folder = relay.directory.file("backups")
      unsafe mkdir(folder, 0o755)
      try body(folder, relay.receiptctlCommand + ["db", "backup", folder + "/b.db"])
    }
  }

  @Test(.enabled(if: Tool.hasNamespaces, "needs a separate file system"))
  func `A backup that a full disk ends leaves no partial files`() throws {
    try withBackup { folder, backup in
      let script = #"mount -t tmpfs -o size=64k none "$0" && { "$@"; echo "code $?, left:$(ls -A "$0")"; }"#
      let full = try ShellRun(["unshare", "--map-root-user", "--mount", "sh", "-c", script, folder] + backup)
      #expect(full.output.contains("code 1, left:\n"), "\(full.output)")
      #expect(full.output.contains("there is no room for \(folder)/b.db; the partial copy was removed"))
    }
  }

  @Test(.enabled(if: Tool.hasTracing, "needs strace"))
  func `A backup that Ctrl-C ends leaves no partial files`() throws {
    try withBackup { folder, backup in
      // Stopped before the rename. The delay is shorter than the wait for its end: strace 6.1 may keep an
      // ended process until the delay is over.
      let slow = ["strace", "-D", "-f", "-o", "/dev/null", "-e", "trace=rename", "-e"]
      let screen = try PseudoTerminal(slow + ["inject=rename:delay_enter=10000000"] + backup)
      #expect(screen.shows("syncing"))
      screen.interrupt()
      #expect(screen.end() == 75)
      #expect(try ShellRun(["ls", "-A", folder]).output == "")
      #expect(try ShellRun(backup).code == 0)
    }
  }

  @Test func `stats --watch draws again and again until Ctrl-C`() throws {
    try withRelay { relay, _ in
      try relay.buy(Checkout("jdo-1"))
      try relay.reaches(.delivered, Checkout("jdo-1").subscription)
      let screen = try terminal(relay, "stats", "--watch", "--interval", "100ms")
      let times = { screen.text.split(separator: "\u{1B}[H").count }
      #expect(screen.shows("shop"))
      try waitUntil("it is drawn again") {
        screen.read()
        return times() >= 3
      }
      screen.interrupt()
      #expect(screen.end() == 0)
    }
  }

  @Test("A backup is restored only while receiptd is stopped, and its due receipts are delivered")
  func restore() throws {
    try withRelay { relay, destination in
      destination.answerAll(.status(503, body: "down"))
      try relay.buy(Checkout("jdo-1"))
      let backup = relay.directory.file("backup.db")
      #expect(try relay.receiptctl("db", "backup", backup).code == 0)
      try relay.buy(Checkout("jdo-2"))
      let refused = try relay.receiptctl("db", "restore", backup, "--yes")
      #expect(refused.code == 77)
      #expect(refused.output.contains("serves the database; stop it first"))
      try #require(try relay.stop() == 0)
      let restored = try relay.receiptctl("db", "restore", backup, "--yes", "--reason", "test")
      #expect(restored.code == 0)
      #expect(restored.output.contains("Start receiptd now."))
      destination.answerAll(.taken)
      try relay.start()
      try relay.reaches(.delivered, Checkout("jdo-1").subscription)
      #expect(try relay.receipt(of: Checkout("jdo-2").subscription) == nil)
      #expect(try relay.receiptctl("db", "check").code == 0)
      #expect(try relay.receiptctl("audit", "list").output.contains("db restore"))
      // Stripe sends it again.
      try relay.ingest(Checkout("jdo-2").completed)
      try relay.reaches(.delivered, Checkout("jdo-2").subscription)
    }
  }
}
