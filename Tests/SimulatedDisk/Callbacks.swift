// The functions that SQLite calls (https://www.sqlite.org/c3ref/vfs.html,
// https://www.sqlite.org/c3ref/io_methods.html). Called on any thread that uses the database; each acquires
// the volume's lock while it runs.

internal import CSQLite
internal import Platform
internal import Synchronization

enum Callbacks {
  /// An `sqlite3_file` begins with its methods; our handle's reference follows them.
  private static let handleOffset = unsafe MemoryLayout<sqlite3_file>.stride
  private static let missing = SQLITE_IOERR | (23 << 8)
  private static let shortRead = SQLITE_IOERR | (2 << 8)
  private static let memoryTooSmall = SQLITE_IOERR | (19 << 8)

  /// Never freed: connections refer to it.
  private nonisolated(unsafe) static let methods: UnsafeMutablePointer<sqlite3_io_methods> = {
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    unsafe methods.initialize(to: fileMethods())
    return unsafe methods
  }()

  private static func handle(_ file: UnsafeMutablePointer<sqlite3_file>?) -> FileHandle? {
    guard let file = unsafe file else { return nil }
    let place = unsafe UnsafeRawPointer(file) + handleOffset
    guard let pointer = unsafe place.load(as: UnsafeRawPointer?.self) else { return nil }
    return unsafe Unmanaged<FileHandle>.fromOpaque(pointer).takeUnretainedValue()
  }

  private static func volume(_ vfs: UnsafeMutablePointer<sqlite3_vfs>?) -> Volume? {
    guard let data = unsafe vfs?.pointee.pAppData else { return nil }
    return unsafe Unmanaged<Volume>.fromOpaque(data).takeUnretainedValue()
  }

  private static func text(_ name: UnsafePointer<CChar>?) -> String? {
    guard let name = unsafe name else { return nil }
    return unsafe String(validatingCString: name)
  }

  // MARK: - The file system

  static func vfs() -> sqlite3_vfs {
    var vfs = unsafe sqlite3_vfs()
    unsafe vfs.iVersion = 2
    unsafe vfs.szOsFile = Int32(handleOffset + MemoryLayout<UnsafeRawPointer?>.stride)
    unsafe vfs.mxPathname = 512
    unsafe vfs.xOpen = { unsafe Callbacks.open($0, $1, $2, $3, $4) }
    unsafe vfs.xDelete = { unsafe Callbacks.delete($0, $1, $2) }
    unsafe vfs.xAccess = { unsafe Callbacks.access($0, $1, $2, $3) }
    unsafe vfs.xFullPathname = { _, name, size, full in
      guard let path = unsafe Callbacks.text(name), path.utf8.count < Int(size), let full = unsafe full else {
        return SQLITE_CANTOPEN
      }
      for (index, byte) in (Array(path.utf8) + [0]).enumerated() {
        unsafe full[index] = CChar(bitPattern: byte)
      }
      return SQLITE_OK
    }
    unsafe vfs.xRandomness = { vfs, size, bytes in
      guard let volume = unsafe Callbacks.volume(vfs), let bytes = unsafe bytes else { return 0 }
      volume.monitor.withLock { state in
        for index in 0..<Int(size) {
          unsafe bytes[index] = CChar.random(in: CChar.min...CChar.max, using: &state.random)
        }
      }
      return size
    }
    unsafe vfs.xSleep = { vfs, microseconds in
      guard let volume = unsafe Callbacks.volume(vfs) else { return 0 }
      if volume.monitor.withLock({ $0.properties.waitsForReal }) {
        sqlite3_sleep(max(1, microseconds / 1000))
      }
      return microseconds
    }
    // The relay never gets the time from SQLite.
    unsafe vfs.xCurrentTime = { _, day in
      unsafe day?.pointee = 2_461_000
      return SQLITE_OK
    }
    unsafe vfs.xCurrentTimeInt64 = { _, milliseconds in
      unsafe milliseconds?.pointee = 2_461_000 * 86_400_000
      return SQLITE_OK
    }
    unsafe vfs.xGetLastError = { _, _, _ in 0 }
    return unsafe vfs
  }

