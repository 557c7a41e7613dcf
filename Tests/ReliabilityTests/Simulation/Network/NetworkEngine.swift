// SQLite behind a network that fails: the engine of a relay among several. Its connections.

import Domain
import Platform
import Store

@testable import SQLiteStore

/// An SQLite database as a server would serve it.
final class NetworkEngine: StoreEngine {
  private let path: String
  private let keySizes: KeySizes
  private let database: SharedDatabase
  private let memory = KeyMemory()

  init(path: String, keySizes: KeySizes, _ database: SharedDatabase) {
    self.path = path
    self.keySizes = keySizes
    self.database = database
  }

  func openWriter(
    rules: [AppSlug: AppRules], random: any RandomNumberGenerator & Sendable
  ) throws(StoreError) -> StoreWriter {
    let connection = try Database.open(path: path, role: .owner)
    let upkeep = LogUpkeep(
      connection, checkpointPages: StoreWriter.checkpointPages, background: nil, isInPlace: nil)
    do throws(StoreFault) {
      let engine = try SQLiteConnection(owner: connection, memory: memory, sizes: keySizes)
      return try StoreWriter(
        StoreConnection(NetworkWriter(engine, database)), rules: rules, random: random, upkeep: upkeep)
    } catch {
      throw .fault(error)
    }
  }

  func openReader() throws(StoreError) -> StoreReader {
    let connection = try Database.open(path: path, role: .reader)
    return StoreReader(StoreConnection(NetworkReader(SQLiteConnection(connection, memory: memory), database)))
  }

  func makeInstance(_ calls: InstanceCalls, log: Log) -> (any StoreInstance)? {
    SimulatedInstance(database, calls)
  }

  func start() throws(SystemError) {}
  func stop() {}
  func poll() {}
  var troubles: [StoreTrouble] {
    database.withState { state, _ in state.outage == nil ? [] : [.unreachable] }
  }
  var reserve: any SpaceReserve { EndlessSpace() }
  var space: StoreSpace { StoreSpace(parts: [], freeBytes: nil) }
}

/// The connection that writes. Attempts to reach the server and answers of COMMIT may fail.
private final class NetworkWriter: EngineConnection {
  private let engine: any EngineConnection
  private let database: SharedDatabase
  private let ahead: NetworkReads
  /// Whether SQLite's transaction is open.
  private var isOpen = false

  init(_ engine: any EngineConnection, _ database: SharedDatabase) {
    self.engine = engine
    self.database = database
    ahead = NetworkReads(engine, database)
  }

  var keys: any KeyIndex { engine.keys }
  var readAhead: (any ReadAhead)? { ahead }
  func prepare(_ sql: String) throws(StoreFault) -> any EngineStatement { try engine.prepare(sql) }
  var isInTransaction: Bool { isOpen }

  func begin() throws(StoreFault) {
    rollBack()
    try database.reach(isWriter: true)
    try engine.begin()
    isOpen = true
  }

  func commit() throws(StoreFault) {
    switch database.fateOfCommit() {
    case .answered: try store(isKnown: true)
    case .conflict:
      rollBack()
      database.noteFailure()
      throw StoreFault(.conflict, operation: "COMMIT", reason: "the connection was lost before it")
    case .unknown(let isStored):
      if isStored { try store(isKnown: false) } else { rollBack() }
      database.noteFailure()
      throw StoreFault(.unavailable, operation: "COMMIT", reason: "whether it is stored is not known")
    }
  }

  private func store(isKnown: Bool) throws(StoreFault) {
    try engine.commit()
    isOpen = false
    let time = ahead.now?.unixMilliseconds ?? database.clock.wallMilliseconds
    database.noteStored(at: time, isKnown: isKnown)
  }

  func rollBack() {
    if isOpen { engine.rollBack() }
    isOpen = false
  }

  func beginReading() throws(StoreFault) { try engine.beginReading() }
  func freeBytes() throws(StoreFault) -> Int64 { try engine.freeBytes() }
  func integrityFaults() throws(StoreFault) -> [String] { try engine.integrityFaults() }
}

/// Reads what a batch has declared, as an engine does whose reads cost a round trip.
private final class NetworkReads: ReadAhead {
  private let engine: any EngineConnection
  private let database: SharedDatabase
  private(set) var now: Timestamp?

