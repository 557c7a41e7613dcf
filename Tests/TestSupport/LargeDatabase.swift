// A database with hundreds of thousands of receipts, filled by SQL in one transaction: the relay's own
// commands would take minutes. The counters are filled, too, and `integrityFaults()` finds none.

internal import Formats
public import SQLiteStore
internal import Store

/// Fills databases that contain only the schema.
public enum LargeDatabase {
  /// The reasons of the failed receipts, used in turn.
  public static let reasons: [(reason: String, status: Int?)] = [
    ("http_422", 422), ("gave_up", 503), ("http_400", 400), ("price", nil), ("user", nil),
  ]

  /// How much to insert.
  public struct Size: Sendable {
    public var receipts: Int
    /// How many of them failed, spread evenly; the rest is delivered.
    public var failed: Int
    /// Whether each also has its event, its context and its attempts.
    public var isWhole: Bool

    public init(receipts: Int = 200_000, failed: Int = 4000, isWhole: Bool = false) {
      self.receipts = receipts
      self.failed = failed
      self.isWhole = isWhole
    }
  }

  /// The id of the n-th receipt, from 1.
  /// - Parameter start: as passed to `fill`.
  public static func receiptID(_ number: Int, start: Int64 = start) -> String {
    "rcp_" + base32(UInt64(start) + UInt64(number) * UInt64(step.milliseconds), characters: 10)
      + base32(UInt64(number), characters: 8) + "00000000"
  }

  /// 2026-11-01T00:00:00Z: when the first receipt was created.
  public static let start: Int64 = 1_793_491_200_000
  /// The time between two receipts.
  public static let step: Duration = .seconds(5)

  /// Fills the database.
  /// - Parameters:
  ///   - app: the app of the receipts.
  ///   - start: when the first was created; Unix milliseconds.
  public static func fill(
    path: String, _ size: Size = Size(), app: String = "ios", start: Int64 = start
  ) throws(SQLiteError) {
    let connection = try Connection(path: path, mode: .readWrite, busyTimeout: .seconds(10))
    try connection.execute("PRAGMA synchronous = OFF")
    let every = max(1, size.receipts / max(1, size.failed))
    try connection.execute("BEGIN IMMEDIATE")
    try connection.prepare(
      """
      CREATE TEMP TABLE numbers AS
        WITH RECURSIVE counting (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counting WHERE n < ?1)
        SELECT n, iif(n % ?2 = 0 AND n / ?2 <= ?3, (n / ?2) % \(reasons.count), -1) AS failure,
          ?4 + n * \(step.milliseconds) AS at
        FROM counting
      """
    ).run([
      .integer(Int64(size.receipts)), .integer(Int64(every)), .integer(Int64(size.failed)), .integer(start),
    ])
    try connection.prepare(receiptsSQL).run([.text(app)])
    if size.isWhole {
      for sql in wholeSQL { try connection.prepare(sql).run([.text(app)]) }
    }
    try connection.execute(countsSQL)
    try connection.execute("DROP TABLE numbers")
    try KeyRebuild.run(connection)
    try connection.execute("COMMIT")
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// An SQL expression with one value for each reason and one for delivered receipts.
  private static func choice(_ values: [String], else other: String) -> String {
    let cases = values.enumerated().map { "WHEN \($0.offset) THEN \($0.element)" }
    return "CASE failure \(cases.joined(separator: " ")) ELSE \(other) END"
  }

  /// An SQL expression of a number in Crockford's base32.
  private static func base32SQL(_ number: String, characters: Int) -> String {
    (0..<characters).reversed().map {
      "substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((\(number)) >> \(5 * $0) & 31) + 1, 1)"
    }.joined(separator: " || ")
  }

  private static func base32(_ number: UInt64, characters: Int) -> String {
    let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
    return String((0..<characters).reversed().map { alphabet[Int(number >> UInt64(5 * $0) & 31)] })
  }

  private static let receiptsSQL: String = {
    let reason = choice(reasons.map { "'\($0.reason)'" }, else: "NULL")
    let status = choice(reasons.map { $0.status.map(String.init) ?? "NULL" }, else: "200")
    let hasBody = choice(reasons.map { $0.status == nil ? "0" : "1" }, else: "1")
    let id = "'rcp_' || \(base32SQL("at", characters: 10)) || \(base32SQL("n", characters: 8)) || '00000000'"
    return """
      INSERT INTO purchases (row_id, app, processor, destination, object_type, object_id, session_id,
        observations, customer_id, user_id, user_source, prices, prices_of_checkout, happened_at,
        first_seen_at, bought_at, updated_at, receipt_id, state, reason, price_id, body, attempts,
        spent_tries, last_status, import_id, created_at, ready_at, retry_since, delivered_at, last_cause)
      SELECT n, ?1, 'stripe', 'purchasely', 'subscription', 'sub_' || n, 'cs_' || n, 1, 'cus_' || n,
        iif(\(reason) IS 'user', NULL, 'user-' || n), iif(\(reason) IS 'user', NULL, 1),
        iif(\(reason) IS 'price', '', 'price_1'), 1, at, at, at, at + 1000,
        \(id), iif(failure < 0, 'delivered', 'failed'), \(reason), iif(\(hasBody), 'price_1', NULL),
        iif(\(hasBody),
          CAST(printf('{"user_id":"user-%d","stripe_object_id":"sub_%d"}', n, n) AS BLOB), NULL),
        \(hasBody), \(hasBody), \(status), iif(failure < 0, 'imp-' || n, NULL), at,
        iif(\(hasBody), at, NULL), iif(\(hasBody), at, NULL), iif(failure < 0, at + 1000, NULL),
        iif(failure < 0, NULL, 'http_' || \(status))
      FROM numbers
      """
  }()

  private static let wholeSQL = [
    """
    INSERT INTO contexts (id, app, user_id, ply_context, digest, price_id, received_at, posted_at,
      expires_at)
    SELECT 'ctx_' || \(base32SQL("at", characters: 10)) || \(base32SQL("n", characters: 16)), ?1,
      'other-' || n, 'YmxvYg==', CAST(n AS BLOB), 'price_1', at, at, at + 86400000
    FROM numbers
    """,
    """
    INSERT INTO events (app, processor, event_id, type, outcome, received_at, purchase_row, body)
    SELECT ?1, 'stripe', 'evt_' || n, 'checkout.session.completed', 'receipt', at, n,
      CAST(printf('{"id":"evt_%d","object":"event"}', n) AS BLOB)
    FROM numbers
    """,
    """
    INSERT INTO attempts (purchase_row, number, at, duration_ms, status, error, ambiguous, response, app,
      destination, outcome)
    SELECT row_id, 1, created_at + 900, 100, last_status, NULL, 0, CAST('{}' AS BLOB), app, destination,
      coalesce(last_cause, '')
    FROM purchases WHERE attempts > 0 AND app = ?1
    """,
  ]

  private static let countsSQL = """
    INSERT INTO receipt_counts (app, state, reason, last_cause, processor, count)
      SELECT app, state, coalesce(reason, ''), coalesce(last_cause, ''), processor, count(*) FROM purchases
      WHERE state IS NOT NULL GROUP BY 1, 2, 3, 4, 5
      ON CONFLICT (app, state, reason, last_cause, processor) DO UPDATE SET count = excluded.count;
    DELETE FROM join_counts;
    INSERT INTO join_counts (app, hour, kind, count) \(StoreReader.joinsOfRowsSQL);
    UPDATE sequences SET next = (SELECT max(row_id) + 1 FROM purchases) WHERE name = 'purchases';
    """
}
