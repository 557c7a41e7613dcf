// Keys in two tiers: the newest are appended to a table and kept in memory; a part of them after the other is
// moved into the index, in the order of the index. The writer's thread.

internal import Domain
internal import SQLite
internal import Store

/// The keys of the connection that owns the database.
///
/// An index of random values dirties a page for each entry: it is written to the log and to the database for
/// 15 bytes. So a new key is appended to `key_tail`, which is dense, and is found in memory. When there are
/// `generationMax`, they become one sealed generation. Each commit moves a part of that with neighbouring
/// keys into the table `keys`, the index; all entries of a page are moved together.
///
/// Each move is a part of a transaction that also changes something else, so it costs no sync and delays no
/// other. `key_tail` is emptied from its start once all of a generation is in `keys`; a start reads what is
/// left of it into memory. To move an entry twice is harmless.
final class TieredKeys {
  /// How many entries a generation has before it is sealed. Each takes some 40 bytes of memory. The more
  /// there are, the more of them share a page of the index.
  static let generationMax = 131_072
  /// A generation that stays small is sealed after this many commits, so that a quiet daemon keeps nothing in
  /// memory.
  private static let commitsMax = 1_024
  /// How many entries a commit may move without adding any.
  private static let quietMoves = 32

  private let connection: Connection
  private let memory: KeyMemory
  private let generationMax: Int
  private let version: Statement
  private let readingTail: Statement
  private let appending: Statement
  private let inserting: Statement
  private let deleting: Statement
  private let trimming: Statement
  private let indexed: Statement
  private let forgettingTail: Statement

  /// The value of `PRAGMA data_version` with which the tail was read.
  private var seenVersion: Int64?
  /// What a rollback resets.
  private struct Progress {
    /// The size of the active generation.
    var count = 0
    /// The last number in `key_tail`.
    var last: Int64 = 0
    /// The part of the sealed generation that is moved now, and how many of its entries have been.
    var part = 0
    var movedOfPart = 0
    /// Up to which number `key_tail` has been moved, and up to which it has been emptied.
    var moved: Int64 = 0
    var trimmed: Int64 = 0
  }
  private var progress = Progress()
  private var committed = Progress()
  /// The part of the sealed generation that is moved now.
  private var moving: (part: Int, entries: [KeyGeneration.Entry])?
  private var hasErased = false
  /// The commits since a generation was sealed.
  private var commits = 0

  /// - Parameter generationMax: see there; tests use less.
  init(
    _ connection: Connection, _ memory: KeyMemory, generationMax: Int = generationMax
  ) throws(SQLiteError) {
    self.connection = connection
    self.memory = memory
    self.generationMax = generationMax
    // Differs once another connection has committed (https://www.sqlite.org/pragma.html#pragma_data_version).
    version = try connection.prepare("PRAGMA data_version")
    readingTail = try connection.prepare("SELECT number, key, row FROM key_tail ORDER BY number")
    appending = try connection.prepare("INSERT INTO key_tail (number, key, row) VALUES (?1, ?2, ?3)")
    inserting = try connection.prepare("INSERT OR IGNORE INTO keys (key, row) VALUES (?1, ?2)")
    deleting = try connection.prepare("DELETE FROM keys WHERE key = ?1 AND row = ?2")
    trimming = try connection.prepare("DELETE FROM key_tail WHERE number <= ?1")
    indexed = try connection.prepare("SELECT row FROM keys WHERE key = ?1 ORDER BY row DESC LIMIT ?2")
    forgettingTail = try connection.prepare("DELETE FROM key_tail WHERE key = ?1 AND abs(row) = ?2")
    try begin()
  }

  /// Called at the start of a transaction that writes.
  func begin() throws(SQLiteError) {
    let version = try version.first([]) { row throws(SQLiteError) in row.integer(0) }
    if version != seenVersion { try load() }
    seenVersion = version
    progress = committed
    hasErased = false
  }

  /// Reads the tail: at the start, and after another program has written.
  private func load() throws(SQLiteError) {
    var active = KeyGeneration()
    var first: Int64?
    try readingTail.forEach { row throws(SQLiteError) in
      first = first ?? row.integer(0)
      active.add(row.integer(1), row: row.integer(2), number: row.integer(0))
    }
    committed = Progress(count: active.count, last: active.last)
    committed.moved = (first ?? 1) - 1
    committed.trimmed = committed.moved
    moving = nil
    memory.withState { $0 = KeyMemory.State(isLoaded: true, active: active, sealed: nil) }
  }

