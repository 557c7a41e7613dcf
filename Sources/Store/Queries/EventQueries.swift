// Operators' queries of events. Newest first: row ids are in order of arrival.

public import Domain

/// Which events to list; a nil property does not restrict the list.
public struct EventFilter: Sendable, Equatable {
  public var app: AppSlug?
  public var processor: ProcessorName?
  public var type: String?
  public var outcome: EventOutcome?
  public var since: Timestamp?
  public var until: Timestamp?
  /// Only those of paid purchases that name no user and made no receipt.
  public var isUnmatched = false
  /// The row of the last event on the previous page. An event id is not unique: several apps may get the same
  /// event.
  public var after: EventRowID?

  public init() {}

  fileprivate var isOfGroups: Bool { app != nil || processor != nil || type != nil || outcome != nil }

  fileprivate func includes(_ group: EventGroup) -> Bool {
    (app == nil || app == group.app) && (processor == nil || processor == group.processor)
      && (type == nil || type == group.type)
      && (outcome == nil || outcome?.rawValue == group.outcome)
  }
}

/// The events of one app, processor, outcome and type; `events_by_group` lists them in order.
private struct EventGroup {
  var app: AppSlug
  var processor: ProcessorName
  var outcome: String
  var type: String
}

extension StoreReader {
  static let eventColumns = """
    SELECT e.event_id, e.app, e.processor, e.type, e.outcome, e.received_at, p.receipt_id, e.row_id,
      p.object_id
    FROM events e LEFT JOIN purchases p ON p.row_id = e.purchase_row
    """

  /// There are few such purchases. The parameters are those of `joinedEventSQL`.
  static let unmatchedSQL = """
    \(eventColumns) WHERE p.unmatched = 1 AND e.row_id > ?1 AND e.row_id < ?2
      AND e.purchase_row IN (SELECT row_id FROM purchases WHERE unmatched = 1)
      AND (?4 IS NULL OR e.app = ?4) AND (?5 IS NULL OR e.processor = ?5) AND (?6 IS NULL OR e.outcome = ?6)
      AND (?7 IS NULL OR e.type = ?7)
    """

  /// The statements for lists of events.
  static let eventSQL = (
    all: "\(eventColumns) WHERE e.row_id > ?1 AND e.row_id < ?2 ORDER BY e.row_id DESC LIMIT ?3",
    ofPurchase: "\(eventColumns) WHERE e.purchase_row = ?1 ORDER BY e.row_id DESC LIMIT ?2",
    one: "\(eventColumns) WHERE e.row_id = ?1",
    group: """
    SELECT row_id FROM events
    WHERE app = ?1 AND outcome = ?2 AND type = ?3 AND processor = ?4 AND row_id > ?5 AND row_id < ?6
    ORDER BY row_id DESC LIMIT ?7
    """,
    groupFrom: """
    SELECT row_id FROM events
    WHERE app = ?1 AND outcome = ?2 AND type = ?3 AND processor = ?4 AND row_id >= ?5
    ORDER BY row_id LIMIT ?6
    """,
    // Each statement skips a group: to the next type, outcome, processor, app. With one comparison of the
    // four columns SQLite would read the group to its end.
    nextGroup: [
      """
      SELECT app, processor, outcome, type FROM events
      WHERE app = ?1 AND processor = ?2 AND outcome = ?3 AND type > ?4 ORDER BY type LIMIT 1
      """,
      """
      SELECT app, processor, outcome, type FROM events
      WHERE app = ?1 AND processor = ?2 AND outcome > ?3 AND ?4 IS NOT NULL ORDER BY outcome, type LIMIT 1
      """,
      """
      SELECT app, processor, outcome, type FROM events
      WHERE app = ?1 AND processor > ?2 AND ?3 IS NOT NULL AND ?4 IS NOT NULL
      ORDER BY processor, outcome, type LIMIT 1
      """,
      """
      SELECT app, processor, outcome, type FROM events
      WHERE app > ?1 AND ?2 IS NOT NULL AND ?3 IS NOT NULL AND ?4 IS NOT NULL
      ORDER BY app, processor, outcome, type LIMIT 1
      """,
    ],
    countAll: """
    SELECT count(*) FROM (SELECT 1 FROM events WHERE row_id > ?1 AND row_id < ?2 LIMIT ?3)
    """,
    countGroup: """
    SELECT count(*) FROM (
      SELECT 1 FROM events
      WHERE app = ?1 AND outcome = ?2 AND type = ?3 AND processor = ?4 AND row_id > ?5 AND row_id < ?6
      LIMIT ?7)
    """
  )

