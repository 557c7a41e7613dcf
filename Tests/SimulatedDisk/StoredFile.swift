// One file of the simulated disk: its bytes as programs see them, its bytes on the medium, and the changes in
// between. Accessed only under the volume's lock.

/// A file, possibly without a name.
final class StoredFile {
  /// A change that is not synced yet.
  enum Change {
    case write(offset: Int, bytes: [UInt8])
    case truncate(size: Int)
  }

  /// The bytes as programs see them.
  private(set) var bytes: [UInt8]
  /// The bytes on the medium.
  private var durable: [UInt8]
  /// In the order of the writes.
  private var pending: [Change] = []

  /// The handles that hold a lock, and the shared memory beside the file.
  var holders: [ObjectIdentifier: FileHandle] = [:]
  var sharedMemory: SharedMemory?

  init() {
    bytes = []
    durable = []
  }

  private init(bytes: [UInt8], durable: [UInt8], pending: [Change]) {
    self.bytes = bytes
    self.durable = durable
    self.pending = pending
  }

  /// A copy of the content, for another disk.
  func copy() -> StoredFile { StoredFile(bytes: bytes, durable: durable, pending: pending) }

  /// - Returns: false when the file ends earlier; the rest is filled with zeros.
  func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
    let there = min(target.count, max(0, bytes.count - offset))
    if there > 0 {
      unsafe bytes.withUnsafeBytes { source in
        unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[offset..<(offset + there)]))
      }
    }
    guard there < target.count else { return true }
    unsafe UnsafeMutableRawBufferPointer(rebasing: target[there...]).initializeMemory(
      as: UInt8.self, repeating: 0)
    return false
  }

  func write(_ new: UnsafeRawBufferPointer, at offset: Int) {
    let copy = unsafe [UInt8](unsafeUninitializedCapacity: new.count) { target, count in
      unsafe UnsafeMutableRawBufferPointer(target).copyMemory(from: new)
      count = new.count
    }
    Self.put(copy, at: offset, in: &bytes)
    pending.append(.write(offset: offset, bytes: copy))
  }

  func truncate(to size: Int) {
    Self.resize(&bytes, to: size)
    pending.append(.truncate(size: size))
  }

  /// Makes all writes durable.
  func sync() {
    for change in pending { Self.apply(change, to: &durable) }
    pending.removeAll(keepingCapacity: true)
  }

  /// Fails a sync. The bytes that programs see do not change, nothing is written again later, and each change
  /// is now durable or lost (https://wiki.postgresql.org/wiki/Fsync_Errors).
  func failSync(random: inout some RandomNumberGenerator) {
    for change in pending where Bool.random(using: &random) { Self.apply(change, to: &durable) }
    pending.removeAll(keepingCapacity: true)
  }

  /// Shows programs the bytes of the medium plus the pending changes.
  func forgetCache() {
    bytes = durable
    for change in pending { Self.apply(change, to: &bytes) }
  }

  /// Cuts the power: only the bytes of the medium remain.
  func losePower(
    keeping survival: Survival, _ properties: SimulatedDisk.Properties,
    random: inout some RandomNumberGenerator
  ) {
    for (index, change) in pending.enumerated() {
      switch survival.fate(of: index, among: pending.count, random: &random) {
      case .kept: Self.apply(change, to: &durable)
      case .lost: lose(change, random: &random)
      case .bySector: tear(change, properties, random: &random)
      }
    }
    pending = []
    bytes = durable
    holders = [:]
    sharedMemory = nil
  }

  /// A lost write may still have extended the file; the new bytes are then random
  /// (https://www.sqlite.org/atomiccommit.html#hardware).
  private func lose(_ change: Change, random: inout some RandomNumberGenerator) {
    guard case .write(let offset, let lost) = change, offset + lost.count > durable.count,
      Bool.random(using: &random)
    else { return }
    let isGarbage = Bool.random(using: &random)
    let from = durable.count
    Self.resize(&durable, to: offset + lost.count)
    if isGarbage { Self.garble(&durable, from..<durable.count, random: &random) }
  }

  /// Each sector of a write is kept, lost or partly written.
  private func tear(
    _ change: Change, _ properties: SimulatedDisk.Properties, random: inout some RandomNumberGenerator
  ) {
    guard case .write(let offset, let written) = change else {
      if Bool.random(using: &random) { Self.apply(change, to: &durable) }
      return
    }
    var start = offset
    let end = offset + written.count
    while start < end {
      let sector = start / properties.sectorBytes * properties.sectorBytes
      let next = min(end, sector + properties.sectorBytes)
      let piece = Array(written[(start - offset)..<(next - offset)])
      switch Int.random(in: 0..<8, using: &random) {
      case 0..<3: Self.put(piece, at: start, in: &durable)
      case 3..<6: lose(.write(offset: start, bytes: piece), random: &random)
      default:
        Self.put(
          Array(piece.prefix(Int.random(in: 0...piece.count, using: &random))), at: start, in: &durable)
        if !properties.isPowersafe {
          let damaged = sector..<min(sector + properties.sectorBytes, durable.count)
          Self.garble(&durable, damaged, random: &random)
        }
      }
      start = next
    }
  }

  private static func apply(_ change: Change, to bytes: inout [UInt8]) {
    switch change {
    case .write(let offset, let new): put(new, at: offset, in: &bytes)
    case .truncate(let size): resize(&bytes, to: size)
    }
  }

  private static func put(_ new: [UInt8], at offset: Int, in bytes: inout [UInt8]) {
    if bytes.count < offset + new.count { resize(&bytes, to: offset + new.count) }
    unsafe bytes.withUnsafeMutableBytes { target in
      let place = unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset...])
      unsafe new.withUnsafeBytes { unsafe place.copyMemory(from: $0) }
    }
  }

  private static func resize(_ bytes: inout [UInt8], to size: Int) {
    if size < bytes.count {
      bytes.removeLast(bytes.count - size)
    } else {
      bytes += [UInt8](repeating: 0, count: size - bytes.count)
    }
  }

  private static func garble(
    _ bytes: inout [UInt8], _ range: Range<Int>, random: inout some RandomNumberGenerator
  ) {
    // Eight bytes at a time: this is a hot path.
    unsafe bytes.withUnsafeMutableBytes { target in
      var place = range.lowerBound
      while place < range.upperBound {
        let count = min(8, range.upperBound - place)
        unsafe withUnsafeBytes(of: random.next()) { garbage in
          let part = unsafe UnsafeMutableRawBufferPointer(rebasing: target[place..<(place + count)])
          unsafe part.copyMemory(from: UnsafeRawBufferPointer(rebasing: garbage[..<count]))
        }
        place += count
      }
    }
  }
}

