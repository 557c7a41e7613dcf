// The writer's statements on `dictionaries`, and on the bodies of events that retention compresses. The
// writer's thread.

internal import Cryptography
internal import Domain

final class DictionaryRows {
  private let reader: BodyReader
  private let newest: StoreStatement
  private let next: StoreStatement
  private let countingOn: StoreStatement
  private let inserting: StoreStatement
  private let passing: StoreStatement
  private let scanning: StoreStatement
  private let lastEvent: StoreStatement
  private let body: StoreStatement
  private let packing: StoreStatement

  init(_ connection: StoreConnection, bodies: BodyReader) {
    reader = bodies
    newest = connection.prepareOnUse(
      "SELECT number, passed_row FROM dictionaries WHERE kind = ?1 ORDER BY number DESC LIMIT 1")
    // Not only the number after the last: if damage removed that, its bodies would be read with another.
    next = connection.prepareOnUse(
      """
      SELECT max(next) FROM (
        SELECT 1 AS next UNION ALL SELECT next FROM sequences WHERE name = 'dictionaries'
        UNION ALL SELECT max(number) + 1 FROM dictionaries)
      """)
    countingOn = connection.prepareOnUse(
      """
      INSERT INTO sequences (name, next) VALUES ('dictionaries', ?1)
        ON CONFLICT (name) DO UPDATE SET next = excluded.next
      """)
    inserting = connection.prepareOnUse(
      """
      INSERT INTO dictionaries (number, kind, made_at, content, digest, passed_row)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      """)
    passing = connection.prepareOnUse("UPDATE dictionaries SET passed_row = ?2 WHERE number = ?1")
    // Reads no body: its length is in the head of its row.
    scanning = connection.prepareOnUse(
      """
      SELECT row_id, dictionary IS NULL AND length(body) >= ?2 FROM events
      WHERE row_id > ?1 ORDER BY row_id LIMIT ?3
      """)
    lastEvent = connection.prepareOnUse("SELECT max(row_id) FROM events")
    body = connection.prepareOnUse("SELECT body FROM events WHERE row_id = ?1")
    packing = connection.prepareOnUse("UPDATE events SET body = ?2, dictionary = ?3 WHERE row_id = ?1")
  }

  /// The newest dictionary for events, and the row up to which retention has compressed events; nil if there
  /// is none.
  func current() throws(StoreFault) -> (dictionary: BodyDictionary, passedRow: Int64)? {
    let found = try newest.first([.text(BodyKind.event.rawValue)]) { row throws(StoreFault) in
      (number: row.integer(0) as DictionaryNumber, passedRow: row.integer(1) as Int64)
    }
    return try found.map { found throws(StoreFault) in
      (try reader.dictionary(found.number), found.passedRow)
    }
  }

  /// Stores a dictionary. What an older one could not compress stays as it is.
  func insert(
    _ content: [UInt8], for kind: BodyKind, at now: Timestamp
  ) throws(StoreFault) -> DictionaryNumber {
    let passedRow = try newest.first([.text(kind.rawValue)]) { row throws(StoreFault) in
      row.integer(1) as Int64
    }
    let number = DictionaryNumber(try next.first { row throws(StoreFault) in row.integer(0) } ?? 1)
    try inserting.run([
      .integer(number), .text(kind.rawValue), .time(now), .blob(content), .blob(SHA256.digest(content)),
      .integer(passedRow ?? 0),
    ])
    try countingOn.run([.integer(number.number + 1)])
    return number
  }

  func note(passedRow row: Int64, of number: DictionaryNumber) throws(StoreFault) {
    try passing.run([.integer(number), .integer(row)])
  }

  /// The next rows, and whether the body of each may be worth compressing.
  func scan(after row: Int64, limit: Int64) throws(StoreFault) -> [(row: EventRowID, isCandidate: Bool)] {
    try scanning.all([.integer(row), .integer(Int64(StoredBody.bytesMin)), .integer(limit)]) {
      row throws(StoreFault) in (row.integer(0), row.flag(1))
    }
  }

  /// Whether a row is newer than all events.
  func isBeyondEvents(_ row: Int64) throws(StoreFault) -> Bool {
    let last = try lastEvent.first { row throws(StoreFault) in row.optionalInteger(0) as Int64? } ?? nil
    return row > last ?? 0
  }

  /// Compresses the body in a row, which is stored as it was received.
  /// - Returns: the size that it had.
  func pack(_ row: EventRowID, with dictionary: BodyDictionary) throws(StoreFault) -> Int {
    let bytes = try body.first([.integer(row)]) { row throws(StoreFault) in row.blob(0) } ?? []
    let packed = dictionary.pack(bytes)
    if packed.dictionary != nil {
      try packing.run([.integer(row), .blob(packed.bytes), .optional(packed.dictionary)])
    }
    return bytes.count
  }
}