  /// - Returns: at most `limit` events, newest first. The cost of a page does not depend on its position or
  ///   on the number of events.
  public func events(_ filter: EventFilter, limit: Int) throws(StoreFault) -> [EventSummary] {
    try connection.snapshot { () throws(StoreFault) in
      var (after, before) = try rows(filter)
      if filter.isUnmatched {
        return try connection.prepare("\(Self.unmatchedSQL) ORDER BY e.row_id DESC LIMIT ?3")
          .all(Self.joinedValues(filter, after, before, limit), Self.eventSummary)
      }
      guard filter.isOfGroups else {
        return try connection.prepare(Self.eventSQL.all)
          .all([.integer(after), .integer(before), .integer(Int64(limit))], Self.eventSummary)
      }
      if connection.engine.hasRoundTrips { return try joinedEvents(filter, after, before, limit) }
      let reading = try connection.prepare(Self.eventSQL.group)
      var rows: [Int64] = []
      for group in try eventGroups(filter) {
        let more = try reading.all([
          .text(group.app), .text(group.outcome), .text(group.type), .text(group.processor),
          .integer(after), .integer(before), .integer(Int64(limit)),
        ]) { row throws(StoreFault) in row.integer(0) }
        guard !more.isEmpty else { continue }
        rows = Array((rows + more).sorted(by: >).prefix(limit))
        // The following groups need no events older than a full page.
        if rows.count == limit, let last = rows.last { after = last }
      }
      let one = try connection.prepare(Self.eventSQL.one)
      var events: [EventSummary] = []
      for row in rows {
        if let event = try one.first([.integer(row)], Self.eventSummary) { events.append(event) }
      }
      return events
    }
  }

  /// The rows of a filter are greater than `after` and less than `before`.
  private func rows(_ filter: EventFilter) throws(StoreFault) -> (after: Int64, before: Int64) {
    let after =
      try filter.since.map { moment throws(StoreFault) in try firstRow(of: .events, from: moment) - 1 } ?? 0
    let before =
      try filter.until.map { moment throws(StoreFault) in try firstRow(of: .events, from: moment) } ?? .max
    return (after, min(before, filter.after?.number ?? .max))
  }

  /// How many events match, counted up to `limit`.
  func count(_ filter: EventFilter, limit: Int) throws(StoreFault) -> Int {
    try connection.snapshot { () throws(StoreFault) in
      let (after, before) = try rows(filter)
      func number(_ row: StoreRow) -> Int { Int(clamping: row.integer(0)) }
      if filter.isUnmatched {
        return try connection.prepare("SELECT count(*) FROM (\(Self.unmatchedSQL) LIMIT ?3) AS found")
          .first(Self.joinedValues(filter, after, before, limit), number) ?? 0
      }
      guard filter.isOfGroups else {
        return try connection.prepare(Self.eventSQL.countAll)
          .first([.integer(after), .integer(before), .integer(Int64(limit))], number) ?? 0
      }
      if connection.engine.hasRoundTrips {
        return try connection.prepare("SELECT count(*) FROM (\(Self.joinedEventSQL) LIMIT ?3)")
          .first(Self.joinedValues(filter, after, before, limit), number) ?? 0
      }
      let counting = try connection.prepare(Self.eventSQL.countGroup)
      var count = 0
      for group in try eventGroups(filter) where count < limit {
        count +=
          try counting.first(
            [
              .text(group.app), .text(group.outcome), .text(group.type), .text(group.processor),
              .integer(after), .integer(before), .integer(Int64(limit - count)),
            ], number) ?? 0
      }
      return count
    }
  }

