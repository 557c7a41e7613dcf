// Commands on the dictionaries for bodies.

public import Domain

/// Stores a new dictionary. `BodyPacker` may use it once this is on disk.
public struct StoreDictionary: StoreCommand {
  public var content: [UInt8]
  public var kind: BodyKind

  /// - Parameter content: as training made it, without personal data.
  public init(_ content: [UInt8], for kind: BodyKind = .event) {
    (self.content, self.kind) = (content, kind)
  }

  /// - Returns: its number.
  public func apply(to store: StoreSession) throws(StoreFault) -> DictionaryNumber {
    try store.dictionaries.insert(content, for: kind, at: store.now)
  }
}

/// Compresses a slice of the bodies of events that are stored as they were received: those of earlier
/// versions, of the time before the first dictionary, and those that receiptctl wrote. Each row is looked at
/// once. Compressing 100 bodies of 3 KB takes less than a millisecond, so this may run on the writer's
/// thread.
public struct CompressBodies: StoreCommand, Equatable {
  /// The most rows to look at, and the most to compress: each has several pages to write.
  static let rowsMax: Int64 = 500
  static let packedMax = 100
  /// The most bytes to compress, except for the last body.
  static let bytesMax = 1 << 20

  /// How many slices may follow.
  public var slicesLeft: Int

  /// - Parameter slicesLeft: so that a pass of retention over a large database of an earlier version ends
  ///   within minutes; the next pass continues.
  public init(slicesLeft: Int = 5000) { self.slicesLeft = slicesLeft }

  /// - Returns: whether there may be more to compress.
  public func apply(to store: StoreSession) throws(StoreFault) -> Bool {
    guard let (dictionary, passedRow) = try store.dictionaries.current() else { return false }
    let rows = try store.dictionaries.scan(after: passedRow, limit: Self.rowsMax)
    var last = EventRowID(passedRow)
    var (packed, bytes) = (0, 0)
    for found in rows where packed < Self.packedMax && bytes < Self.bytesMax {
      last = found.row
      guard found.isCandidate else { continue }
      packed += 1
      bytes += try store.dictionaries.pack(found.row, with: dictionary)
    }
    guard let end = rows.last?.row else {
      // Row numbers start again after the newest events were deleted.
      guard try store.dictionaries.isBeyondEvents(passedRow) else { return false }
      try store.dictionaries.note(passedRow: 0, of: dictionary.number)
      return true
    }
    try store.dictionaries.note(passedRow: last.number, of: dictionary.number)
    return last < end || rows.count == Self.rowsMax
  }
}
