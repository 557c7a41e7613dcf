// A connection that checks whether a batch reads only rows that its commands declared, or that a row read
// before refers to. One thread at a time.

import Domain

@testable import Store

/// The declared and the actual reads.
final class ReadRecord: ReadAhead {
  /// Words that identify no row, and values that are compared only after rows were found.
  private let words: Set<String>
  /// The declared keys of each batch.
  private(set) var fetches: [Set<ReadKey>] = []
  /// The parameter and the statement of each undeclared read.
  private(set) var undeclared: [String] = []
  private var names: Set<String> = []
  private var apps: Set<AppSlug> = []
  private var rows: Set<Int64> = []
  private var isDeclared = false

  init(words: Set<String>) { self.words = words }

  /// The recorded connection's engine.
  fileprivate var engine: (any EngineConnection)?

  var now: Timestamp? { nil }

  func begin() { (names, apps, rows, isDeclared) = ([], [], [], false) }

  func begin(
    _ plan: BatchPlan, _ keys: Set<RowKey>, _ reads: [BulkRead]
  ) throws(StoreFault) -> [any EngineStatement] {
    declare(plan.declared)
    guard let ahead = engine?.readAhead else { return try read(reads) }
    return recorded(try ahead.begin(plan, keys, reads))
  }

  func read(_ reads: [BulkRead]) throws(StoreFault) -> [any EngineStatement] {
    guard let engine else { return [] }
    if let ahead = engine.readAhead { return recorded(try ahead.read(reads)) }
    var results: [any EngineStatement] = []
    for read in reads {
      let values = read.condition?.values ?? []
      let places = values.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
      let condition = read.condition.map { " WHERE \($0.column) IN (\(places))" } ?? ""
      let statement = try engine.prepare("SELECT \(read.columns) FROM \(read.table)\(condition)")
      try statement.bind(values)
      results.append(statement)
    }
    return recorded(results)
  }

  func makeRow(_ table: NumberedTable) throws(StoreFault) -> Int64 {
    guard let engine else { return 0 }
    if let ahead = engine.readAhead { return try ahead.makeRow(table) }
    let connection = StoreConnection(engine)
    let sql =
      table == .contexts
      ? "SELECT coalesce(max(row_id), 0) + 1 FROM contexts"
      : "UPDATE sequences SET next = next + 1 WHERE name = 'purchases' RETURNING next - 1"
    return try connection.integer(sql) ?? 0
  }

  private func recorded(_ results: [any EngineStatement]) -> [any EngineStatement] {
    results.map { RecordingStatement($0, "", self) }
  }

  private func declare(_ keys: Set<ReadKey>) {
    fetches.append(keys)
    isDeclared = !keys.isEmpty
    for key in keys {
      switch key {
      case .event(let app, _, let id): declare(id.text, app)
      case .session(let app, _, let id): declare(id.text, app)
      case .customer(let app, _, let id), .payer(let app, _, let id): declare(id.text, app)
      case .user(let app, let id), .contexts(let app, let id): declare(id.text, app)
      case .blob(let app, let user, _): declare(user.text, app)
      case .context(let app, let id): declare(id.text, app)
      case .object(let app, let key): declare(key.id.text, app)
      case .mention(let app, let id): declare(id, app)
      case .purchase(let row): rows.insert(row.number)
      case .lease: break
      }
    }
  }

  private func declare(_ name: String, _ app: AppSlug) {
    names.insert(name)
    apps.insert(app)
  }

  func asks(_ key: RowKey) {
    // The key of a blob is made of a user and a digest; the user's other key is asked as well.
    guard isDeclared, key.kind != .contextBlob else { return }
    let isKnown = names.contains { name in
      apps.contains { RowKey(key.kind, UserID(name), app: $0) == key }
    }
    if !isKnown { undeclared.append("a key of the kind \(key.kind)") }
  }

  func found(_ name: String) { names.insert(name) }
  func found(_ row: Int64) { rows.insert(row) }