  /// How many of an app's events from a row on have these outcomes, each counted up to its limit. Outcomes
  /// without events are left out.
  func counts(
    ofApp app: AppSlug, from first: Int64, limits: KeyValuePairs<EventOutcome, Int>
  ) throws(StoreFault) -> [EventOutcome: Int] {
    var counts: [String: Int] = [:]
    if connection.engine.hasRoundTrips {
      let reading = try connection.prepare(Self.joinedCountSQL(limits))
      let values: [StoreValue] = [.integer(first - 1), .integer(.max), .text(app)]
      let found = try reading.all(values) { row throws(StoreFault) in
        (outcome: try row.text(0), count: Int(clamping: row.integer(1)))
      }
      for (outcome, count) in found { counts[outcome] = count }
    } else {
      var filter = EventFilter()
      filter.app = app
      let reading = try connection.prepare(Self.eventSQL.countGroup)
      for group in try eventGroups(filter) {
        guard let limit = limits.first(where: { $0.key.rawValue == group.outcome })?.value else { continue }
        let count = try reading.first([
          .text(group.app), .text(group.outcome), .text(group.type), .text(group.processor),
          .integer(first - 1), .integer(.max), .integer(Int64(limit)),
        ]) { row in Int(clamping: row.integer(0)) }
        counts[group.outcome, default: 0] += count ?? 0
      }
    }
    return limits.reduce(into: [:]) { found, item in
      guard let count = counts[item.key.rawValue], count > 0 else { return }
      found[item.key] = min(count, item.value)
    }
  }

  /// The events of one purchase, newest first.
  func events(ofPurchase row: PurchaseRowID, limit: Int) throws(StoreFault) -> [EventSummary] {
    try connection.prepare(Self.eventSQL.ofPurchase).all(
      [.integer(row), .integer(Int64(limit))], Self.eventSummary)
  }

  private func eventGroups(_ filter: EventFilter) throws(StoreFault) -> [EventGroup] {
    var next: [StoreStatement] = []
    for sql in Self.eventSQL.nextGroup { next.append(try connection.prepare(sql)) }
    func group(after last: EventGroup) throws(StoreFault) -> EventGroup? {
      for statement in next {
        let found = try statement.first([
          .text(last.app), .text(last.processor), .text(last.outcome), .text(last.type),
        ]) { row throws(StoreFault) in
          EventGroup(
            app: try row.text(0), processor: try row.text(1), outcome: try row.text(2), type: try row.text(3))
        }
        if let found { return found }
      }
      return nil
    }
    var groups: [EventGroup] = []
    var last = EventGroup(app: filter.app ?? "", processor: "", outcome: "", type: "")
    while let group = try group(after: last) {
      if let app = filter.app, app != group.app { break }
      if filter.includes(group) { groups.append(group) }
      last = group
    }
    return groups
  }

  /// The row of an event; nil if there is none. Without an app, the newest of several, so that a page repeats
  /// an event rather than skipping one.
  public func row(ofEvent id: EventID, app: AppSlug?) throws(StoreFault) -> EventRowID? {
    try connection.prepare("SELECT max(row_id) FROM events WHERE event_id = ?1 AND app = coalesce(?2, app)")
      .first([.text(id), .optional(app)]) { row throws(StoreFault) in row.optionalInteger(0) } ?? nil
  }