  private static func open(
    _ vfs: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?,
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let volume = unsafe volume(vfs), let file = unsafe file else { return SQLITE_CANTOPEN }
    // SQLite calls xClose only if the file has methods.
    unsafe file.pointee.pMethods = nil
    let name = unsafe text(name)
    let code = volume.monitor.withLock { state -> Int32 in
      if let refusal = state.refusal(of: .open) { return refusal }
      guard let opened = FileHandle.open(volume, name, flags, &state) else { return SQLITE_CANTOPEN }
      let place = unsafe UnsafeMutableRawPointer(file) + handleOffset
      unsafe place.storeBytes(
        of: UnsafeRawPointer(Unmanaged.passRetained(opened).toOpaque()), as: UnsafeRawPointer?.self)
      unsafe file.pointee.pMethods = UnsafePointer(methods)
      unsafe outFlags?.pointee =
        state.isReadOnly
        ? flags & ~SQLITE_OPEN_READWRITE & ~SQLITE_OPEN_CREATE | SQLITE_OPEN_READONLY : flags
      return SQLITE_OK
    }
    if code == SQLITE_OK, flags & SQLITE_OPEN_CREATE != 0 { volume.tell(.open) }
    return code
  }

  private static func delete(
    _ vfs: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?, _ syncsDirectory: Int32
  ) -> Int32 {
    guard let volume = unsafe volume(vfs), let name = unsafe text(name) else { return SQLITE_MISUSE }
    let code = volume.monitor.withLock { state -> Int32 in
      if let refusal = state.refusal(of: .delete) { return refusal }
      guard state.files[name] != nil else { return missing }
      state.delete(name)
      return SQLITE_OK
    }
    guard code == SQLITE_OK else { return code }
    volume.tell(.delete)
    if syncsDirectory != 0 { volume.monitor.withLock { $0.syncDirectory() } }
    return code
  }

  private static func access(
    _ vfs: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?, _ flags: Int32,
    _ result: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let volume = unsafe volume(vfs), let name = unsafe text(name) else { return SQLITE_MISUSE }
    return volume.monitor.withLock { state in
      if let refusal = state.refusal(of: .access) { return refusal }
      // Like SQLite's VFS for Unix: an empty file does not exist, because an empty journal counts as none.
      let isThere = state.files[name].map { flags != SQLITE_ACCESS_EXISTS || !$0.bytes.isEmpty } ?? false
      unsafe result?.pointee = isThere ? 1 : 0
      return SQLITE_OK
    }
  }

  // MARK: - A file

