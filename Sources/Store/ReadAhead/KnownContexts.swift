// The contexts that the open transaction has read, for an engine whose reads cost a round trip. The writer's
// thread.

internal import Domain

/// What is known of the rows of `contexts`. Other programs do not change them until the transaction ends.
struct KnownContexts {
  /// A row, and its context; nil for one whose blob cannot be read.
  private var byRow: [Int64: ContextRecord?] = [:]
  private var rows: [ContextID: Int64?] = [:]

  /// nil if the row was not read; a nil inside if it does not exist or cannot be read.
  subscript(row: Int64) -> ContextRecord?? { byRow[row] }

  /// nil if the id was not looked for; a nil inside if there is none.
  subscript(id: ContextID) -> ContextRecord?? {
    guard let row = rows[id] else { return nil }
    return .some(row.flatMap { byRow[$0] ?? nil })
  }

  var count: Int { byRow.count }

  func isKnown(_ row: Int64) -> Bool { byRow[row] != nil }

  /// Notes that these rows and ids were looked for. `add` follows for those that were found.
  mutating func expect(rows: Set<Int64>, ids: Set<ContextID>) {
    for row in rows where byRow[row] == nil { byRow[row] = .some(nil) }
    for id in ids where self.rows[id] == nil { self.rows[id] = .some(nil) }
  }

  /// Notes a row that was read or stored.
  mutating func add(_ record: ContextRecord, row: Int64) {
    byRow[row] = record
    rows[record.id] = row
  }

  /// Notes a row that cannot be read. Omitted from lists; read again on direct lookup.
  mutating func addUnreadable(_ id: ContextID, row: Int64) {
    byRow[row] = .some(nil)
    rows[id] = nil
  }

  /// Notes a change of a context.
  mutating func change(_ id: ContextID, _ body: (inout ContextRecord) -> Void) {
    guard let row = rows[id] ?? nil, var record = byRow[row] ?? nil else { return }
    body(&record)
    byRow[row] = record
  }

  /// Forgets everything: at the start of a transaction, and after a change that is not known row by row.
  mutating func removeAll() {
    byRow.removeAll(keepingCapacity: true)
    rows.removeAll(keepingCapacity: true)
  }
}
