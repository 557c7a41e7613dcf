// The shared memory of a write-ahead log. Accessed under the volume's lock, except for its content, which
// SQLite guards by the locks in it.

internal import CSQLite

/// The shared memory beside a database: its regions and its eight locks
/// (https://www.sqlite.org/walformat.html#locks). A connection that has it mapped retains it, so a connection
/// from before a crash accesses only its own memory.
final class SharedMemory {
  /// Memory at a fixed address until deinit.
  @safe private final class Region {
    let size: Int
    let start: UnsafeMutableRawPointer

    init(size: Int) {
      self.size = size
      unsafe start = .allocate(byteCount: size, alignment: 4096)
      unsafe start.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    }

    deinit { unsafe start.deallocate() }
  }

  private var regions: [Region] = []
  private var sharers: [Set<ObjectIdentifier>]
  private var owners: [ObjectIdentifier?]
  private var users: Set<ObjectIdentifier> = []

  init() {
    sharers = Array(repeating: [], count: Int(SQLITE_SHM_NLOCK))
    owners = Array(repeating: nil, count: Int(SQLITE_SHM_NLOCK))
  }

  var bytes: Int { regions.reduce(0) { $0 + $1.size } }
  var isUnused: Bool { users.isEmpty }

  func join(_ handle: FileHandle) { users.insert(ObjectIdentifier(handle)) }

  func leave(_ handle: FileHandle) {
    let id = ObjectIdentifier(handle)
    users.remove(id)
    for slot in owners.indices {
      if owners[slot] == id { owners[slot] = nil }
      sharers[slot].remove(id)
    }
  }

  /// The number of bytes that a missing region would add.
  func growth(upTo index: Int, size: Int) -> Int {
    max(0, index + 1 - regions.count) * size
  }

  /// - Returns: a region; nil when it does not exist and is not to be created.
  func region(_ index: Int, size: Int, extend: Bool) -> UnsafeMutableRawPointer? {
    while extend, index >= regions.count { regions.append(Region(size: size)) }
    return index < regions.count ? unsafe regions[index].start : nil
  }

  func lock(_ slots: Range<Int>, exclusive: Bool, for handle: FileHandle) -> Int32 {
    let id = ObjectIdentifier(handle)
    for slot in slots {
      if let owner = owners[slot], owner != id { return SQLITE_BUSY }
      if exclusive, sharers[slot].contains(where: { $0 != id }) { return SQLITE_BUSY }
    }
    for slot in slots {
      if exclusive { owners[slot] = id } else { sharers[slot].insert(id) }
    }
    return SQLITE_OK
  }

  func unlock(_ slots: Range<Int>, for handle: FileHandle) {
    let id = ObjectIdentifier(handle)
    for slot in slots {
      if owners[slot] == id { owners[slot] = nil }
      sharers[slot].remove(id)
    }
  }
}
