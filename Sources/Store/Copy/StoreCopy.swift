// Copies all rows of a database into an empty one, and compares both. One thread.

public import Domain

/// Why a copy cannot begin, continue or end.
public enum CopyFault: Error, Sendable, Equatable {
  case fault(StoreFault)
  /// The database is used by receiptd on these machines.
  case used(isSource: Bool, by: [String])
  /// The source was copied before.
  case retired(to: String, at: Timestamp)
  /// The source itself is an unfinished copy.
  case unfinished(of: String)
  case sameDatabase
  /// A table of the target has rows.
  case notEmpty(String)
  /// The target is an unfinished copy of another database.
  case otherCopy(of: String)
  /// The source was used after the copy began.
  case sourceChanged
  /// A table has other columns in the target.
  case otherSchema(String)
}

/// A copy of a whole database.
///
/// Each slice of rows is one transaction of the target, together with a note how far the copy has come. So it
/// can be interrupted at any moment, and continues with the next slice. The target is used by nothing else
/// until `finish`, which is also when the source is retired.
public final class StoreCopy {
  private let source: any CopyEngine
  private let target: any CopyEngine
  private let limits: CopyLimits
  /// The target's.
  private var mark: CopyMark
  private let isContinued: Bool

  /// Begins a copy, or continues the one that was interrupted.
  /// - Parameter places: what each database notes about the other, without passwords.
  public init(
    from source: any CopyEngine, to target: any CopyEngine, places: (source: String, target: String),
    now: Timestamp, limits: CopyLimits = CopyLimits()
  ) throws(CopyFault) {
    self.source = source
    self.target = target
    self.limits = limits
    let new = CopyMark(
      id: .random(in: .min ... .max), place: places.source, isRetired: false, at: now, progress: .start)
    let known = try Self.knownMark(source, target)
    (mark, isContinued) = (known ?? new, known != nil)
    guard known == nil else { return }
    var origin = new
    origin.place = places.target
    try Self.stored { () throws(StoreFault) in
      try CopyMarks(connection: source.writing).save(origin, as: .source)
    }
    do throws(CopyFault) {
      try begin(origin)
    } catch {
      try Self.stored { () throws(StoreFault) in
        try CopyMarks(connection: source.writing).remove(.source, id: origin.id)
      }
      throw error
    }
  }

  /// Marks the target. Nothing writes to it from then on, so it is checked again: a program that has started
  /// since the first check may have written before.
  private func begin(_ origin: CopyMark) throws(CopyFault) {
    let isSame = try Self.stored { () throws(StoreFault) in
      try CopyMarks(connection: target.reading).find(.source)?.id == origin.id
    }
    guard !isSame else { throw .sameDatabase }
    let marks = CopyMarks(connection: target.writing)
    try Self.stored { () throws(StoreFault) in
      try target.writing.transaction { () throws(StoreFault) in
        try target.lockOut()
        try marks.save(mark, as: .target)
      }
    }
    do throws(CopyFault) {
      try Self.checkUnused(target, isSource: false)
      try Self.checkEmpty(target)
    } catch {
      try Self.stored { () throws(StoreFault) in try marks.remove(.target, id: mark.id) }
      throw error
    }
  }

  /// Whether an earlier run has begun it.
  public var continuesEarlierRun: Bool { isContinued }
  public var progress: CopyProgress { mark.progress }

  /// Checks both databases.
  /// - Returns: the target's mark, if it is the unfinished copy of this source.
  private static func knownMark(
    _ source: any CopyEngine, _ target: any CopyEngine
  ) throws(CopyFault) -> CopyMark? {
    try checkUnused(source, isSource: true)
    try checkUnused(target, isSource: false)
    let (origin, found, own) = try stored { () throws(StoreFault) in
      let marks = CopyMarks(connection: source.reading)
      return (
        try marks.find(.source), try CopyMarks(connection: target.reading).find(.target),
        try marks.find(.target)
      )
    }
    if let own { throw .unfinished(of: own.place) }
    if let origin, origin.isRetired, origin.id != found?.id {
      throw .retired(to: origin.place, at: origin.at)
    }
    if let found {
      guard found.id != origin?.id else { return found }
      throw origin == nil ? .sourceChanged : .otherCopy(of: found.place)
    }
    try checkEmpty(target)
    return nil
  }

  private static func checkUnused(_ database: any CopyEngine, isSource: Bool) throws(CopyFault) {
    let users = try stored { () throws(StoreFault) in try database.users() }
    guard users.isEmpty else { throw .used(isSource: isSource, by: users) }
  }

  private static func checkEmpty(_ target: any CopyEngine) throws(CopyFault) {
    for table in CopyTable.all {
      let isFilled = try stored { () throws(StoreFault) in
        let slices = try CopySlices(table, of: target, CopyLimits(rows: 1))
        return try !slices.read(after: []).rows.isEmpty
      }
      guard !isFilled else { throw .notEmpty(table.name) }
    }
  }

  private static func stored<Result>(
    _ body: () throws(StoreFault) -> Result
  ) throws(CopyFault) -> Result {
    do throws(StoreFault) {
      return try body()
    } catch {
      throw .fault(error)
    }
  }

  /// About how many rows a table of the source has.
  public func estimate(of table: CopyTable) throws(StoreFault) -> Int64 {
    try CopySlices(table, of: source, limits).estimate()
  }

