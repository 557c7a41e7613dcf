// Keys in tiers: the newest are appended to a table and kept in memory; they are moved into sorted tables one
// part after another. The writer's thread.

internal import Store

/// The keys of the connection that owns the database.
///
/// An index of random values dirties a page for each entry: it is written to the log and to the database for
/// 15 bytes. So the new keys of a transaction are appended to `key_tail` in one row, and are found in
/// memory. When there are enough, they become one sealed generation. Each commit moves some of its entries,
/// in the order of their keys, into the table `recent_keys`, which is sorted: several entries go into each
/// page. The larger that table is, the fewer they are; so a part of it that has become large is moved on into
/// the table `keys`, again in order.
///
/// Each move belongs to a commit, so it costs no sync and delays no other commit. `key_tail` is emptied from
/// its start once all of a generation is moved; a start reads what is left of it into memory. It does no harm
/// to move an entry twice.
final class TieredKeys: TransactionKeys {
  /// A generation that stays small is sealed after this many commits, so that a daemon with little load keeps
  /// few keys in memory, and reads few at its next start.
  private static let commitsMax = 1_024
  /// How many entries a commit may move, even if it adds none.
  private static let quietMoves = 32
  /// How many rows of the tail a commit removes.
  private static let trimmedRows: Int64 = 8

  private let memory: KeyMemory
  private let sizes: KeySizes
  private let version: Statement
  private let tables: KeyTables

