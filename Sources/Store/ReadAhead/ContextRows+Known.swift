// Contexts in memory for the length of a transaction. The writer's thread.

internal import Domain

extension ContextRows {
  private static let readColumns = columns + ", row_id"

  /// A context in any app, from what is known.
  func find(id: ContextID) throws(StoreFault) -> ContextRecord? { (known?[id] ?? nil) ?? nil }

  /// Reads the rows that are not known yet, in one round trip; only for an engine that reads ahead.
  func load(_ rows: [Int64]) throws(StoreFault) {
    guard known != nil, let readAhead else { return }
    let rows = unknown(Set(rows))
    let reads = reads(rows: rows)
    expect(ids: [], rows: rows)
    try readAhead.read(reads) { _, row throws(StoreFault) in try add(row) }
  }

  /// Those of these rows that are not known.
  func unknown(_ rows: Set<Int64>) -> Set<Int64> { rows.filter { !(known?.isKnown($0) ?? true) } }

  func reads(ids: Set<ContextID>) -> [BulkRead] {
    [BulkRead(Self.readColumns, of: "contexts", where: "id", in: ids.map { .text($0) })]
  }

  func reads(rows: Set<Int64>) -> [BulkRead] {
    [BulkRead(Self.readColumns, of: "contexts", where: "row_id", in: rows.map { .integer($0) })]
  }

  /// Notes that these are being read. `add` follows for those that are found.
  func expect(ids: Set<ContextID>, rows: Set<Int64>) { known?.expect(rows: rows, ids: ids) }

  /// Notes a row that was read ahead. One whose blob cannot be decompressed is left out, as in `contexts`.
  func add(_ row: StoreRow) throws(StoreFault) {
    do throws(StoreFault) {
      known?.add(try record(row), row: row.integer(11))
    } catch {
      guard error.kind == .corrupt else { throw error }
      known?.addUnreadable(try row.text(0), row: row.integer(11))
    }
  }
}