  /// Copies the rows that were not copied yet, and makes what follows from them.
  /// - Parameter onSlice: called after each slice, also with what an earlier run has copied.
  public func copyRows(
    onSlice: (CopyTable, _ rows: Int64) throws(StoreFault) -> Void
  ) throws(CopyFault) {
    let start = CopyTable.all.firstIndex { $0.name == mark.progress.table } ?? CopyTable.all.endIndex
    for table in CopyTable.all[start...] {
      try Self.stored { () throws(StoreFault) in try onSlice(table, mark.progress.rows) }
      let slices = try Self.stored { () throws(StoreFault) in try CopySlices(table, of: source, limits) }
      let columns = try Self.stored { () throws(StoreFault) in
        try CopySlices(table, of: target, limits).columns
      }
      guard slices.columns == columns else { throw .otherSchema(table.name) }
      try Self.stored { () throws(StoreFault) in
        let writing = try CopyWriting(table, slices.columns, to: target)
        while mark.progress.table == table.name {
          let rows = try copySlice(table, slices, writing)
          try onSlice(table, rows)
        }
      }
    }
    try Self.stored { () throws(StoreFault) in
      try target.complete(nextPurchaseRow: try source.nextPurchaseRow())
    }
  }

  /// - Returns: how many rows of the table are copied.
  private func copySlice(
    _ table: CopyTable, _ slices: CopySlices, _ writing: CopyWriting
  ) throws(StoreFault) -> Int64 {
    let slice = try slices.read(after: mark.progress.after)
    let before = mark
    var progress = mark.progress
    progress.rows += Int64(slice.rows.count)
    if let last = slice.rows.last { progress.after = slices.key(of: last) }
    let rows = progress.rows
    if slice.isLast {
      let next = CopyTable.all.drop { $0.name != table.name }.dropFirst().first
      progress = CopyProgress(table: next?.name)
    }
    try target.writing.transaction { () throws(StoreFault) in
      // First, because another run into the same database has changed or locked it.
      try target.writing.prepare(
        "UPDATE copies SET progress = ?1 WHERE role = 'target' AND id = ?2 AND progress = ?3"
      ).changeOne(
        [.text(progress.text), .integer(before.id), .text(before.progress.text)], for: "note the progress")
      try writing.insert(slice.rows)
    }
    mark.progress = progress
    return rows
  }

  /// Compares a table with its copy.
  /// - Parameter onSlice: called with the number of rows that were compared.
  public func compare(
    _ table: CopyTable, onSlice: (_ rows: Int64) throws(StoreFault) -> Void
  ) throws(StoreFault) -> CopyComparison {
    var comparison = CopyComparison(table: table.name)
    var digest = RowDigest(replacesZero: !(source.storesZero && target.storesZero))
    var (here, there) = (
      CopyCursor(try CopySlices(table, of: source, limits)),
      CopyCursor(try CopySlices(table, of: target, limits))
    )
    var (row, copy) = (try here.next(), try there.next())
    while row != nil || copy != nil {
      comparison.add(row, copy, &digest, here.slices)
      if comparison.source.rows.isMultiple(of: 1_000) { try onSlice(comparison.source.rows) }
      (row, copy) = (try here.next(), try there.next())
    }
    try onSlice(comparison.source.rows)
    return comparison
  }

  /// Retires the source, and then makes the target usable: at no moment both are.
  /// - Parameter entry: of the target's audit.
  public func finish(_ entry: AuditEntry, now: Timestamp) throws(CopyFault) {
    try Self.checkUnused(target, isSource: false)
    let marks = CopyMarks(connection: source.writing)
    let (users, isKnown) = try Self.stored { () throws(StoreFault) in
      try source.writing.transaction { () throws(StoreFault) -> ([String], Bool) in
        try source.lockOut()
        let users = try source.users()
        guard users.isEmpty, var origin = try marks.find(.source), origin.id == mark.id else {
          return (users, false)
        }
        if !origin.isRetired { (origin.isRetired, origin.at) = (true, now) }
        try marks.save(origin, as: .source)
        try source.endOwnership()
        return ([], true)
      }
    }
    guard users.isEmpty else { throw .used(isSource: true, by: users) }
    guard isKnown else { throw .sourceChanged }
    try Self.stored { () throws(StoreFault) in
      try target.writing.transaction { () throws(StoreFault) in
        try CopyMarks(connection: target.writing).remove(.target, id: mark.id)
        try AuditRows(target.writing).insert(entry)
      }
    }
  }
}

// MARK: - CopyEngine

// What a copy needs from each of its two databases, for any engine.

/// A database that is copied, or a copy. No other program uses it meanwhile. One thread at a time.
public protocol CopyEngine: AnyObject {
  var reading: StoreConnection { get }
  var writing: StoreConnection { get }

  /// The columns of a table.
  func columns(of table: String) throws(StoreFault) -> [CopyColumn]
  /// Whether texts can contain U+0000. Others get U+FFFD in its place.
  var storesZero: Bool { get }
  /// The machines whose receiptd uses the database now; an engine that locks its database has none.
  func users() throws(StoreFault) -> [String]

  /// The number of the next purchase. No number is used twice, even if its row was deleted.
  func nextPurchaseRow() throws(StoreFault) -> Int64
  /// Whether `KeyIndex.add` is the way to store the keys of copied rows; otherwise `complete` does.
  var addsKeys: Bool { get }
  /// Called in the transaction that stores rows of these apps.
  func add(apps: Set<String>) throws(StoreFault)
  /// Called when all rows are copied, perhaps twice: makes what follows from them.
  func complete(nextPurchaseRow: Int64) throws(StoreFault)
  /// Called first in a transaction that forbids the database's use, of a source at the end of a copy and of
  /// a target at its beginning: waits for open batches, and lets none begin before its end.
  func lockOut() throws(StoreFault)
  /// Called in the transaction that retires the database: a program that was cut off from it can store no
  /// outcome afterwards.
  func endOwnership() throws(StoreFault)
}
