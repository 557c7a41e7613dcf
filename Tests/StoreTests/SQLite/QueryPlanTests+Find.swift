// Tests that a search reads indexes only.

import Testing

@testable import Store

extension QueryPlanTests {
  @Test func `Ids and their beginnings are found by the order of an index, without a sort`() throws {
    let store = try TestStore()
    let sql = StoreReader.findSQL
    let expected = [
      (sql.object, "SEARCH purchases USING COVERING INDEX purchases_by_object (object_id=?)"),
      (sql.importID, "SEARCH purchases USING COVERING INDEX purchases_by_import (import_id=?)"),
      (
        sql.objects, "SEARCH purchases USING COVERING INDEX purchases_by_object (object_id>? AND object_id<?)"
      ),
      (
        sql.importIDs,
        "SEARCH purchases USING COVERING INDEX purchases_by_import (import_id>? AND import_id<?)"
      ),
      (sql.events, "SEARCH events USING COVERING INDEX events_by_id (event_id>? AND event_id<?)"),
      (sql.contexts, "SEARCH contexts USING COVERING INDEX sqlite_autoindex_contexts_1 (id>? AND id<?)"),
    ]
    for (sql, step) in expected { #expect(try plan(of: sql, sqlite(store.reader)) == [step], "\(sql)") }
    let steps = try plan(of: sql.purchases, sqlite(store.reader))
    #expect(steps.first == "SEARCH purchases USING INTEGER PRIMARY KEY (rowid=?)", "\(steps)")
    #expect(try fullScans(of: sql.purchases, sqlite(store.reader)) == [])
    let indexed = try plan(of: StoreReader.searchSQL.find, sqlite(store.reader))
    #expect(
      indexed.contains("SEARCH b USING INDEX search_blocks_by_first (run=? AND first>? AND first<?)"),
      "\(indexed)")
    #expect(indexed.allSatisfy { !$0.contains("SCAN b") }, "\(indexed)")
    #expect(indexed.allSatisfy { !$0.contains("TEMP B-TREE") }, "\(indexed)")
    for sql in [StoreReader.searchSQL.events, StoreReader.searchSQL.payments] {
      let steps = try plan(of: sql, sqlite(store.reader))
      #expect(steps.map { $0.contains("INTEGER PRIMARY KEY (rowid>?)") } == [true], "\(steps)")
    }
  }
}
