// Tests that what operators read about joins costs the same in a database of any size.

import Testing

@testable import Store

extension QueryPlanTests {
  @Test func `The counts of joins are read by app and hour, contexts of other users by app and row`() throws {
    let store = try TestStore()
    let joins = try plan(of: StoreReader.joinsSQL, sqlite(store.reader))
    #expect(joins.first == "SEARCH join_counts USING PRIMARY KEY (app=? AND hour>? AND hour<?)", "\(joins)")
    let unclaimed = try plan(of: StoreReader.unclaimedSQL, sqlite(store.reader))
    #expect(
      unclaimed.contains { $0.hasPrefix("SEARCH contexts USING COVERING INDEX contexts_by_app (app=?") },
      "\(unclaimed)")
    #expect(unclaimed.contains("SEARCH c USING INTEGER PRIMARY KEY (rowid=?)"), "\(unclaimed)")
    #expect(unclaimed.allSatisfy { !$0.contains("TEMP B-TREE") }, "\(unclaimed)")
  }
}
