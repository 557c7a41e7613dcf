// Tests that what is found by keys is found without a scan of purchases.

import Testing

@testable import Store

extension QueryPlanTests {
  @Test("An object, a user and a customer are found by keys, without a scan of purchases")
  func keys() throws {
    let store = try TestStore()
    let selection = store.reader.connection.engine.keys.selection("?1", "?2")
    let ofUser = StoreReader.purchasesSQL(selection)
    let object = StoreReader.ofObjectSQL(store.reader.connection.engine.keys.selection("?2", "?3"))
    for sql in [object, ofUser.ofUser, ofUser.ofCustomer] {
      let steps = try plan(of: sql, sqlite(store.reader))
      #expect(steps.first == "SEARCH purchases USING INTEGER PRIMARY KEY (rowid=?)", "\(steps)")
      Self.expectKeys(in: steps)
      #expect(try fullScans(of: sql, sqlite(store.reader)) == [], "\(sql)")
    }
  }

  /// The index is searched; the tail, which is short, is scanned.
  static func expectKeys(in steps: [String]) {
    #expect(steps.contains("SEARCH keys USING PRIMARY KEY (key>? AND key<?)"), "\(steps)")
    #expect(steps.contains("SCAN key_tail"), "\(steps)")
  }
}