  static func eventSummary(_ row: StoreRow) throws(StoreFault) -> EventSummary {
    EventSummary(
      row: row.integer(7), id: try row.text(0), app: try row.text(1),
      processor: try row.text(2),
      type: try row.text(3),
      outcome: try row.text(4), receivedAt: Timestamp(unixMilliseconds: row.integer(5)),
      receiptID: try row.optionalText(6), objectID: try row.optionalText(8))
  }

  /// The events with this id (one per app that received it), each with its raw bytes.
  public func events(id: EventID) throws(StoreFault) -> [(summary: EventSummary, body: [UInt8])] {
    var found: [(summary: EventSummary, body: [UInt8])] = []
    for summary in try summaries(ofEvent: id) {
      if let body = try body(ofEvent: summary.row) { found.append((summary, body)) }
    }
    return found
  }

  /// The same without the bytes, which may be unreadable.
  public func summaries(ofEvent id: EventID) throws(StoreFault) -> [EventSummary] {
    try connection.prepare("\(Self.eventColumns) WHERE e.event_id = ?1 ORDER BY e.row_id")
      .all([.text(id)], Self.eventSummary)
  }
}

extension StoreReader {
  /// When an app's newest event was received; nil if none is stored.
  public func lastEvent(app: AppSlug) throws(StoreFault) -> Timestamp? {
    var filter = EventFilter()
    filter.app = app
    return try events(filter, limit: 1).first?.receivedAt
  }

  /// When the event with this number, counted from each of these moments on, was received by an app; moments
  /// with fewer events are left out. It reads that many entries of the index for each type of event.
  public func times(
    ofEvent number: Int, ofApp app: AppSlug, from moments: [Timestamp]
  ) throws(StoreFault) -> [Timestamp: Timestamp] {
    try connection.snapshot { () throws(StoreFault) in
      let firstRows = try firstRows(of: .events, from: moments)
      let times = try times(ofEvent: number, ofApp: app, from: Set(firstRows.values))
      return firstRows.compactMapValues { times[$0] }
    }
  }

  /// The same, counted from rows on.
  private func times(
    ofEvent number: Int, ofApp app: AppSlug, from rows: Set<Int64>
  ) throws(StoreFault) -> [Int64: Timestamp] {
    var times: [Int64: Timestamp] = [:]
    if connection.engine.hasRoundTrips {
      let values: [StoreValue] = [
        RowKey.list(Array(rows)), .integer(.max), .text(app), .integer(Int64(number)),
      ]
      try connection.prepare(Self.joinedNumberSQL).forEach(values) { row throws(StoreFault) in
        times[row.integer(0)] = row.timestamp(1)
      }
      return times
    }
    var filter = EventFilter()
    filter.app = app
    let groups = try eventGroups(filter)
    let reading = try connection.prepare(Self.eventSQL.groupFrom)
    let one = try connection.prepare(Self.eventSQL.one)
    for first in rows {
      var found: [Int64] = []
      for group in groups {
        found += try reading.all([
          .text(group.app), .text(group.outcome), .text(group.type), .text(group.processor),
          .integer(first), .integer(Int64(number)),
        ]) { row throws(StoreFault) in row.integer(0) }
      }
      guard found.count >= number else { continue }
      found.sort()
      times[first] = try one.first([.integer(found[number - 1])], Self.eventSummary)?.receivedAt
    }
    return times
  }
}

// MARK: - Joined

// The groups of a list of events in one statement, for PostgreSQL, where each statement waits for the
// network.

extension StoreReader {
  /// The rows of all groups that match: the parameters are the bounds of the rows, the limit of each group,
  /// and app, processor, outcome and type, or NULL.
  static let joinedEventSQL = """
    \(groupSteps(app: "?4"))
    SELECT e.row_id FROM g CROSS JOIN LATERAL (\(groupRows(limit: "?3"))) AS e
    WHERE (?5 IS NULL OR g.processor = ?5) AND (?6 IS NULL OR g.outcome = ?6)
      AND (?7 IS NULL OR g.type = ?7)
    """

