// What a database notes of its copies, so that a copy can continue, and so that only one of two databases is
// used. One connection's thread.

public import Domain
internal import Formats

/// How far a copy has come.
public struct CopyProgress: Sendable, Equatable {
  /// The table that is copied now; nil when all are.
  public var table: String?
  /// The key of the last row that was copied; empty before the first one.
  var after: [StoreValue] = []
  /// How many rows of the table were copied.
  public var rows: Int64 = 0

  static let start = CopyProgress(table: CopyTable.all.first?.name)

  var text: String {
    let after = after.map { value -> JSONValue in
      switch value {
      case .integer(let number): .integer(number)
      case .text(let text): .string(text)
      case .null, .blob: .null
      }
    }
    return JSONValue.object([
      .init(name: "table", value: .optional(table)), .init(name: "after", value: .array(after)),
      .init(name: "rows", value: .integer(rows)),
    ]).text
  }

  init(table: String?) { self.table = table }

  init(text: String) throws(StoreFault) {
    guard let value = try? JSONValue(parsing: Array(text.utf8)), case .array(let after)? = value["after"],
      case .integer(let rows)? = value["rows"]
    else { throw StoreFault(.corrupt, operation: "read the copy's progress", reason: "it is not readable") }
    table = value["table"]?.stringValue
    self.rows = rows
    self.after = after.map { value in
      switch value {
      case .integer(let number): .integer(number)
      default: .text(value.stringValue ?? "")
      }
    }
  }
}

/// What one database notes of a copy.
struct CopyMark: Equatable {
  enum Role: String {
    case source, target
  }

  /// The same in both databases.
  var id: Int64
  /// The other database.
  var place: String
  /// Of a source: whether the copy is complete.
  var isRetired: Bool
  /// When the copy began, or the source was retired.
  var at: Timestamp
  var progress: CopyProgress
}

/// The statements on `copies`.
struct CopyMarks {
  let connection: StoreConnection

  func find(_ role: CopyMark.Role) throws(StoreFault) -> CopyMark? {
    try connection.prepare("SELECT id, place, state, at, progress FROM copies WHERE role = ?1").first([
      .text(role.rawValue)
    ]) { row throws(StoreFault) in
      CopyMark(
        id: row.integer(0), place: try row.text(1), isRetired: try row.text(2) == "retired",
        at: Timestamp(unixMilliseconds: row.integer(3)), progress: try CopyProgress(text: row.text(4)))
    }
  }

  func save(_ mark: CopyMark, as role: CopyMark.Role) throws(StoreFault) {
    try connection.prepare(
      """
      INSERT INTO copies (role, id, place, state, at, progress) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      ON CONFLICT (role) DO UPDATE SET id = excluded.id, place = excluded.place, state = excluded.state,
        at = excluded.at, progress = excluded.progress
      """
    ).run([
      .text(role.rawValue), .integer(mark.id), .text(mark.place),
      .text(mark.isRetired ? "retired" : "copying"), .time(mark.at), .text(mark.progress.text),
    ])
  }

  func remove(_ role: CopyMark.Role, id: Int64) throws(StoreFault) {
    try connection.prepare("DELETE FROM copies WHERE role = ?1 AND id = ?2").changeOne(
      [.text(role.rawValue), .integer(id)], for: "remove the copy's mark")
  }
}

extension StoreConnection {
  /// Called before a program writes as more than a copy.
  /// - Throws: `retired` or `unfinishedCopy`. A source whose copy was interrupted is used again; then that
  ///   copy cannot continue, because the rows change.
  public func admitWriter() throws(StoreError) {
    let refusal: StoreError?
    do throws(StoreFault) {
      refusal = try refuseWriter()
    } catch {
      throw .fault(error)
    }
    if let refusal { throw refusal }
  }

  private func refuseWriter() throws(StoreFault) -> StoreError? {
    let marks = CopyMarks(connection: self)
    if let mark = try marks.find(.target) { return .unfinishedCopy(of: mark.place) }
    guard let mark = try marks.find(.source) else { return nil }
    guard !mark.isRetired else { return .retired(to: mark.place, at: mark.at) }
    try prepare("DELETE FROM copies WHERE role = 'source' AND id = ?1 AND state = 'copying'").run([
      .integer(mark.id)
    ])
    // The copy may have been completed at the same moment; then the mark is still there.
    return try refuseWriter()
  }

  /// Lets programs write again to a database that was copied, and records that.
  /// - Returns: where it was copied to; nil if it is not retired.
  public func unretire(_ entry: AuditEntry) throws(StoreFault) -> String? {
    let marks = CopyMarks(connection: self)
    return try transaction { () throws(StoreFault) in
      guard let mark = try marks.find(.source), mark.isRetired else { return nil }
      try marks.remove(.source, id: mark.id)
      try AuditRows(self).insert(entry)
      return mark.place
    }
  }

  /// Where the database was copied to, and when; nil if it is not retired.
  public func retirement() throws(StoreFault) -> (place: String, at: Timestamp)? {
    guard let mark = try CopyMarks(connection: self).find(.source), mark.isRetired else { return nil }
    return (mark.place, mark.at)
  }
}
