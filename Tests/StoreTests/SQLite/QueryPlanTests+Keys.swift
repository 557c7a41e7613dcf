// Tests that what is found by keys is found without a scan of purchases or contexts.

import Testing

@testable import SQLiteStore
@testable import Store

extension QueryPlanTests {
  @Test func `What is found by keys is found without a scan of its table`() throws {
    let store = try TestStore()
    let purchases = [
      StoreReader.ofObjectSQL, StoreReader.purchasesSQL.ofUser, StoreReader.purchasesSQL.ofCustomer,
    ]
    for sql in purchases {
      let steps = try plan(of: sql, sqlite(store.reader))
      #expect(steps.first == "SEARCH purchases USING INTEGER PRIMARY KEY (rowid=?)", "\(steps)")
      #expect(try fullScans(of: sql, sqlite(store.reader)) == [], "\(sql)")
    }
    for sql in [StoreReader.userSQL.apps, StoreReader.userSQL.countContexts] {
      let steps = try plan(of: sql, sqlite(store.reader))
      #expect(steps.first == "SEARCH contexts USING INTEGER PRIMARY KEY (rowid=?)", "\(steps)")
    }
  }

  @Test func `The sorted tables of keys are searched`() throws {
    let store = try TestStore()
    let steps = try plan(of: KeyTables.readingRangeSQL, sqlite(store.reader))
    for table in ["keys", "recent_keys"] {
      #expect(steps.contains("SEARCH \(table) USING PRIMARY KEY (key>? AND key<?)"), "\(steps)")
    }
  }
}
