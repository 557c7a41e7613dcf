// Finds what an id, or the beginning of one, is about: purchases, contexts and events. Each part reads an
// index, and stops at a maximum, so the cost does not depend on the size of the database. One thread at a
// time.

public import Domain

extension StoreReader {
  /// The largest number of ids with one beginning that are read: a text that more of them share is too
  /// short.
  public static let findMax = 200

  private static let foundColumns = """
    row_id, app, processor, object_id, session_id, customer_id, user_id, receipt_id, state, reason, import_id,
    coalesce(created_at, first_seen_at), other_names
    """

  static let findSQL = (
    object: "SELECT row_id FROM purchases WHERE object_id = ?1 LIMIT ?2",
    importID: "SELECT row_id FROM purchases WHERE import_id = ?1 LIMIT ?2",
    objects:
      "SELECT row_id FROM purchases WHERE object_id >= ?1 AND object_id < ?2 ORDER BY object_id LIMIT ?3",
    importIDs: """
    SELECT row_id FROM purchases WHERE import_id >= ?1 AND import_id < ?2 ORDER BY import_id LIMIT ?3
    """,
    events: "SELECT row_id FROM events WHERE event_id >= ?1 AND event_id < ?2 ORDER BY event_id LIMIT ?3",
    contexts: "SELECT id FROM contexts WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3",
    purchases: """
    SELECT \(foundColumns) FROM purchases
    WHERE row_id IN (SELECT value FROM json_each(?1)) AND +app = coalesce(?2, app)
      AND coalesce(created_at, first_seen_at) >= ?3 AND coalesce(created_at, first_seen_at) < ?4
    ORDER BY row_id DESC LIMIT ?5
    """
  )

  /// Searches for an id of any kind; if nothing has it, for ids that begin with it.
  /// - Parameters:
  ///   - mentions: reads the bodies of events.
  ///   - now: decides whether contexts have expired.
  ///   - limit: of each kind of result, and of all.
  public func find(
    _ query: FindQuery, _ filter: FindFilter, mentions: MentionReader, now: Timestamp, limit: Int
  ) throws(StoreFault) -> Findings {
    try connection.snapshot { () throws(StoreFault) in
      var search = FindSearch(filter: filter, limit: min(limit, Self.findMax))
      for id in query.ids { try find(id, now: now, &search) }
      // An address may be the id of a user, too.
      if search.found.list.isEmpty || query.isAddress {
        let (whole, part) = try findMentions(query, mentions, &search)
        try add(whole, &search)
        guard search.found.list.isEmpty else { return search.result }
        search.found.isPart = true
        try add(part, &search)
        if let row = query.receiptRow {
          try add(purchases: [row.number], &search) { purchase in
            purchase.receiptID?.text.hasSuffix(query.text.uppercased()) == true
              ? FoundMentions.Place(match: .receipt) : nil
          }
        }
        for beginning in query.beginnings { try find(beginning: beginning, now: now, &search) }
        if search.found.list.isEmpty, !query.isAddress { try find(price: PriceID(query.text), &search) }
      }
      return search.result
    }
  }

  // MARK: Whole ids

  private func find(_ id: String, now: Timestamp, _ search: inout FindSearch) throws(StoreFault) {
    let limit = StoreValue.integer(Int64(search.limit + 1))
    func rows(_ sql: String) throws(StoreFault) -> [Int64] {
      try connection.prepare(sql).all([.text(id), limit]) { row throws(StoreFault) in row.integer(0) }
    }
    var purchases = Set(try rows(Self.findSQL.object) + rows(Self.findSQL.importID))
    purchases.formUnion(try keyed(id, [.session, .customer, .user]))
    if let row = ReceiptID(id).purchaseRow { purchases.insert(row.number) }
    try add(purchases: Array(purchases), &search) { Self.place($0, id: id) }

    if let context = try context(id: ContextID(id), now: now) {
      search.add(SearchHit(item: .context(context), match: .context), app: context.app)
    }
    var ofUser = ContextFilter()
    (ofUser.userID, ofUser.app) = (UserID(id), search.filter.app)
    (ofUser.since, ofUser.until) = (search.filter.since, search.filter.until)
    for context in try contexts(ofUser, now: now, limit: search.limit + 1) {
      search.add(SearchHit(item: .context(context), match: .user), app: context.app)
    }
    for event in try summaries(ofEvent: EventID(id)) {
      search.add(SearchHit(item: .event(event), match: .event), app: event.app)
    }
  }

