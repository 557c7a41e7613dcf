// What a connection checks of the whole database. One thread at a time.

internal import Store

extension PostgresStoreConnection {
  /// A server grows its files as needed, and reports when its disk is full.
  func freeBytes() throws(StoreFault) -> Int64 { 0 }

  /// Its own file shows this: pages of other tables may have space on a full disk. The file ends with the
  /// transaction.
  func tryToGrow() throws(StoreFault) {
    _ = try run(
      PostgresCommand(
        """
        CREATE TEMPORARY TABLE growth ON COMMIT DROP AS
        SELECT repeat('x', 1000) AS content FROM generate_series(1, 4000)
        """, operation: "try to grow"))
  }

  /// Checks what can be checked with SQL: indexes that are incomplete, and constraints that may not hold for
  /// old rows. pg_amcheck(1) checks the files.
  func integrityFaults() throws(StoreFault) -> [String] {
    let result = try run(
      PostgresCommand(
        """
        SELECT 'the index ' || c.relname || ' is not valid: REINDEX INDEX ' || c.relname
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE NOT i.indisvalid AND c.relnamespace = current_schema()::regnamespace
        UNION ALL
        SELECT 'the constraint ' || conname || ' is not validated' FROM pg_constraint
        WHERE NOT convalidated AND connamespace = current_schema()::regnamespace
        """))
    return (0..<result.count).map { result.text($0, 0) }
  }
}