  func asks(_ sql: String, _ values: [StoreValue]) {
    guard isDeclared, sql.hasPrefix("SELECT") else { return }
    // Any other number is a time or a limit.
    let namesRow = sql.contains("row_id = ?1") || sql.contains("purchase_row = ?1")
    for (index, value) in values.enumerated() {
      switch value {
      case .text(let name) where !names.contains(name) && !words.contains(name):
        undeclared.append("\(name) in \(sql)")
      case .integer(let row) where index == 0 && namesRow && !rows.contains(row):
        undeclared.append("row \(row) in \(sql)")
      default: break
      }
    }
  }
}

/// An engine's connection whose reads are recorded.
final class RecordingConnection: EngineConnection {
  private let engine: any EngineConnection
  private let record: ReadRecord

  init(_ engine: any EngineConnection, _ record: ReadRecord) {
    self.engine = engine
    self.record = record
    record.engine = engine
  }

  var readAhead: (any ReadAhead)? { record }
  var keys: any KeyIndex { RecordingKeys(engine.keys, record) }

  func prepare(_ sql: String) throws(StoreFault) -> any EngineStatement {
    RecordingStatement(try engine.prepare(sql), sql, record)
  }

  func begin() throws(StoreFault) {
    record.begin()
    try engine.begin()
  }

  var isInTransaction: Bool { engine.isInTransaction }
  func commit() throws(StoreFault) { try engine.commit() }
  func rollBack() { engine.rollBack() }
  func beginReading() throws(StoreFault) { try engine.beginReading() }
  func freeBytes() throws(StoreFault) -> Int64 { try engine.freeBytes() }
  func integrityFaults() throws(StoreFault) -> [String] { try engine.integrityFaults() }
}

/// The rows that were found by a declared key may be read.
private final class RecordingKeys: KeyIndex {
  private let engine: any KeyIndex
  private let record: ReadRecord

  init(_ engine: any KeyIndex, _ record: ReadRecord) {
    self.engine = engine
    self.record = record
  }

  func add(_ key: RowKey, row: Int64) throws(StoreFault) { try engine.add(key, row: row) }
  func remove(_ key: RowKey, row: Int64) throws(StoreFault) { try engine.remove(key, row: row) }
  func erase(_ key: RowKey, row: Int64) throws(StoreFault) { try engine.erase(key, row: row) }
  func entries(_ numbers: ClosedRange<Int64>) throws(StoreFault) -> Set<KeyedRow> {
    let entries = try engine.entries(numbers)
    for entry in entries { record.found(entry.row) }
    return entries
  }

  func rows(_ key: RowKey, limit: Int) throws(StoreFault) -> [Int64] {
    record.asks(key)
    let rows = try engine.rows(key, limit: limit)
    for row in rows { record.found(row) }
    return rows
  }
}

private final class RecordingStatement: EngineStatement {
  private let engine: any EngineStatement
  private let sql: String
  private let record: ReadRecord

  init(_ engine: any EngineStatement, _ sql: String, _ record: ReadRecord) {
    self.engine = engine
    self.sql = sql
    self.record = record
  }

  func bind(_ values: [StoreValue]) throws(StoreFault) {
    record.asks(sql, values)
    try engine.bind(values)
  }

  func step() throws(StoreFault) -> Bool { try engine.step() }
  var changedRows: Int { engine.changedRows }
  func run() throws(StoreFault) { try engine.run() }
  func changeOne(for operation: String) throws(StoreFault) { try engine.changeOne(for: operation) }
  func reset() { engine.reset() }
  func isNull(_ column: Int) -> Bool { engine.isNull(column) }
  func blob(_ column: Int) -> [UInt8] { engine.blob(column) }

  func integer(_ column: Int) -> Int64 {
    let number = engine.integer(column)
    record.found(number)
    return number
  }

  func text(_ column: Int) throws(StoreFault) -> String {
    let text = try engine.text(column)
    record.found(text)
    return text
  }
}
