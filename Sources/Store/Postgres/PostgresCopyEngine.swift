// A database of a server as the source or the target of a copy. One thread at a time.

internal import Formats
internal import Migrations
public import Store

/// A database that no other program uses, as far as the server knows.
public final class PostgresCopyEngine: CopyEngine {
  public let reading: StoreConnection
  public let writing: StoreConnection
  private let source: PostgresSource

  /// A program that was not seen for so long has ended, or is cut off and owns nothing.
  private static let usedWithin: Duration = .seconds(60)
  /// For work on whole tables.
  private static let longTime: Duration = .hours(1)
  /// Tables whose row numbers the server makes.
  private static let numbered = ["past_purchases", "events", "attempts", "audit", "captures"]

  /// - Parameters:
  ///   - url: as libpq understands it.
  ///   - isTarget: whether to create the tables in an empty database.
  ///   - application: the name in the server's views.
  ///   - allowsUnsafe: whether to use a server that can lose what was committed.
  public init(
    _ url: String, isTarget: Bool, application: String, allowsUnsafe: Bool
  ) throws(StoreError) {
    func open(isOwner: Bool) throws(StoreError) -> (PostgresSource, PostgresConnection) {
      var source: PostgresSource
      do throws(PostgresError) {
        source = try PostgresSource(
          url, application: application, isOwner: isOwner, allowsUnsafe: allowsUnsafe)
      } catch {
        throw .fault(StoreFault(error))
      }
      source.checksMarks = false
      return (source, try source.open(within: PostgresSource.firstTime))
    }
    let connection: PostgresConnection
    do throws(StoreError) {
      (source, connection) = try open(isOwner: false)
    } catch {
      guard isTarget, error == .missing else { throw error }
      (source, connection) = try open(isOwner: true)
    }
    reading = StoreConnection(PostgresStoreConnection(source, role: .reader))
    writing = StoreConnection(PostgresStoreConnection(source, role: .writer, connection))
    let version: Int
    do throws(PostgresError) {
      version = try PostgresMigrator.version(source, connection).version
    } catch {
      throw .fault(StoreFault(error))
    }
    // An addition of a newer schema could be a table that is not copied.
    guard version <= Migrations.postgres.count else {
      throw .newerSchema(found: version, known: Migrations.postgres.count)
    }
  }

  public func columns(of table: String) throws(StoreFault) -> [CopyColumn] {
    try reading.prepare(
      """
      SELECT CAST(column_name AS text), CAST(data_type AS text) FROM information_schema.columns
      WHERE table_schema = current_schema() AND table_name = ?1
      """
    ).all([.text(table)]) { row throws(StoreFault) in
      let kind: CopyColumn.Kind =
        switch try row.text(1) {
        case "bigint": .integer
        case "text": .text
        default: .blob
        }
      return CopyColumn(try row.text(0), kind)
    }
  }

  public var storesZero: Bool { false }

  public func users() throws(StoreFault) -> [String] {
    try writing.prepare(
      """
      SELECT DISTINCT host FROM instances
      WHERE seen_at > (extract(epoch FROM clock_timestamp()) * 1000)::bigint - ?1 ORDER BY host
      """
    ).all([.integer(Self.usedWithin.milliseconds)]) { row throws(StoreFault) in try row.text(0) }
  }

  public func nextPurchaseRow() throws(StoreFault) -> Int64 {
    try reading.integer("SELECT last_value + CASE WHEN is_called THEN 1 ELSE 0 END FROM purchase_rows") ?? 1
  }

  public var addsKeys: Bool { true }

  public func add(apps: Set<String>) throws(StoreFault) {
    let inserting = try writing.prepare("INSERT INTO app_locks (app) VALUES (?1) ON CONFLICT DO NOTHING")
    for app in apps.sorted() { try inserting.run([.text(app)]) }
  }

  public func lockOut() throws(StoreFault) {
    // Every batch holds a weaker lock on this table (`PostgresReadAhead`), and reads the mark after it.
    try writing.prepare("LOCK TABLE app_locks IN EXCLUSIVE MODE").run()
  }

  public func endOwnership() throws(StoreFault) {
    try writing.prepare("UPDATE leases SET owner = NULL, epoch = epoch + 1").run()
  }

  public func complete(nextPurchaseRow: Int64) throws(StoreFault) {
    let numbering =
      Self.numbered.map { table in
        """
        SELECT setval(pg_get_serial_sequence('\(table)', 'row_id'), \(Self.nextRow(of: table)), false)
        """
      } + [
        "SELECT setval('context_rows', \(Self.nextRow(of: "contexts")), false)",
        "SELECT setval('purchase_rows', \(nextPurchaseRow), false)",
      ]
    do throws(PostgresError) {
      let connection = try source.connect(within: PostgresSource.firstTime)
      connection.timeLimit = Self.longTime
      // Until autovacuum has done it, the server would choose plans for empty tables.
      try source.run(connection, .writing, (numbering + ["ANALYZE"]).map { PostgresCommand($0) })
    } catch {
      throw StoreFault(error)
    }
  }

  private static func nextRow(of table: String) -> String {
    "(SELECT coalesce(max(row_id), 0) + 1 FROM \(table))"
  }
}
