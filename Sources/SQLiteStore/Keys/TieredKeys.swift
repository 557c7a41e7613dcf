// Keys in tiers: the newest are appended to a table and kept in memory; they are moved into sorted tables a part
// after the other. The writer's thread.

internal import Domain
internal import SQLite
internal import Store

/// The keys of the connection that owns the database.
///
/// An index of random values dirties a page for each entry: it is written to the log and to the database for
/// 15 bytes. So the new keys of a transaction are appended to `key_tail` in one row, and are found in memory.
/// When there are `generationMax`, they become one sealed generation. Each commit moves a part of that with
/// neighbouring keys into the table `recent_keys`, which is sorted: several entries go into each page. The
/// larger that table is, the fewer they are; so a part of it that has become large is moved on into the table
/// `keys`, again in order.
///
/// Each move is a part of a transaction that also changes something else, so it costs no sync and delays no
/// other. `key_tail` is emptied from its start once all of a generation is moved; a start reads what is left
/// of it into memory. To move an entry twice is harmless.
final class TieredKeys {
  /// The sizes at which keys are moved; tests use less.
  struct Sizes {
    /// How many entries a generation has before it is sealed. Each takes some 40 bytes of memory. The more
    /// there are, the more of them share a page of `recent_keys`.
    var generation = 65_536
    /// How many entries a part of `recent_keys` has before it is moved on: that many in the first part, three
    /// times as many in the last, so that they are not all moved at the same time.
    var recentPart = 2_048
  }

  /// A generation that stays small is sealed after this many commits, so that a quiet daemon keeps nothing in
  /// memory.
  private static let commitsMax = 1_024
  /// How many entries a commit may move without adding any.
  private static let quietMoves = 32
  /// How many rows of the tail a commit removes.
  private static let trimmedRows: Int64 = 8

