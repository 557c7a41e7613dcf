// The writer's statements on the index of a search. The writer's thread.

internal import Domain

final class SearchRows {
  private let state: StoreStatement
  private let creating: StoreStatement
  private let noting: StoreStatement
  private let runs: StoreStatement
  private let next: StoreStatement
  private let insertingRun: StoreStatement
  private let setting: StoreStatement
  private let insertingBlock: StoreStatement
  private let blocks: StoreStatement
  private let replacingBlock: StoreStatement
  private let deletingBlocks: StoreStatement
  private let deletingRun: StoreStatement

  init(_ connection: StoreConnection) {
    state = connection.prepareOnUse(SearchIndex.stateSQL)
    creating = connection.prepareOnUse("INSERT INTO search_state (row_id, key, erasures) VALUES (1, ?1, 0)")
    noting = connection.prepareOnUse("UPDATE search_state SET erasures = erasures + 1 WHERE row_id = 1")
    runs = connection.prepareOnUse(SearchIndex.runsSQL)
    next = connection.prepareOnUse("SELECT coalesce(max(run), 0) + 1 FROM search_runs")
    insertingRun = connection.prepareOnUse(
      """
      INSERT INTO search_runs (run, family, level, first_row, last_row, state, made_at)
      VALUES (?1, ?2, ?3, ?4, ?5, 'building', ?6)
      """)
    setting = connection.prepareOnUse("UPDATE search_runs SET state = ?2 WHERE run = ?1 AND state = ?3")
    insertingBlock = connection.prepareOnUse(
      "INSERT INTO search_blocks (run, first, entries) VALUES (?1, ?2, ?3)")
    blocks = connection.prepareOnUse("SELECT row_id, first, entries FROM search_blocks WHERE run = ?1")
    replacingBlock = connection.prepareOnUse("UPDATE search_blocks SET entries = ?2 WHERE row_id = ?1")
    deletingBlocks = connection.prepareOnUse(
      """
      DELETE FROM search_blocks WHERE row_id IN
        (SELECT row_id FROM search_blocks WHERE run = ?1 ORDER BY first LIMIT ?2)
      """)
    deletingRun = connection.prepareOnUse("DELETE FROM search_runs WHERE run = ?1 AND state = 'dropped'")
  }

  /// How many erasures the index had; nil if there is no index.
  func erasures() throws(StoreFault) -> Int64? {
    try state.first([]) { row throws(StoreFault) in row.integer(1) }
  }

  /// Creates the key for addresses.
  func create(key: [UInt8]) throws(StoreFault) { try creating.run([.blob(key)]) }

  func all() throws(StoreFault) -> [SearchRun] { try runs.all([], SearchRun.init) }

  func insert(_ draft: SearchDraft, at now: Timestamp) throws(StoreFault) -> Int64 {
    let number = try next.first([]) { row throws(StoreFault) in row.integer(0) } ?? 1
    try insertingRun.run([
      .integer(number), .integer(draft.family.rawValue), .integer(draft.level), .integer(draft.firstRow),
      .integer(draft.lastRow), .time(now),
    ])
    return number
  }

  func insert(_ blocks: ArraySlice<SearchBlock>, run: Int64) throws(StoreFault) {
    for block in blocks {
      try insertingBlock.run([.integer(run), .integer(block.first), .blob(block.bytes)])
    }
  }

  func set(_ run: Int64, from old: SearchRun.State, to new: SearchRun.State) throws(StoreFault) {
    try setting.changeOne(
      [.integer(run), .text(new.rawValue), .text(old.rawValue)], for: "change a run of the search index")
  }

  /// Deletes some blocks of a dropped run, and the run with its last block.
  func delete(_ run: Int64, limit: Int) throws(StoreFault) {
    let deleted = try deletingBlocks.count([.integer(run), .integer(Int64(limit))])
    if deleted < limit { try deletingRun.run([.integer(run)]) }
  }

  /// Removes all entries of some rows, from runs in any state. Their keys are not known any more, so the
  /// blocks of each run that has the rows are read: some megabytes.
  func erase(_ rows: Set<Int64>, of family: SearchFamily) throws(StoreFault) {
    guard let first = rows.min(), let last = rows.max(), try erasures() != nil else { return }
    // An index that is being made from these rows is void with this.
    try noting.run([])
    for run in try all() where run.family == family && run.firstRow <= last && run.lastRow >= first {
      guard rows.contains(where: { run.firstRow...run.lastRow ~= $0 }) else { continue }
      let found = try blocks.all([.integer(run.number)]) { row throws(StoreFault) in
        (row: row.integer(0) as Int64, block: SearchBlock(first: row.integer(1), bytes: row.blob(2)))
      }
      for (row, block) in found {
        guard let rest = block.without(rows) else { continue }
        try replacingBlock.run([.integer(row), .blob(rest.bytes)])
      }
    }
  }
}
