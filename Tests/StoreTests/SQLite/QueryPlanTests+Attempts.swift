// Tests that lists of attempts and latencies are read without a scan.

import Testing

@testable import Store

extension QueryPlanTests {
  @Test func `Attempts are read by their rows, and those in trouble by their index`() throws {
    let store = try TestStore()
    let all = try plan(of: StoreReader.attemptCandidatesSQL("*", isOfTrouble: false), sqlite(store.reader))
    #expect(all == ["SEARCH attempts USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"])
    let failed = try plan(of: StoreReader.attemptCandidatesSQL("*", isOfTrouble: true), sqlite(store.reader))
    try #require(failed.count == 1, "\(failed)")
    #expect(failed[0].contains("INDEX attempts_in_trouble (row_id>? AND row_id<?)"), "\(failed)")
    let first = try plan(of: TimeOrderedTable.attempts.firstRowSQL, sqlite(store.reader))
    #expect(first == ["SEARCH attempts USING INTEGER PRIMARY KEY (rowid>?)"])
  }

  @Test func `Latencies are read, moved and deleted by their key`() throws {
    let store = try TestStore()
    let key = "SEARCH latencies USING PRIMARY KEY (app=? AND destination=? AND minutes=? AND slot"
    let read = try plan(of: StoreReader.latenciesSQL, sqlite(store.reader))
    #expect(read.filter { $0.contains("\(key)>?)") }.count == 2, "\(read)")
    for sql in [LatencyRows.shortSQL, LatencyRows.forgettingSQL] {
      let steps = try plan(of: sql, sqlite(store.reader))
      #expect(steps == ["\(key)<?)"])
    }
    for (sql, seek) in zip(StoreConnection.nextLatencyPlaceSQL, ["app=? AND destination>?", "app>?"]) {
      let steps = try plan(of: sql, sqlite(store.reader))
      #expect(steps == ["SEARCH latencies USING PRIMARY KEY (\(seek))"])
    }
    let delivered = try plan(of: StoreReader.deliveredSQL, sqlite(store.reader))
    #expect(delivered.first?.hasPrefix("SEARCH delivery_counts USING PRIMARY KEY (minute>?)") == true)
  }
}