  /// The value of `PRAGMA data_version` with which the tail was read; nil before that.
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
    var isMovingOn = false
    /// The last number of the sealed generation; nil if there is none.
    var sealed: Int64?
    /// Up to which number `key_tail` has been moved, and up to which it has been emptied.
    var moved: Int64 = 0
    var trimmed: Int64 = 0
    /// How many entries each part of `recent_keys` has, as far as they were counted.
    var recentCounts = [Int?](repeating: nil, count: KeyGeneration.partCount)
  }
  private var progress = Progress()
  private var committed = Progress()
  private var changes = KeyChanges()
  /// The part of the sealed generation that is moved now.
  private var moving: (part: Int, entries: [KeyEntry])?
  /// The commits since a generation was sealed.
  private var commits = 0

  init(_ connection: Connection, _ memory: KeyMemory, sizes: KeySizes = KeySizes()) throws(SQLiteError) {
    self.memory = memory
    self.sizes = sizes
    tables = KeyTables(connection)
    // Differs once another connection has committed (https://www.sqlite.org/pragma.html#pragma_data_version).
    version = try connection.prepare("PRAGMA data_version")
    try begin()
  }

  func begin() throws(SQLiteError) {
    let version = try version.first([]) { row throws(SQLiteError) in row.integer(0) }
    if version != seenVersion { try load() }
    seenVersion = version
    progress = committed
    changes.removeAll()
  }

  /// Reads the tail: at the start, and after another program has written. Such a program appends to the tail
  /// and erases, so what is sealed stays sealed, and the move goes on with the same part.
  private func load() throws(SQLiteError) {
    var (sealed, active) = (KeyGeneration(), KeyGeneration())
    var first: Int64?
    // What was moved is in the sorted tables.
    try tables.forEachInTail(after: committed.moved) { number, entries throws(SQLiteError) in
      first = first ?? number
      for entry in entries {
        if number <= committed.sealed ?? 0 { sealed.add(entry) } else { active.add(entry) }
      }
    }
    committed.count = active.count
    committed.last = max(committed.last, try tables.lastNumber())
    if seenVersion == nil {
      committed.moved = (first ?? committed.last + 1) - 1
      committed.trimmed = committed.moved
    }
    restartPart(&committed)
    sealed.seal()
    let state = KeyMemory.State(
      isLoaded: true, active: active, sealed: committed.sealed == nil ? nil : sealed, last: committed.last)
    memory.withState { $0 = state }
  }

  /// Finds the entries of the present part again; to move them again is harmless.
  private func restartPart(_ progress: inout Progress) {
    moving = nil
    progress.movedOfPart = 0
  }

  private func append(_ entry: KeyEntry) {
    changes.add(entry)
    progress.last = committed.last + 1
    progress.count += 1
    let number = progress.last
    memory.withState { state in
      state.active.add(entry)
      state.last = number
    }
  }

  func beforeCommit() throws(SQLiteError) {
    try changes.write(to: tables, number: progress.last)
    // Four moves for each added key: a key is moved twice (to `recent_keys`, to `keys`), and a generation
    // must be moved before the next one is full.
    var room = max(4 * changes.added.count, Self.quietMoves)
    guard let sealed = memory.withState({ $0.sealed }) else { return try trim() }
    while room > 0, progress.part < KeyGeneration.partCount {
      room -= progress.isMovingOn ? try moveOn(room) : try move(sealed, room)
    }
    if progress.part == KeyGeneration.partCount { progress.moved = progress.sealed ?? progress.moved }
  }

  /// Moves entries of the present part of the sealed generation.
  /// - Returns: how much of the room that used.
  private func move(_ sealed: KeyGeneration, _ room: Int) throws(SQLiteError) -> Int {
    let part = progress.part
    if moving?.part != part { moving = (part, sealed.part(part)) }
    let entries = moving?.entries ?? []
    let end = min(entries.count, progress.movedOfPart + room)
    for entry in entries[progress.movedOfPart..<end] where !changes.erased.contains(entry.place) {
      try tables.apply(entry)
    }
    let count = end - progress.movedOfPart
    progress.movedOfPart = end
    guard end == entries.count else { return count }
    guard !entries.isEmpty else {
      endPart()
      // So that a commit passes over few empty parts.
      return 1
    }
    let known = progress.recentCounts[part].map { $0 + entries.count }
    let all: Int
    if let known { all = known } else { all = try tables.countRecent(KeyGeneration.keys(ofPart: part)) }
    progress.recentCounts[part] = all
    if all >= largePart(part) { progress.isMovingOn = true } else { endPart() }
    // A count reads as much as many moves.
    return count + (known == nil ? Self.quietMoves : 1)
  }

  /// How many entries a part of `recent_keys` has before it is moved on.
  private func largePart(_ part: Int) -> Int {
    sizes.recentPart + 2 * sizes.recentPart * part / KeyGeneration.partCount
  }

  /// Moves entries of the present part from `recent_keys` to `keys`.
  /// - Returns: how much of the room that used.
  private func moveOn(_ room: Int) throws(SQLiteError) -> Int {
    let count = try tables.moveOn(KeyGeneration.keys(ofPart: progress.part), limit: room)
    if count < room {
      progress.recentCounts[progress.part] = 0
      endPart()
    }
    return max(1, count)
  }

  private func endPart() {
    progress.part += 1
    progress.movedOfPart = 0
    progress.isMovingOn = false
  }

  private func trim() throws(SQLiteError) {
    guard progress.trimmed < progress.moved else { return }
    progress.trimmed = min(progress.moved, progress.trimmed + Self.trimmedRows)
    try tables.trim(through: progress.trimmed)
  }

  func didCommit() {
    commits += 1
    let erased = changes.erased
    if !erased.isEmpty { restartPart(&progress) }
    // Without additions no row was written, so its number is still free for another program.
    if changes.added.isEmpty { progress.last = committed.last }
    let last = progress.last
    let isMoved = progress.part == KeyGeneration.partCount
    if isMoved { (progress.part, progress.sealed) = (0, nil) }
    let isTrimmed = progress.trimmed == progress.moved
    let isLarge = progress.count >= sizes.generation
    let isOld = commits >= Self.commitsMax && progress.count > 0
    let isSealed = memory.withState { state in
      for place in erased {
        state.active.erase(place)
        state.sealed?.erase(place)
      }
      state.last = last
      if isMoved { state.sealed = nil }
      guard isTrimmed, isLarge || isOld, state.sealed == nil else { return false }
      state.sealed = state.active
      state.sealed?.seal()
      state.active = KeyGeneration()
      return true
    }
    if isMoved || isSealed { moving = nil }
    if isSealed {
      (progress.count, progress.sealed) = (0, last)
      commits = 0
    }
    committed = progress
    changes.removeAll()
  }

  func didRollBack() {
    let (count, last) = (committed.count, committed.last)
    memory.withState { state in
      state.active.drop(to: count)
      state.last = last
    }
    progress = committed
    changes.removeAll()
  }
}

extension TieredKeys {
  func add(_ key: RowKey, row: Int64) { append(KeyEntry(key: key.number, row: row)) }
  func remove(_ key: RowKey, row: Int64) { append(KeyEntry(key: key.number, row: -row)) }

  /// The memory forgets it after the commit: until then the row is still found.
  func erase(_ key: RowKey, row: Int64) { changes.erase(KeyEntry(key: key.number, row: row)) }

  func rows(_ key: RowKey, limit: Int) throws(StoreFault) -> [Int64] {
    let number = key.number
    // The memory first: what is moved after that is in the tables.
    var recent = RecentRows()
    _ = memory.collect(number, limit: limit, into: &recent)
    return try translated { () throws(SQLiteError) in
      let sorted = try tables.rows(number, limit: limit + recent.changes.count)
      return recent.merged(with: sorted, limit: limit)
    }
  }

  func entries(_ numbers: ClosedRange<Int64>) throws(StoreFault) -> Set<KeyedRow> {
    let recent = memory.entries(numbers)?.entries ?? []
    return try translated { () throws(SQLiteError) in
      KeyEntry.present(in: try tables.entries(numbers), recent)
    }
  }
}