  private func append(_ key: Int64, row: Int64) throws(SQLiteError) {
    let number = progress.last + 1
    try appending.run([.integer(number), .integer(key), .integer(row)])
    memory.withState { $0.active.add(key, row: row, number: number) }
    progress.last = number
    progress.count += 1
  }

  /// Called before the commit: moves some of the sealed generation, or removes what has been moved.
  func beforeCommit() throws(SQLiteError) {
    // Twice as fast as keys are added, so that a generation is moved before the next one is full.
    var room = max(2 * (progress.count - committed.count), Self.quietMoves)
    guard let sealed = memory.withState({ $0.sealed }) else { return try trim(8 * room) }
    while room > 0, progress.part < KeyGeneration.partCount {
      let entries = entries(of: sealed, progress.part)
      let end = min(entries.count, progress.movedOfPart + room)
      for entry in entries[progress.movedOfPart..<end] { try move(entry) }
      // A part costs a pass over the generation, so an empty one counts as well.
      room -= max(1, end - progress.movedOfPart)
      (progress.part, progress.movedOfPart) =
        end == entries.count ? (progress.part + 1, 0) : (progress.part, end)
    }
    if progress.part == KeyGeneration.partCount { progress.moved = sealed.last }
  }

  private func entries(of sealed: KeyGeneration, _ part: Int) -> [KeyGeneration.Entry] {
    if let moving, moving.part == part { return moving.entries }
    let entries = sealed.part(part)
    moving = (part, entries)
    return entries
  }

  private func move(_ entry: KeyGeneration.Entry) throws(SQLiteError) {
    if entry.row > 0 {
      try inserting.run([.integer(entry.key), .integer(entry.row)])
    } else {
      try deleting.run([.integer(entry.key), .integer(-entry.row)])
    }
  }

  private func trim(_ count: Int) throws(SQLiteError) {
    guard progress.trimmed < progress.moved else { return }
    progress.trimmed = min(progress.moved, progress.trimmed + Int64(count))
    try trimming.run([.integer(progress.trimmed)])
  }

  /// Called after the commit.
  func didCommit() {
    commits += 1
    if progress.part == KeyGeneration.partCount {
      memory.withState { $0.sealed = nil }
      moving = nil
      progress.part = 0
    }
    let isTrimmed = progress.trimmed == progress.moved
    let isLarge = progress.count >= generationMax
    let isOld = commits >= Self.commitsMax && progress.count > 0
    let canSeal = isTrimmed && (isLarge || isOld)
    memory.withState { state in
      guard canSeal, state.sealed == nil else { return }
      state.sealed = state.active
      state.active = KeyGeneration()
      progress.count = 0
      progress.part = 0
      commits = 0
    }
    committed = progress
  }

  /// Called after a rollback.
  func didRollBack() {
    if hasErased {
      // The memory has forgotten what the database still has.
      seenVersion = nil
    } else {
      memory.withState { $0.active.drop(to: committed.count, last: committed.last) }
    }
    progress = committed
  }
}

extension TieredKeys: KeyIndex {
  func add(_ key: RowKey, row: PurchaseRowID) throws(StoreFault) {
    try translated { () throws(SQLiteError) in try append(key.number, row: row.number) }
  }

  func remove(_ key: RowKey, row: PurchaseRowID) throws(StoreFault) {
    try translated { () throws(SQLiteError) in try append(key.number, row: -row.number) }
  }

  func erase(_ key: RowKey, row: PurchaseRowID) throws(StoreFault) {
    let (number, row) = (key.number, row.number)
    try translated { () throws(SQLiteError) in
      try deleting.run([.integer(number), .integer(row)])
      try forgettingTail.run([.integer(number), .integer(row)])
    }
    hasErased = true
    memory.withState { state in
      state.active.erase(number, row: row)
      state.sealed?.erase(number, row: row)
    }
    // What is left of the part is found again, and its entries are moved again.
    moving = nil
    progress.movedOfPart = 0
  }

  func rows(_ key: RowKey, limit: Int) throws(StoreFault) -> [PurchaseRowID] {
    let number = key.number
    return try translated { () throws(SQLiteError) in
      // The memory first: what is moved after that is in the index.
      let recent = memory.rows(number, limit: limit) ?? []
      let old = try indexed.all([.integer(number), .integer(Int64(limit))]) { row throws(SQLiteError) in
        row.integer(0)
      }
      return KeyRows.merged(recent, old, limit: limit)
    }
  }

  func selection(_ lower: String, _ upper: String) -> String { KeyRows.selection(lower, upper) }
}