  /// Counts an app's rows by outcome. The parameters are the bounds of the rows, and the app.
  private static func joinedCountSQL(_ limits: KeyValuePairs<EventOutcome, Int>) -> String {
    let cases = limits.map { "WHEN '\($0.key.rawValue)' THEN \($0.value)" }.joined(separator: " ")
    let rows = groupRows(limit: "CASE g.outcome \(cases) ELSE 0 END")
    return """
      \(groupSteps(app: "?3"))
      SELECT g.outcome, count(*) FROM g CROSS JOIN LATERAL (\(rows)) AS e GROUP BY g.outcome
      """
  }

  /// When one of an app's events was received, counted from each of several rows on: the parameters are the
  /// list of rows, each of which is a `value` of the result, the end, the app, and the event's number.
  private static let joinedNumberSQL = """
    SELECT value, (\(groupSteps(app: "?3"))
      SELECT received_at FROM events WHERE row_id = (
        SELECT e.row_id FROM g CROSS JOIN LATERAL (\(groupRows(after: "value - 1", "ASC", limit: "?4"))) AS e
        ORDER BY e.row_id LIMIT 1 OFFSET ?4 - 1))
    FROM json_each(?1)
    """

  /// The groups of an app, or of all if that is NULL. The recursion steps from one group to the next by the
  /// index, and ends at the next app's. The step itself must not name the app: PostgreSQL would then begin at
  /// the app's first entry, and compare all of its entries with the group.
  private static func groupSteps(app: String) -> String {
    """
    WITH RECURSIVE g (app, processor, outcome, type) AS (
      (SELECT app, processor, outcome, type FROM events
        WHERE (\(app) IS NULL OR app = \(app)) ORDER BY app, processor, outcome, type LIMIT 1)
      UNION ALL
      SELECT n.app, n.processor, n.outcome, n.type FROM g CROSS JOIN LATERAL (
        SELECT app, processor, outcome, type FROM events
        WHERE (app, processor, outcome, type) > (g.app, g.processor, g.outcome, g.type)
        ORDER BY app, processor, outcome, type LIMIT 1) AS n
      WHERE \(app) IS NULL OR n.app = \(app))
    """
  }

  /// The first rows of a group after one and before ?2, in this order. They are between two rows, instead
  /// of equal to the group: PostgreSQL could otherwise read them by their numbers until a row of the group
  /// appears, which may be the last of all.
  private static func groupRows(
    after: String = "?1", _ order: String = "DESC", limit: String
  ) -> String {
    """
    SELECT row_id FROM events
    WHERE (app, processor, outcome, type, row_id) > (g.app, g.processor, g.outcome, g.type, \(after))
      AND (app, processor, outcome, type, row_id) < (g.app, g.processor, g.outcome, g.type, ?2)
    ORDER BY app \(order), processor \(order), outcome \(order), type \(order), row_id \(order)
    LIMIT \(limit)
    """
  }

  static func joinedValues(
    _ filter: EventFilter, _ after: Int64, _ before: Int64, _ limit: Int
  ) -> [StoreValue] {
    [
      .integer(after), .integer(before), .integer(Int64(limit)), .optional(filter.app),
      .optional(filter.processor), .optional(filter.outcome?.rawValue), .optional(filter.type),
    ]
  }

  func joinedEvents(
    _ filter: EventFilter, _ after: Int64, _ before: Int64, _ limit: Int
  ) throws(StoreFault) -> [EventSummary] {
    let rows = try connection.prepare("\(Self.joinedEventSQL) ORDER BY row_id DESC LIMIT ?3")
      .all(Self.joinedValues(filter, after, before, limit)) { row throws(StoreFault) in row.integer(0) }
    return try connection.prepare(
      "\(Self.eventColumns) WHERE e.row_id IN (SELECT value FROM json_each(?1)) ORDER BY e.row_id DESC"
    ).all([RowKey.list(rows)], Self.eventSummary)
  }
}
