// One file that SQLite has open: reads, writes and locks. Used on any thread that uses the database.

internal import CSQLite
internal import Platform

/// An open file. SQLite's `sqlite3_file` retains it and releases it on close.
final class FileHandle {
  let volume: Volume
  let file: StoredFile
  let epoch: Int
  private let name: String?
  private let deletesOnClose: Bool
  /// Whether the next sync also makes the file's name durable. SQLite's VFS for Unix does this for a journal
  /// and a log that it created.
  private var syncsDirectory: Bool
  private var level: Int32 = SQLITE_LOCK_NONE
  private(set) var memory: SharedMemory?

  /// Opens a file with SQLite's flags. A file without a name is private to this handle.
  /// - Returns: nil when it does not exist and is not to be created.
  static func open(
    _ volume: Volume, _ name: String?, _ flags: Int32, _ state: inout VolumeState
  ) -> FileHandle? {
    let mayCreate = flags & SQLITE_OPEN_CREATE != 0 && !state.isReadOnly
    let known = name.flatMap { state.files[$0] }
    let opened: StoredFile
    if let known {
      opened = known
    } else if let name {
      guard mayCreate else { return nil }
      opened = state.create(name)
    } else {
      opened = StoredFile()
    }
    return FileHandle(volume, opened, name: name, epoch: state.epoch, flags: flags)
  }

  private init(_ volume: Volume, _ file: StoredFile, name: String?, epoch: Int, flags: Int32) {
    self.volume = volume
    self.file = file
    self.name = name
    self.epoch = epoch
    deletesOnClose = flags & SQLITE_OPEN_DELETEONCLOSE != 0
    let logs = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL
    syncsDirectory = flags & SQLITE_OPEN_CREATE != 0 && flags & logs != 0
  }

  func close() {
    volume.monitor.withLock { state in
      leaveMemory()
      unlock(to: SQLITE_LOCK_NONE)
      if deletesOnClose, let name, epoch == state.epoch { state.delete(name) }
    }
  }

  // MARK: - Content

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int32 {
    let code = volume.monitor.withLock { state -> Int32 in
      guard epoch == state.epoch, !state.isPowerCut else { return SimulatedDisk.Operation.write.code }
      if let refusal = state.refusal(of: .write) {
        // A write that fails, or that the power cut interrupts, is partly done.
        let part = Int.random(in: 0...bytes.count, using: &state.random)
        unsafe file.write(UnsafeRawBufferPointer(rebasing: bytes[..<part]), at: offset)
        return refusal
      }
      guard state.hasRoom(for: offset + bytes.count - file.bytes.count) else { return SQLITE_FULL }
      unsafe file.write(bytes, at: offset)
      return SQLITE_OK
    }
    if code == SQLITE_OK { volume.tell(.write) }
    return code
  }

  func truncate(to size: Int) -> Int32 {
    let code = volume.perform(.truncate, on: self) { _ in
      file.truncate(to: size)
      return SQLITE_OK
    }
    if code == SQLITE_OK { volume.tell(.truncate) }
    return code
  }

  func sync() -> Int32 {
    // During a sync nothing of it is durable for certain.
    volume.tell(.sync)
    return volume.monitor.withLock { state in
      guard epoch == state.epoch, !state.isPowerCut else { return SimulatedDisk.Operation.sync.code }
      if let refusal = state.refusal(of: .sync) {
        if !state.isPowerCut { file.failSync(random: &state.random) }
        return refusal
      }
      file.sync()
      if syncsDirectory { state.syncDirectory() }
      syncsDirectory = false
      return SQLITE_OK
    }
  }

  // MARK: - Locks

  private var others: some Sequence<FileHandle> { file.holders.values.lazy.filter { $0 !== self } }

  /// Acquires a lock (https://www.sqlite.org/lockingv3.html).
  func lock(_ wanted: Int32) -> Int32 {
    guard level < wanted else { return SQLITE_OK }
    switch wanted {
    case SQLITE_LOCK_SHARED:
      if others.contains(where: { $0.level >= SQLITE_LOCK_PENDING }) { return SQLITE_BUSY }
    case SQLITE_LOCK_RESERVED:
      if others.contains(where: { $0.level >= SQLITE_LOCK_RESERVED }) { return SQLITE_BUSY }
    default:
      if others.contains(where: { $0.level >= SQLITE_LOCK_RESERVED }) { return SQLITE_BUSY }
      // PENDING: no new readers are admitted, and the current ones must finish first.
      level = SQLITE_LOCK_PENDING
      if others.contains(where: { $0.level >= SQLITE_LOCK_SHARED }) { return SQLITE_BUSY }
    }
    level = wanted
    file.holders[ObjectIdentifier(self)] = self
    return SQLITE_OK
  }

  func unlock(to wanted: Int32) {
    level = min(level, wanted)
    if level == SQLITE_LOCK_NONE { file.holders[ObjectIdentifier(self)] = nil }
  }

  var isReserved: Bool { file.holders.values.contains { $0.level >= SQLITE_LOCK_RESERVED } }

  func joinMemory() -> SharedMemory {
    if let memory { return memory }
    let joined = file.sharedMemory ?? SharedMemory()
    file.sharedMemory = joined
    joined.join(self)
    memory = joined
    return joined
  }

  /// Releases the shared memory and every lock in it; the last user removes it.
  func leaveMemory() {
    guard let left = memory else { return }
    memory = nil
    left.leave(self)
    if left.isUnused, file.sharedMemory === left { file.sharedMemory = nil }
  }
}