  init(_ engine: any EngineConnection, _ database: SharedDatabase) {
    self.engine = engine
    self.database = database
  }

  func begin(
    _ plan: BatchPlan, _ keys: Set<RowKey>, _ reads: [BulkRead]
  ) throws(StoreFault) -> [any EngineStatement] {
    if database.hasConflict() {
      throw StoreFault(.conflict, operation: "lock apps", reason: "simulated deadlock")
    }
    now = Timestamp(unixMilliseconds: database.clock.wallMilliseconds)
    return try read(reads)
  }

  func read(_ reads: [BulkRead]) throws(StoreFault) -> [any EngineStatement] {
    var results: [any EngineStatement] = []
    for read in reads {
      let values = read.condition?.values ?? []
      if read.table == "leases" {
        results.append(LeaseResult(values, database))
        continue
      }
      let places = values.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
      let condition = read.condition.map { " WHERE \($0.column) IN (\(places))" } ?? ""
      let statement = try engine.prepare("SELECT \(read.columns) FROM \(read.table)\(condition)")
      try statement.bind(values)
      results.append(statement)
    }
    return results
  }

  func makeRow(_ table: NumberedTable) throws(StoreFault) -> Int64 {
    let sql =
      table == .contexts
      ? "SELECT coalesce(max(row_id), 0) + 1 FROM contexts"
      : "UPDATE sequences SET next = next + 1 WHERE name = 'purchases' RETURNING next - 1"
    return try StoreConnection(engine).integer(sql) ?? 0
  }
}

/// The rows of `leases`, which SQLite's schema does not have.
private final class LeaseResult: EngineStatement {
  private let rows: [(name: String, lease: SharedDatabase.Lease)]
  private var index = -1

  init(_ names: [StoreValue], _ database: SharedDatabase) {
    rows = names.compactMap { value in
      guard case .text(let name) = value else { return nil }
      return database.lease(name).map { (name, $0) }
    }
  }

  func bind(_ values: [StoreValue]) {}
  func step() -> Bool {
    index += 1
    return index < rows.count
  }
  func reset() { index = -1 }
  var changedRows: Int { 0 }
  func isNull(_ column: Int) -> Bool { column == 1 && rows[index].lease.owner == nil }
  func integer(_ column: Int) -> Int64 {
    column == 1 ? rows[index].lease.owner ?? 0 : rows[index].lease.epoch
  }
  func text(_ column: Int) -> String { rows[index].name }
  func blob(_ column: Int) -> [UInt8] { [] }
}

/// A connection that only reads.
private final class NetworkReader: EngineConnection {
  private let engine: any EngineConnection
  private let database: SharedDatabase

  init(_ engine: any EngineConnection, _ database: SharedDatabase) {
    self.engine = engine
    self.database = database
  }

  var keys: any KeyIndex { engine.keys }
  func prepare(_ sql: String) throws(StoreFault) -> any EngineStatement {
    NetworkStatement(try engine.prepare(sql), database)
  }
  func begin() throws(StoreFault) { try engine.begin() }
  func commit() throws(StoreFault) { try engine.commit() }
  func rollBack() { engine.rollBack() }
  func beginReading() throws(StoreFault) {
    try database.reachForReading()
    try engine.beginReading()
  }
  var isInTransaction: Bool { engine.isInTransaction }
  func freeBytes() throws(StoreFault) -> Int64 { try engine.freeBytes() }
  func integrityFaults() throws(StoreFault) -> [String] { try engine.integrityFaults() }
}

/// A statement that reads.
private final class NetworkStatement: EngineStatement {
  private let engine: any EngineStatement
  private let database: SharedDatabase

  init(_ engine: any EngineStatement, _ database: SharedDatabase) {
    self.engine = engine
    self.database = database
  }

  func bind(_ values: [StoreValue]) throws(StoreFault) {
    try database.reachForReading()
    try engine.bind(values)
  }
  func step() throws(StoreFault) -> Bool { try engine.step() }
  func reset() { engine.reset() }
  var changedRows: Int { engine.changedRows }
  func isNull(_ column: Int) -> Bool { engine.isNull(column) }
  func integer(_ column: Int) -> Int64 { engine.integer(column) }
  func text(_ column: Int) throws(StoreFault) -> String { try engine.text(column) }
  func blob(_ column: Int) -> [UInt8] { engine.blob(column) }
}
