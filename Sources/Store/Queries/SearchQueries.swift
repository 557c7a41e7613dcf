// What the index of a search needs next, and what it is made from. One thread at a time.

public import Domain
internal import Formats

/// The next change of the index.
public enum SearchStep: Sendable {
  case begin
  case drop([Int64])
  case delete(Int64)
  case write(SearchDraft)
}

extension StoreReader {
  static let searchSQL = (
    events: """
    SELECT row_id, processor, body, dictionary, is_hint, received_at FROM events
    WHERE row_id > ?1 ORDER BY row_id LIMIT ?2
    """,
    payments:
      "SELECT row_id, payment, first_seen_at FROM purchases WHERE row_id > ?1 ORDER BY row_id LIMIT ?2",
    blocks: "SELECT first, entries FROM search_blocks WHERE run = ?1",
    // `<` and not `<=`: the entries of a key may begin in the block before the first one that begins with
    // it.
    find: """
    SELECT r.family, b.entries FROM search_runs r
    JOIN search_blocks b ON b.run = r.run
      AND b.first >= coalesce((SELECT max(first) FROM search_blocks WHERE run = r.run AND first < ?1), ?1)
      AND b.first <= ?2
    WHERE r.state = 'ready' LIMIT ?3
    """
  )

  /// A run with entries of deleted rows is rewritten after this time, so that no hash of an address
  /// outlives its event by more.
  static let searchRewriteTime: Duration = .days(30)
  /// On a server a row may be committed after one with a larger number, but not after this time.
  private static let searchSettleTime: Duration = .seconds(10)

  /// What to do next for the index; nil if nothing is.
  /// - Parameter mentions: reads the bodies of events.
  public func searchStep(
    _ mentions: MentionReader, now: Timestamp, sizes: SearchSizes = SearchSizes()
  ) throws(StoreFault) -> SearchStep? {
    try connection.snapshot { () throws(StoreFault) in
      guard let (hash, erasures) = try searchState() else {
        for family in SearchFamily.allCases {
          if try hasSearchRows(family, after: 0, sizes.rows) { return .begin }
        }
        return nil
      }
      let runs = try searchRuns()
      // A program that ended left it behind.
      if let dropped = runs.first(where: { $0.state == .dropped }) { return .delete(dropped.number) }
      let left = runs.filter { $0.state == .building }.map(\.number)
      if !left.isEmpty { return .drop(left) }
      for family in SearchFamily.allCases {
        let rows = try searchedRows(family)
        let ready = runs.filter { $0.family == family }
        // The numbers of rows begin again when all were deleted.
        let restarted = SearchIndex.end(of: family, runs) > (rows?.upperBound ?? 0)
        let void = ready.filter { restarted || $0.lastRow < (rows?.lowerBound ?? .max) }
        if !void.isEmpty { return .drop(void.map(\.number)) }
        guard let rows else { continue }
        var draft = SearchDraft(
          family: family, level: 0, firstRow: SearchIndex.end(of: family, runs) + 1, lastRow: 0, blocks: [],
          replaced: [], erasures: erasures)
        if try hasSearchRows(family, after: draft.firstRow - 1, sizes.rows),
          try readRows(&draft, sizes, hash, mentions, now: now)
        {
          return .write(draft)
        }
        if try readRuns(&draft, sizes, ready, from: rows.lowerBound, now: now) { return .write(draft) }
      }
      return nil
    }
  }

  func searchState() throws(StoreFault) -> (hash: AddressHash, erasures: Int64)? {
    try connection.prepare(SearchIndex.stateSQL).first([]) { row throws(StoreFault) in
      (try AddressHash(key: row.blob(0)), row.integer(1))
    }
  }

  func searchRuns() throws(StoreFault) -> [SearchRun] {
    try connection.prepare(SearchIndex.runsSQL).all([], SearchRun.init)
  }

  private func searchedRows(_ family: SearchFamily) throws(StoreFault) -> ClosedRange<Int64>? {
    let table = family == .events ? "events" : "purchases"
    guard
      let first = try connection.prepare("SELECT min(row_id) FROM \(table)").first([], Self.number) ?? nil,
      let last = try connection.prepare("SELECT max(row_id) FROM \(table)").first([], Self.number) ?? nil
    else { return nil }
    return first...last
  }

  /// Whether the rows after one make a run. Reads no bodies.
  private func hasSearchRows(
    _ family: SearchFamily, after row: Int64, _ count: Int
  ) throws(StoreFault) -> Bool {
    let table = family == .events ? "events" : "purchases"
    return try connection.prepare(
      "SELECT row_id FROM \(table) WHERE row_id > ?1 ORDER BY row_id LIMIT 1 OFFSET ?2"
    ).first([.integer(row), .integer(Int64(count) - 1)]) { _ throws(StoreFault) in true } ?? false
  }

