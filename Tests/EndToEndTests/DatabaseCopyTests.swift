// What receiptd does with a database that was copied, and with a copy.

import Domain
import Formats
import SQLiteStore
import TestSupport
import Testing

@Suite("A copied database", .withDaemonLog) struct DatabaseCopyTests {
  @Test("receiptd ends with 77 on a retired database and on an unfinished copy, and serves a whole one (R3)")
  func starts() throws {
    try withRelay { relay, _ in
      let checkout = Checkout("jdo-1")
      try relay.ingest(checkout.completed)
      try relay.reaches(.delivered, checkout.subscription)
      let target = relay.directory.file("copy.db")
      let served = try relay.receiptctl("db", "copy", "--to", target)
      #expect(served.code == 77, "\(served.output)")
      #expect(served.output.contains("stop it first"), "\(served.output)")
      #expect(try relay.stop() == 0)
      let copied = try relay.receiptctl("db", "copy", "--to", target)
      #expect(copied.code == 0, "\(copied.output)")
      let retired = try relay.runAgain()
      #expect(retired.code == 77, "\(retired.output)")
      #expect(retired.output.contains("was copied to \(target)"), "\(retired.output)")
      #expect(retired.output.contains("receiptctl db copy --undo"), "\(retired.output)")
      relay.configuration = relay.configuration.merging(["database": .string(target)])
      try relay.writeConfiguration()
      let copy = try Connection(path: target, mode: .readWrite, busyTimeout: .seconds(5))
      try copy.execute(
        """
        INSERT INTO copies (role, id, place, state, at, progress)
        VALUES ('target', 1, '/the/source.db', 'copying', 1, '{"table":"events","after":[1],"rows":1}')
        """)
      let unfinished = try relay.runAgain()
      #expect(unfinished.code == 77, "\(unfinished.output)")
      #expect(unfinished.output.contains("an unfinished copy of /the/source.db"), "\(unfinished.output)")
      try copy.execute("DELETE FROM copies")
      try relay.start()
      let list = try relay.receiptctl("receipts", "list", "--json")
      #expect(list.output.contains(checkout.subscription), "\(list.output)")
    }
  }
}
