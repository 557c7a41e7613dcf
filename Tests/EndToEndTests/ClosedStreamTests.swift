// Programs started without standard streams, as some supervisors and scripts do.

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite("Programs without standard streams", .withDaemonLog) struct ClosedStreamTests {
  @Test func `A restore without standard error does not write into the previous database (R4)`() throws {
    try withRelay { relay, _ in
      try relay.passTime()
      let copy = relay.directory.file("copy.db")
      let words = relay.receiptctlCommand
      #expect(try ShellRun(words + ["db", "backup", copy]).code == 0)
      #expect(try relay.stop() == 0)
      let restore =
        ["sh", "-c", "exec \"$@\" <&- >&- 2>&-", "sh"] + words + ["db", "restore", copy, "--yes"]
      #expect(try ShellRun(restore).code == 0)
      let names = try FileManager.default.contentsOfDirectory(atPath: relay.directory.path)
      let aside = names.filter { $0.contains("before-restore") }
      #expect(!aside.isEmpty)
      for name in aside + ["receiptd.db"] {
        let file = try #require(FileManager.default.contents(atPath: relay.directory.file(name)))
        #expect(file.starts(with: Array("SQLite format 3".utf8)), "\(name)")
      }
      try relay.start()
      #expect(try relay.receipts().count == 1)
    }
  }

  @Test func `A daemon without standard streams opens none of its files as descriptors 0 to 2`() throws {
    try withRelay { relay, _ in
      #expect(try relay.stop() == 0)
      // The harness reads the ports from standard error.
      relay.launcher = ["sh", "-c", "exec \"$@\" <&- >&-", "sh"]
      try relay.start()
      let id = try #require(relay.process?.id)
      for stream in 0...1 {
        let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(id)/fd/\(stream)")
        #expect(path == "/dev/null", "\(stream)")
      }
    }
  }
}
