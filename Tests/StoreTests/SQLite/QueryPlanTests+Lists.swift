// Tests that the rows of a period are found without a scan.

import Testing

@testable import Store

extension QueryPlanTests {
  @Test func `The rows of a period are found by their numbers`() throws {
    let store = try TestStore()
    for table in [TimeOrderedTable.events, .audit] {
      let steps = try plan(of: table.firstRowSQL, sqlite(store.reader))
      #expect(steps == ["SEARCH \(table.rawValue) USING INTEGER PRIMARY KEY (rowid>?)"])
    }
  }
}