  private let memory: KeyMemory
  private let sizes: Sizes
  private let version: Statement
  private let tables: KeyTables

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
    /// Whether all of the part is moved, and the same part of `recent_keys` is moved on.
    var isAgeing = false
    /// Up to which number `key_tail` has been moved, and up to which it has been emptied.
    var moved: Int64 = 0
    var trimmed: Int64 = 0
  }
  private var progress = Progress()
  private var committed = Progress()
  /// The part of the sealed generation that is moved now.
  private var moving: (part: Int, entries: [KeyEntry])?
  /// What the open transaction adds and removes.
  private var added: [KeyEntry] = []
  /// What the open transaction erases.
  private var erased: Set<KeyEntry> = []
  /// The commits since a generation was sealed.
  private var commits = 0

  init(_ connection: Connection, _ memory: KeyMemory, sizes: Sizes = Sizes()) throws(SQLiteError) {
    self.memory = memory
    self.sizes = sizes
    tables = KeyTables(connection)
    // Differs once another connection has committed (https://www.sqlite.org/pragma.html#pragma_data_version).
    version = try connection.prepare("PRAGMA data_version")
    try begin()
  }

  /// Called at the start of a transaction that writes.
  func begin() throws(SQLiteError) {
    let version = try version.first([]) { row throws(SQLiteError) in row.integer(0) }
    if version != seenVersion { try load() }
    seenVersion = version
    progress = committed
    added.removeAll(keepingCapacity: true)
    erased = []
  }

  /// Reads the tail: at the start, and after another program has written.
  private func load() throws(SQLiteError) {
    var active = KeyGeneration()
    var first: Int64?
    try tables.forEachInTail { number, entries throws(SQLiteError) in
      first = first ?? number
      for entry in entries { active.add(entry, number: number) }
    }
    committed = Progress(count: active.count, last: try tables.lastNumber())
    committed.moved = (first ?? committed.last + 1) - 1
    committed.trimmed = committed.moved
    moving = nil
    memory.withState { $0 = KeyMemory.State(isLoaded: true, active: active, sealed: nil) }
  }

  private func append(_ entry: KeyEntry) {
    added.append(entry)
    progress.last = committed.last + 1
    progress.count += 1
    let number = progress.last
    memory.withState { $0.active.add(entry, number: number) }
  }

  /// Called before the commit: writes what was added, moves some of the sealed generation, or removes what has
  /// been moved.
  func beforeCommit() throws(SQLiteError) {
    if !erased.isEmpty { try tables.erase(erased) }
    if !added.isEmpty { try tables.append(added, number: progress.last) }
    // Faster than keys are added, so that a generation is moved before the next one is full: each key is moved
    // twice.
    var room = max(4 * added.count, Self.quietMoves)
    guard let sealed = memory.withState({ $0.sealed }) else { return try trim() }
    while room > 0, progress.part < KeyGeneration.partCount {
      room -= progress.isAgeing ? try age(room) : try move(sealed, room)
    }
    if progress.part == KeyGeneration.partCount { progress.moved = sealed.last }
  }

  /// Moves entries of the present part of the sealed generation.
  /// - Returns: how many.
  private func move(_ sealed: KeyGeneration, _ room: Int) throws(SQLiteError) -> Int {
    let part = progress.part
    if moving?.part != part { moving = (part, sealed.part(part)) }
    let entries = moving?.entries ?? []
    let end = min(entries.count, progress.movedOfPart + room)
    for entry in entries[progress.movedOfPart..<end] { try tables.apply(entry) }
    let count = end - progress.movedOfPart
    progress.movedOfPart = end
    if end == entries.count {
      let isLarge = try tables.hasRecent(largePart(part), in: KeyGeneration.keys(ofPart: part))
      if isLarge { progress.isAgeing = true } else { endPart() }
    }
    // A part costs a pass over the generation, so an empty one counts as well.
    return max(1, count)
  }

  /// How many entries the part of `recent_keys` has before it is moved on.
  private func largePart(_ part: Int) -> Int {
    sizes.recentPart + 2 * sizes.recentPart * part / KeyGeneration.partCount
  }

  /// Moves entries of the present part from `recent_keys` to `keys`.
  /// - Returns: how many.
  private func age(_ room: Int) throws(SQLiteError) -> Int {
    let count = try tables.age(KeyGeneration.keys(ofPart: progress.part), limit: room)
    if count < room { endPart() }
    return max(1, count)
  }

  private func endPart() {
    progress.part += 1
    progress.movedOfPart = 0
    progress.isAgeing = false
  }

  private func trim() throws(SQLiteError) {
    guard progress.trimmed < progress.moved else { return }
    progress.trimmed = min(progress.moved, progress.trimmed + Self.trimmedRows)
    try tables.trim(through: progress.trimmed)
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
    let isLarge = progress.count >= sizes.generation
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
    if erased.isEmpty {
      memory.withState { $0.active.drop(to: committed.count, last: committed.last) }
    } else {
      // The memory has forgotten what the database still has.
      seenVersion = nil
    }
    progress = committed
  }
}

extension TieredKeys: KeyIndex {
  func add(_ key: RowKey, row: Int64) { append(KeyEntry(key: key.number, row: row)) }

  func remove(_ key: RowKey, row: Int64) { append(KeyEntry(key: key.number, row: -row)) }

  func erase(_ key: RowKey, row: Int64) {
    let place = KeyEntry(key: key.number, row: row)
    erased.insert(place)
    added.removeAll { $0.place == place }
    memory.withState { state in
      state.active.erase(place)
      state.sealed?.erase(place)
    }
    // What is left of the part is found again, and its entries are moved again.
    moving = nil
    progress.movedOfPart = 0
  }

  func rows(_ key: RowKey, limit: Int) throws(StoreFault) -> [Int64] {
    let number = key.number
    // The memory first: what is moved after that is in the tables.
    let recent = memory.rows(number, limit: limit) ?? []
    return try translated { () throws(SQLiteError) in
      KeyRows.merged(recent, try tables.rows(number, limit: limit), limit: limit)
    }
  }

  func rows(_ numbers: ClosedRange<Int64>) throws(StoreFault) -> [Int64] {
    let recent = memory.entries(numbers) ?? []
    return try translated { () throws(SQLiteError) in
      KeyRows.merged(recent, try tables.entries(numbers))
    }
  }
}
