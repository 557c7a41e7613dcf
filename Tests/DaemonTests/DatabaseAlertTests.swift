// The alert about the database itself, which needs no read.

import Formats
import Platform
import Testing

@testable import Config
@testable import Reports

@Suite("The alert about the database") struct DatabaseAlertTests {
  @Test("A database that was moved or is damaged is an alert of the whole relay, which ends with it")
  func database() throws {
    let bench = try AlertBench([AlertBench.alert([.database])])
    try bench.live { run throws in
      #expect(try bench.pass(.seconds(60), &run).isEmpty)
      bench.database.withLock { $0 = [.databaseDamaged] }
      let told = try bench.pass(.seconds(60), &run)
      #expect(told.map(\.notice) == ["database - firing"])
      #expect(told.first?["summary"] == "the database is damaged")
      #expect(told.first?["what_to_do"]?.stringValue?.contains("receiptctl db check") == true)
      bench.database.withLock { $0 = [] }
      #expect(try bench.pass(.seconds(60), &run).map(\.notice) == ["database - resolved"])
    }
  }
}
