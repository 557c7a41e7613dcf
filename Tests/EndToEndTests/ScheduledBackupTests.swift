// receiptd copies its own database.

import Domain
import Formats
import Platform
import SQLiteStore
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog) struct ScheduledBackupTests {
  @Test("receiptd copies its database while it serves, and a folder that is gone disturbs no receipt")
  func schedule() throws {
    let folder = try TestFolder()
    try withRelay(top: ["backup": ["to": .string(folder.path)]]) { relay, _ in
      let copy = try waitFor("a copy") {
        FilePath.beginning(with: folder.path + "/receiptd-").first { $0.hasSuffix("Z.db") }
      }
      #expect(try StoreReader(path: copy).rowCounts().contains { $0.table == "events" })
      try waitUntil("it is recorded") {
        try relay.metric("receiptd_last_backup_timestamp_seconds") ?? 0 > 0
      }
      relay.configuration = relay.configuration.merging(["backup": ["to": "/nowhere/copies"]])
      try relay.writeConfiguration()
      #expect(try relay.receiptctl("reload").code == 0)
      try waitUntil("the finding is shown") {
        try relay.receiptctl("status").output.contains("there is no folder /nowhere/copies")
      }
      let checkout = Checkout("undisturbed")
      try relay.buy(checkout)
      try relay.reaches(.delivered, checkout.subscription)
      #expect(try relay.stop() == 0)
    }
  }
}
