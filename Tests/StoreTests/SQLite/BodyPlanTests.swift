// Tests that what concerns the bodies of events costs the same in a database of any size.

import Testing

@testable import SQLiteStore
@testable import Store

@Suite("Query plans for bodies")
struct BodyPlanTests {
  @Test("The newest bodies are found from the end, the number of events from both ends")
  func plans() throws {
    let store = try TestStore()
    let connection = try #require(store.reader.connection.engine as? SQLiteConnection).connection
    func plan(_ sql: String, _ values: [Value] = []) throws -> [String] {
      try connection.prepare("EXPLAIN QUERY PLAN " + sql).all(values) { row throws(SQLiteError) in
        try row.text(3)
      }
    }
    for kind in BodyKind.allCases {
      let sql = StoreReader.samplesSQL(kind)
      let samples = try plan(sql.samples, [.integer(1), .integer(1000)])
      #expect(samples.first == "SEARCH e USING INTEGER PRIMARY KEY (rowid>?)")
      #expect(samples.contains("SEARCH p USING INTEGER PRIMARY KEY (rowid=?)"))
      #expect(!samples.contains { $0.contains("TEMP B-TREE") })
      #expect(try !plan(sql.count).contains { $0.hasPrefix("SCAN") && !$0.contains("CONSTANT") })
    }
  }
}