  /// The rows of the purchases that may have an id as one of these.
  private func keyed(_ id: String, _ kinds: [RowKey.Kind]) throws(StoreFault) -> [Int64] {
    var rows: [Int64] = []
    for kind in kinds { rows += try connection.engine.keys.rows(RowKey.numbers(kind, ObjectID(id))) }
    return rows
  }

  private static func place(_ purchase: FoundPurchase, id: String) -> FoundMentions.Place? {
    purchase.match { $0 == ObjectID(id) }.map { FoundMentions.Place(match: $0) }
  }

  /// - Parameter match: nil for a purchase that was found by a number only, or is not wanted.
  private func add(
    purchases rows: [Int64], _ search: inout FindSearch, match: (FoundPurchase) -> FoundMentions.Place?
  ) throws(StoreFault) {
    guard !rows.isEmpty else { return }
    let found = try connection.prepare(Self.findSQL.purchases).all([
      RowKey.list(rows), .optional(search.filter.app),
      .integer(search.filter.since?.unixMilliseconds ?? 0),
      .integer(search.filter.until?.unixMilliseconds ?? .max), .integer(Int64(search.limit + 1)),
    ]) { row throws(StoreFault) in try FoundPurchase(row) }
    for purchase in found {
      guard let place = match(purchase) else { continue }
      search.add(SearchHit(item: .purchase(purchase), match: place.match, named: place.id), app: purchase.app)
    }
  }

  // MARK: What events name

  private func add(_ found: FoundMentions, _ search: inout FindSearch) throws(StoreFault) {
    try add(purchases: Array(found.purchases.keys), &search) { found.purchases[$0.row.number] }
    let one = try connection.prepare(Self.eventSQL.one)
    for (row, place) in found.events {
      guard let event = try one.first([.integer(row)], Self.eventSummary) else { continue }
      search.add(SearchHit(item: .event(event), match: place.match, named: place.id), app: event.app)
    }
    // A charge belongs to no purchase, but names its customer, and so the customer's purchases.
    guard found.purchases.isEmpty else { return }
    for id in Set(found.named).prefix(Self.findMax) {
      try add(purchases: try keyed(id, [.session, .customer]), &search) { Self.place($0, id: id) }
    }
  }

  // MARK: Prices

  /// Receipts of a price. No index has it, so the newest are compared.
  private func find(price: PriceID, _ search: inout FindSearch) throws(StoreFault) {
    var filter = ReceiptFilter()
    (filter.priceID, filter.app) = (price, search.filter.app)
    (filter.since, filter.until) = (search.filter.since, search.filter.until)
    let page = try placePage(filter, limit: search.limit)
    search.found.compared = page.compared
    try add(purchases: page.entries.map(\.row.number), &search) { _ in FoundMentions.Place(match: .price) }
    if page.next != nil { search.found.isCut = true }
  }

  // MARK: Beginnings

