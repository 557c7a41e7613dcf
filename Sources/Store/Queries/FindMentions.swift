// Finds events and payments by what they name: by the index of a search, and the newest ones by reading
// them. One thread at a time.

internal import Domain

/// What a search found in events and payments, before their purchases are read.
struct FoundMentions {
  /// Which id of an event or payment matches; nil for an address.
  struct Place {
    var match: SearchHit.Match
    var id: String?
  }

  /// Purchases by row.
  var purchases: [Int64: Place] = [:]
  /// Events that belong to no purchase, by row.
  var events: [Int64: Place] = [:]
  /// What those events name.
  var named: [String] = []
}

/// How a text is compared with what an event names.
private struct MentionTest {
  let ids: [String]
  let beginnings: [String]
  let address: String?

  /// - Returns: the id that matches, and whether it is the whole text.
  func match(_ mentions: Mentions) -> (place: FoundMentions.Place, isWhole: Bool)? {
    if let address, mentions.addresses.contains(address) {
      return (FoundMentions.Place(match: .address, id: nil), true)
    }
    if let id = mentions.ids.first(where: ids.contains) {
      return (FoundMentions.Place(match: .mention, id: id), true)
    }
    let part = mentions.ids.first { id in
      beginnings.contains { part in
        id.utf8.starts(with: part.utf8) || IDText.core(id).utf8.starts(with: part.utf8)
          || id.utf8.reversed().starts(with: part.utf8.reversed())
      }
    }
    return part.map { (FoundMentions.Place(match: .mention, id: $0), false) }
  }
}

extension StoreReader {
  /// The newest rows that are in no run, and are read by a search: some milliseconds.
  static let unindexedMax = 768
  /// Blocks that a search reads: two of each run, and some more of keys that many rows have.
  private static let blocksMax: Int64 = 4000

  private static let mentionSQL = (
    event: """
    SELECT row_id, processor, body, dictionary, purchase_row FROM events WHERE row_id = ?1
    """,
    payment: "SELECT row_id, payment FROM purchases WHERE row_id = ?1"
  )

  /// - Returns: what names the whole text, and what names an id of which it is a part.
  func findMentions(
    _ query: FindQuery, _ mentions: MentionReader, _ search: inout FindSearch
  ) throws(StoreFault) -> (whole: FoundMentions, part: FoundMentions) {
    let test = MentionTest(
      ids: query.ids, beginnings: query.beginnings,
      address: query.isAddress ? Mentions.address(query.text) : nil)
    var found = (whole: FoundMentions(), part: FoundMentions())
    var candidates = try indexed(query, test.address, &search)
    let runs = try searchRuns()
    for family in SearchFamily.allCases {
      let last = try newestRow(family)
      let end = SearchIndex.end(of: family, runs)
      let start = max(end, last - Int64(Self.unindexedMax))
      if start > end, try hasRows(family, after: end, through: start) { search.found.isIndexing = true }
      try forEachMention(family, after: start, limit: Self.unindexedMax, mentions) { row, _, named in
        if test.match(named) != nil { candidates[family, default: []].insert(row) }
        return true
      }
    }
    for row in (candidates[.events] ?? []).sorted(by: >) { try check(event: row, test, mentions, &found) }
    let reading = try connection.prepare(Self.mentionSQL.payment)
    for row in candidates[.payments] ?? [] {
      let named = try reading.first([.integer(row)]) { row throws(StoreFault) in
        try Self.reference(row, at: 1)
      }
      guard let (place, isWhole) = named.flatMap(test.match) else { continue }
      let reference = FoundMentions.Place(match: .reference, id: place.id)
      if isWhole { found.whole.purchases[row] = reference } else { found.part.purchases[row] = reference }
    }
    return found
  }

  /// Reads an event that may match.
  private func check(
    event row: Int64, _ test: MentionTest, _ mentions: MentionReader,
    _ found: inout (whole: FoundMentions, part: FoundMentions)
  ) throws(StoreFault) {
    let event = try connection.prepare(Self.mentionSQL.event).first([.integer(row)]) {
      row throws(StoreFault) in
      (purchase: row.optionalInteger(4) as Int64?, named: try mentioned(row, at: 1, mentions))
    }
    guard let event, let (place, isWhole) = test.match(event.named) else { return }
    func note(_ list: inout FoundMentions) {
      guard let purchase = event.purchase else {
        list.events[row] = place
        list.named += event.named.ids
        return
      }
      if list.purchases[purchase] == nil { list.purchases[purchase] = place }
    }
    if isWhole { note(&found.whole) } else { note(&found.part) }
  }

  /// The rows that may have the text, from the index.
  private func indexed(
    _ query: FindQuery, _ address: String?, _ search: inout FindSearch
  ) throws(StoreFault) -> [SearchFamily: Set<Int64>] {
    guard let (hash, _) = try searchState() else { return [:] }
    var ranges = Set(
      query.ids.flatMap { [SearchKey.numbers(ofBeginning: $0), SearchKey.numbers(ofEnd: $0)] })
    if let address {
      let key = SearchKey.key(ofAddress: address, hash)
      ranges = [key...key]
    }
    var found: [SearchFamily: Set<Int64>] = [:]
    let reading = try connection.prepare(Self.searchSQL.find)
    for range in ranges {
      var rows: [SearchFamily: Set<Int64>] = [:]
      try reading.forEach([.integer(range.lowerBound), .integer(range.upperBound), .integer(Self.blocksMax)])
      {
        row throws(StoreFault) in
        guard let family = SearchFamily(rawValue: row.integer(0)) else { return }
        SearchBlock(first: 0, bytes: row.blob(1)).forEach(range) { rows[family, default: []].insert($0) }
      }
      for (family, all) in rows {
        search.note(read: all.count)
        found[family, default: []].formUnion(all.sorted(by: >).prefix(Self.findMax))
      }
    }
    return found
  }

  private func hasRows(_ family: SearchFamily, after row: Int64, through last: Int64) throws(StoreFault)
    -> Bool
  {
    let table = family == .events ? "events" : "purchases"
    return try connection.prepare("SELECT 1 FROM \(table) WHERE row_id > ?1 AND row_id <= ?2 LIMIT 1")
      .first([.integer(row), .integer(last)]) { _ throws(StoreFault) in true } ?? false
  }

  private func newestRow(_ family: SearchFamily) throws(StoreFault) -> Int64 {
    try connection.integer("SELECT max(row_id) FROM \(family == .events ? "events" : "purchases")") ?? 0
  }
}