/// How much of the unsynced data survives a crash. Random subsets would rarely leave a whole transaction or a
/// prefix of one, which a recovery may take for the end of the log.
enum Survival {
  case all, nothing
  /// The changes before a position in their order; the one at the position is torn.
  case prefix(share: Double)
  case allBut(share: Double)
  case anySectors

  enum Fate { case kept, lost, bySector }

  init(random: inout some RandomNumberGenerator) {
    let share = Double.random(in: 0..<1, using: &random)
    switch Int.random(in: 0..<10, using: &random) {
    case 0: self = .all
    case 1: self = .nothing
    case 2..<5: self = .prefix(share: share)
    case 5, 6: self = .allBut(share: share)
    default: self = .anySectors
    }
  }

  func fate(of index: Int, among count: Int, random: inout some RandomNumberGenerator) -> Fate {
    func place(_ share: Double) -> Int { Int(share * Double(count)) }
    switch self {
    case .all: return .kept
    case .nothing: return .lost
    case .prefix(let share):
      return index < place(share) ? .kept : (index == place(share) ? .bySector : .lost)
    case .allBut(let share): return index == place(share) ? .lost : .kept
    case .anySectors:
      return [.kept, .lost, .bySector][Int.random(in: 0..<3, using: &random)]
    }
  }
}