  private func find(
    beginning: String, now: Timestamp, _ search: inout FindSearch
  ) throws(StoreFault) {
    // No text sorts after the last code point of Unicode, which no id has.
    let range: [StoreValue] = [
      .text(beginning), .text(beginning + "\u{10FFFF}"), .integer(Int64(Self.findMax + 1)),
    ]
    func rows(_ sql: String) throws(StoreFault) -> [Int64] {
      try connection.prepare(sql).all(range) { row throws(StoreFault) in row.integer(0) }
    }
    var purchases = try rows(Self.findSQL.objects)
    let imports = try rows(Self.findSQL.importIDs)
    let events = try rows(Self.findSQL.events)
    search.note(read: max(purchases.count, imports.count, events.count))
    purchases += imports
    if beginning.hasPrefix(ReceiptID.prefix) {
      var receipts = ReceiptFilter()
      (receipts.beginning, receipts.app) = (beginning, search.filter.app)
      (receipts.since, receipts.until) = (search.filter.since, search.filter.until)
      purchases += try places(receipts, limit: search.limit + 1).map(\.row.number)
    }
    try add(purchases: Array(Set(purchases)), &search) { purchase in
      purchase.match { $0.text.utf8.starts(with: beginning.utf8) }.map { FoundMentions.Place(match: $0) }
    }
    if beginning.hasPrefix(ContextID.prefix) {
      let ids: [ContextID] = try connection.prepare(Self.findSQL.contexts).all(range) {
        row throws(StoreFault) in
        try row.text(0)
      }
      search.note(read: ids.count)
      for id in ids.prefix(Self.findMax) {
        guard let context = try context(id: id, now: now) else { continue }
        search.add(SearchHit(item: .context(context), match: .context), app: context.app)
      }
    }
    let one = try connection.prepare(Self.eventSQL.one)
    for row in events.prefix(Self.findMax) {
      guard let event = try one.first([.integer(row)], Self.eventSummary) else { continue }
      search.add(SearchHit(item: .event(event), match: .event), app: event.app)
    }
  }
}

/// The results of a search so far.
struct FindSearch {
  let filter: FindFilter
  let limit: Int
  var found = Findings()
  private var seen: Set<String> = []

  init(filter: FindFilter, limit: Int) { (self.filter, self.limit) = (filter, limit) }

  /// Adds a result that the filter includes, unless another id found it.
  mutating func add(_ finding: SearchHit, app: AppSlug) {
    guard filter.includes(finding, app: app), seen.insert(finding.item.place).inserted else { return }
    found.list.append(finding)
  }

  /// Notes how many ids with one beginning were read.
  mutating func note(read count: Int) { if count > StoreReader.findMax { found.isCut = true } }

  /// The newest first.
  var result: Findings {
    var result = found
    result.list.sort { $0.at > $1.at }
    if result.list.count > limit {
      result.list.removeLast(result.list.count - limit)
      result.isCut = true
    }
    return result
  }
}

extension SearchHit.Item {
  /// Names it among the results.
  fileprivate var place: String {
    switch self {
    case .purchase(let purchase): "purchase \(purchase.row)"
    case .context(let context): context.id.text
    case .event(let event): "event \(event.row)"
    }
  }
}

extension FoundPurchase {
  /// From `foundColumns`.
  fileprivate init(_ row: StoreRow) throws(StoreFault) {
    self.init(
      row: row.integer(0), app: try row.text(1), processor: try row.text(2), objectID: try row.text(3),
      sessionID: try row.optionalText(4), customerID: try row.optionalText(5),
      userID: try row.optionalText(6),
      receiptID: try row.optionalText(7), state: try row.optionalText(8).flatMap(ReceiptState.init),
      reason: try row.optionalText(9).map(Reason.init), importID: try row.optionalText(10),
      otherUsers: NamesColumn.users(nil, others: try row.optionalText(12)),
      at: Timestamp(unixMilliseconds: row.integer(11)))
  }

  /// Its first id that is wanted; nil if none is.
  fileprivate func match(_ isWanted: (ObjectID) -> Bool) -> SearchHit.Match? {
    func has(_ id: (some TextID)?) -> Bool { id.map { isWanted(ObjectID($0.text)) } ?? false }
    if has(receiptID) { return .receipt }
    if has(objectID) { return .purchase }
    if has(sessionID) { return .checkout }
    if has(customerID) { return .customer }
    if has(userID) || otherUsers.contains(where: has) { return .user }
    return importID.map { isWanted(ObjectID($0)) } == true ? .importID : nil
  }
}