  private static func fileMethods() -> sqlite3_io_methods {
    var methods = sqlite3_io_methods()
    methods.iVersion = 2
    unsafe methods.xClose = { file in
      guard let handle = unsafe Callbacks.handle(file) else { return SQLITE_OK }
      handle.close()
      unsafe file?.pointee.pMethods = nil
      // This may release the volume, so no lock is held.
      unsafe Unmanaged.passUnretained(handle).release()
      return SQLITE_OK
    }
    unsafe methods.xRead = { unsafe Callbacks.read($0, $1, $2, $3) }
    unsafe methods.xWrite = { unsafe Callbacks.write($0, $1, $2, $3) }
    unsafe methods.xTruncate = { file, size in
      unsafe Callbacks.handle(file)?.truncate(to: Int(size)) ?? SQLITE_MISUSE
    }
    unsafe methods.xSync = { file, _ in unsafe Callbacks.handle(file)?.sync() ?? SQLITE_MISUSE }
    unsafe methods.xFileSize = { file, size in
      guard let handle = unsafe Callbacks.handle(file) else { return SQLITE_MISUSE }
      return handle.volume.perform(.fileSize, on: handle) { _ in
        unsafe size?.pointee = Int64(handle.file.bytes.count)
        return SQLITE_OK
      }
    }
    unsafe methods.xLock = { file, level in
      guard let handle = unsafe Callbacks.handle(file) else { return SQLITE_MISUSE }
      return handle.volume.perform(.lock, on: handle) { _ in handle.lock(level) }
    }
    unsafe methods.xUnlock = { file, level in
      guard let handle = unsafe Callbacks.handle(file) else { return SQLITE_MISUSE }
      handle.volume.monitor.withLock { _ in handle.unlock(to: level) }
      return SQLITE_OK
    }
    unsafe methods.xCheckReservedLock = { file, result in
      guard let handle = unsafe Callbacks.handle(file) else { return SQLITE_MISUSE }
      unsafe result?.pointee = handle.volume.monitor.withLock { _ in handle.isReserved ? 1 : 0 }
      return SQLITE_OK
    }
    unsafe methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
    unsafe methods.xSectorSize = { _ in 4096 }
    unsafe methods.xDeviceCharacteristics = { file in
      let volume = unsafe Callbacks.handle(file)?.volume
      let isPowersafe = volume?.monitor.withLock { $0.properties.isPowersafe } ?? false
      return isPowersafe ? SQLITE_IOCAP_POWERSAFE_OVERWRITE : 0
    }
    unsafe methods.xShmMap = { unsafe Callbacks.mapMemory($0, $1, $2, $3, $4) }
    unsafe methods.xShmLock = { unsafe Callbacks.lockMemory($0, $1, $2, $3) }
    unsafe methods.xShmBarrier = { file in
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      // Acquiring a lock is a barrier that Thread Sanitizer understands, too.
      unsafe Callbacks.handle(file)?.volume.monitor.withLock { _ in }
    }
    unsafe methods.xShmUnmap = { file, _ in
      guard let handle = unsafe Callbacks.handle(file) else { return SQLITE_MISUSE }
      handle.volume.monitor.withLock { _ in handle.leaveMemory() }
      return SQLITE_OK
    }
    return methods
  }

  private static func read(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ buffer: UnsafeMutableRawPointer?, _ amount: Int32,
    _ offset: Int64
  ) -> Int32 {
    guard let handle = unsafe handle(file), let buffer = unsafe buffer else { return SQLITE_MISUSE }
    let target = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: Int(amount))
    return handle.volume.perform(.read, on: handle) { _ in
      unsafe handle.file.read(into: target, at: Int(offset)) ? SQLITE_OK : shortRead
    }
  }

  private static func write(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ buffer: UnsafeRawPointer?, _ amount: Int32, _ offset: Int64
  ) -> Int32 {
    guard let handle = unsafe handle(file), let buffer = unsafe buffer else { return SQLITE_MISUSE }
    return unsafe handle.write(UnsafeRawBufferPointer(start: buffer, count: Int(amount)), at: Int(offset))
  }

  private static func mapMemory(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ index: Int32, _ size: Int32, _ extend: Int32,
    _ result: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
  ) -> Int32 {
    guard let handle = unsafe handle(file) else { return SQLITE_MISUSE }
    unsafe result?.pointee = nil
    return handle.volume.perform(.memoryMap, on: handle) { state in
      let memory = handle.joinMemory()
      if extend != 0, !state.hasRoom(for: memory.growth(upTo: Int(index), size: Int(size))) {
        return memoryTooSmall
      }
      unsafe result?.pointee = memory.region(Int(index), size: Int(size), extend: extend != 0)
      return SQLITE_OK
    }
  }

  private static func lockMemory(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ offset: Int32, _ count: Int32, _ flags: Int32
  ) -> Int32 {
    guard let handle = unsafe handle(file) else { return SQLITE_MISUSE }
    let slots = Int(offset)..<Int(offset + count)
    guard flags & SQLITE_SHM_UNLOCK == 0 else {
      handle.volume.monitor.withLock { _ in handle.memory?.unlock(slots, for: handle) }
      return SQLITE_OK
    }
    return handle.volume.perform(.memoryLock, on: handle) { _ in
      let isExclusive = flags & SQLITE_SHM_EXCLUSIVE != 0
      return handle.memory?.lock(slots, exclusive: isExclusive, for: handle) ?? SQLITE_MISUSE
    }
  }
}