  private static func number(_ row: StoreRow) throws(StoreFault) -> Int64? { row.optionalInteger(0) }

  /// Reads the rows of a run of level 0.
  /// - Returns: false if there are not enough yet.
  private func readRows(
    _ draft: inout SearchDraft, _ sizes: SearchSizes, _ hash: AddressHash, _ mentions: MentionReader,
    now: Timestamp
  ) throws(StoreFault) -> Bool {
    let limit = connection.engine.hasRoundTrips ? now - Self.searchSettleTime : nil
    var entries: [SearchEntry] = []
    var count = 0
    try forEachMention(draft.family, after: draft.firstRow - 1, limit: sizes.rows, mentions) {
      row, at, named in
      if let limit, at > limit { return false }
      for key in SearchKey.keys(named, hash) { entries.append(SearchEntry(key: key, row: row)) }
      draft.lastRow = row
      count += 1
      return true
    }
    guard count == sizes.rows else { return false }
    entries.sort()
    draft.blocks = SearchBlock.blocks(entries)
    return true
  }

  /// Reads the runs that a run of level 1 replaces, or one that has entries of deleted rows.
  /// - Returns: false if there are none.
  private func readRuns(
    _ draft: inout SearchDraft, _ sizes: SearchSizes, _ ready: [SearchRun], from first: Int64,
    now: Timestamp
  ) throws(StoreFault) -> Bool {
    let small = ready.filter { $0.level == 0 }
    var sources = Array(small.prefix(sizes.runs))
    draft.level = 1
    if sources.count < sizes.runs {
      let old = ready.first { $0.firstRow < first && $0.madeAt <= now - Self.searchRewriteTime }
      guard let old else { return false }
      (sources, draft.level) = ([old], old.level)
    }
    guard let begin = sources.map(\.firstRow).min(), let end = sources.map(\.lastRow).max() else {
      return false
    }
    (draft.firstRow, draft.lastRow) = (max(begin, first), end)
    var entries: [SearchEntry] = []
    let reading = try connection.prepare(Self.searchSQL.blocks)
    for run in sources {
      try reading.forEach([.integer(run.number)]) { row throws(StoreFault) in
        let block = SearchBlock(first: row.integer(0), bytes: row.blob(1))
        for entry in block.entries where entry.row >= first { entries.append(entry) }
      }
    }
    entries.sort()
    draft.blocks = SearchBlock.blocks(entries)
    draft.replaced = sources.map(\.number)
    return true
  }

  /// Calls `body` with what each row names, in order, until it returns false. A row that names nothing, or
  /// that cannot be read, has empty mentions.
  func forEachMention(
    _ family: SearchFamily, after row: Int64, limit: Int, _ mentions: MentionReader,
    _ body: (_ row: Int64, _ at: Timestamp, Mentions) throws(StoreFault) -> Bool
  ) throws(StoreFault) {
    let values: [StoreValue] = [.integer(row), .integer(Int64(limit))]
    switch family {
    case .events:
      try connection.prepare(Self.searchSQL.events).readWhile(values) { row throws(StoreFault) in
        try body(
          row.integer(0), Timestamp(unixMilliseconds: row.integer(5)),
          row.flag(4) ? Mentions() : mentioned(row, at: 1, mentions))
      }
    case .payments:
      try connection.prepare(Self.searchSQL.payments).readWhile(values) { row throws(StoreFault) in
        try body(row.integer(0), Timestamp(unixMilliseconds: row.integer(2)), Self.reference(row, at: 1))
      }
    }
  }

  /// What an event names, from its processor, body and dictionary. Anyone can send a hint, so a hint names
  /// nothing.
  func mentioned(_ row: StoreRow, at column: Int, _ mentions: MentionReader) throws(StoreFault) -> Mentions {
    do throws(StoreFault) {
      let body = try StoredBody(row, at: column + 1, column + 2).read()
      let processor: ProcessorName = try row.text(column)
      return body.isEmpty ? Mentions() : mentions(processor, body)
    } catch {
      guard error.kind == .corrupt else { throw error }
      return Mentions()
    }
  }

  /// The merchant's reference of a payment that the relay started.
  static func reference(_ row: StoreRow, at column: Int) throws(StoreFault) -> Mentions {
    var mentions = Mentions()
    mentions.add(id: try row.optionalText(column).map(PaymentFacts.init(stored:))?.reference)
    return mentions
  }
}
