// A lock file that names the process that uses a database exclusively, and its purpose (fcntl(2)). The kernel
// releases the lock when the process ends in any way.
//
// Four bytes of the file are locked. What the holder writes into the file does not concern the locks:
//
// - byte 0: receiptd, which serves
// - byte 1: both, so that only one of them runs
// - byte 2: receiptctl db restore, which replaces the database, or db copy
// - byte 3: every receiptctl that has the database open (shared); db restore while it exchanges the file
//
// 0 to 2 are POSIX record locks, because only those name their holder (F_GETLK), in the pid namespace of the
// caller. Two of them are acquired as one range, so that the holder's purpose is known as soon as it holds
// anything. A process loses its POSIX locks when it closes any descriptor of the file, so a holder must not
// query the lock. 3 is an open file description lock, which does not have this problem.

internal import Glibc

/// What the holder of a lock does with the database.
public enum LockPurpose: Sendable, Equatable, CaseIterable {
  /// receiptd.
  case serving
  /// receiptctl db restore; and db copy, which uses a database as if it replaced it.
  case replacing

  fileprivate var range: (start: Int, length: Int) { self == .serving ? (0, 2) : (1, 2) }
  /// The byte that only this purpose locks.
  fileprivate var mark: Int { self == .serving ? 0 : 2 }
}

/// The holder of a lock.
public struct LockHolder: Sendable, Equatable {
  /// Nil when the holder has no id in this process's pid namespace: it runs in another container, or outside
  /// of this one (fcntl(2) reports process 0 then).
  public var process: Int32?
  public var purpose: LockPurpose

  public init(process: Int32?, purpose: LockPurpose) {
    self.process = process
    self.purpose = purpose
  }

  /// The process, for a message: `process 4711`, or `in another container`.
  public var place: String { process.map { "process \($0)" } ?? "in another container" }
}

/// Why the lock was not acquired.
public enum LockFailure: Error, Sendable, Equatable {
  /// Another process holds the lock; which one is not always known.
  case held(by: LockHolder?)
  case system(SystemError)
}

/// An exclusive lock, held until the value is destroyed.
///
/// Owns the descriptor. Nothing else in this process may open the lock file meanwhile (see above).
public final class FileLock: Sendable {
  fileprivate static let usersByte = 3

  private let file: ServiceFile
  /// Whether this lock created its file.
  public var isNew: Bool { file.isNew }

  /// Acquires the lock, or fails immediately. Creates the file if it is missing.
  public init(path: String, purpose: LockPurpose = .serving) throws(LockFailure) {
    let range = FileRange(start: purpose.range.start, length: purpose.range.length)
    while true {
      let file = try FileRange.openOrMake(path, O_RDWR, mode: 0o640)
      do throws(SystemError) {
        try range.lock(F_WRLCK, file.number, F_SETLK)
      } catch {
        // Nil when the holder has released the lock meanwhile.
        throw error.isHeld ? .held(by: Self.holder(file.number)) : .system(error)
      }
      // The previous holder may have removed the file before it released the lock (`DatabaseLock.abandon`).
      // Other processes would not find a lock on a removed file, so try again.
      if Self.isFile(file.number, at: path) {
        self.file = file
        return
      }
    }
  }

  private static let recordBytesMax = 1024

  /// What the last holder wrote.
  public var record: String { Self.record(file.number) ?? "" }

  /// What the holder of a lock wrote; nil if the file cannot be read. Not for a process that holds the lock:
  /// it would lose it.
  public static func record(path: String) -> String? {
    guard let file = try? FileDescriptor.open(path, O_RDONLY) else { return nil }
    return record(file.number)
  }

  private static func record(_ descriptor: Int32) -> String? {
    var bytes = [UInt8](repeating: 0, count: recordBytesMax)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
    return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// Replaces what is written in the file, and syncs it. A failure is ignored: what is written is a second
  /// safeguard.
  public func write(_ record: String) {
    let bytes = Array(record.utf8)
    let written = unsafe bytes.withUnsafeBytes { unsafe pwrite(file.number, $0.baseAddress, $0.count, 0) }
    guard written == bytes.count, ftruncate(file.number, off_t(bytes.count)) == 0 else { return }
    fsync(file.number)
  }

  /// Whether a path refers to the file of this lock.
  public func isFile(at path: String) -> Bool { Self.isFile(file.number, at: path) }

  private static func isFile(_ descriptor: Int32, at path: String) -> Bool {
    guard let locked = FileIdentity(descriptor: descriptor) else { return false }
    return FileIdentity(path: path)?.isSameFile(as: locked) == true
  }

  /// Prevents other processes from opening the database until `body` returns.
  /// - Throws: `held` when a receiptctl has the database open (`FileUse`); any error of `body`.
  @discardableResult
  public func keepingUsersOut<Result>(_ body: () throws -> Result) throws -> Result {
    let range = FileRange(start: Self.usersByte, length: 1)
    do throws(SystemError) {
      try range.lock(F_WRLCK, file.number, FileRange.setDescriptorLock)
    } catch {
      throw error.isHeld ? LockFailure.held(by: nil) : LockFailure.system(error)
    }
    // If it cannot be unlocked, closing the descriptor releases it.
    defer { try? range.lock(F_UNLCK, file.number, FileRange.setDescriptorLock) }
    return try body()
  }

  /// The process that holds the lock on a file; nil when no process does or the file does not exist.
  public static func holder(path: String) -> LockHolder? {
    guard let file = try? FileDescriptor.open(path, O_RDONLY) else { return nil }
    return holder(file.number)
  }

  private static func holder(_ descriptor: Int32) -> LockHolder? {
    for purpose in LockPurpose.allCases {
      if let number = FileRange(start: purpose.mark, length: 1).holder(descriptor) {
        return LockHolder(process: number > 0 ? number : nil, purpose: purpose)
      }
    }
    return nil
  }
}

/// Marks the database as open in this program, until the value is destroyed.
public final class FileUse: Sendable {
  private let file: ServiceFile

  /// - Parameter path: the lock file; created if it is missing.
  /// - Throws: `held` while the database file is being exchanged.
  public init(path: String) throws(LockFailure) {
    file = try FileRange.openOrMake(path, O_RDONLY, mode: 0o640)
    do throws(SystemError) {
      try FileRange(start: FileLock.usersByte, length: 1).lock(
        F_RDLCK, file.number, FileRange.setDescriptorLock)
    } catch {
      throw error.isHeld ? .held(by: nil) : .system(error)
    }
  }
}

/// An exclusive lock on the file itself, on any path to it: a symbolic link, a hard link, a bind mount of the
/// file. Held until the value is destroyed.
///
/// The lock is on one byte that SQLite neither locks nor uses: the page at 1 GiB holds SQLite's own locks in
/// its first 512 bytes and never any data (https://www.sqlite.org/fileformat2.html#the_lock_byte_page). It is
/// an open file description lock, because a POSIX lock would be lost as soon as any code in this process,
/// such as SQLite, closes a descriptor of the file.
///
/// **Closing this descriptor drops the POSIX locks that SQLite holds on the file in this process**
/// (https://www.sqlite.org/howtocorrupt.html, section 2.2). So acquire it before SQLite opens the file, and
/// release it after SQLite has closed it, or never.
public final class InodeLock: Sendable {
  private static let range = FileRange(start: 0x4000_0000 + 1024, length: 1)

  private let descriptor: FileDescriptor

  /// Acquires the lock, or fails immediately.
  /// - Parameter creates: whether to create an empty file if it is missing.
  /// - Throws: `held` without a holder: the kernel does not report who holds such a lock.
  public init(path: String, creates: Bool) throws(LockFailure) {
    // O_NONBLOCK: see `FileReading`.
    let flags = O_RDWR | O_NONBLOCK
    do throws(SystemError) {
      if creates {
        let file = try ServiceFile(path, flags, mode: 0o644)
        descriptor = file.descriptor
      } else {
        descriptor = try FileDescriptor.open(path, flags)
      }
      var found = stat()
      guard unsafe fstat(descriptor.number, &found) == 0 else { throw .last("fstat") }
      guard found.st_mode & S_IFMT == S_IFREG else { throw .notARegularFile }
      try Self.range.lock(F_WRLCK, descriptor.number, FileRange.setDescriptorLock)
    } catch {
      throw error.isHeld ? .held(by: nil) : .system(error)
    }
  }

  /// Whether another process holds this lock on the file at a path; nil when that cannot be determined. Only
  /// queries, and never locks. Call it before SQLite has the file open in this process, because it closes a
  /// descriptor of the file (see above).
  public static func isHeld(path: String) -> Bool? {
    guard let file = try? FileDescriptor.open(path, O_RDONLY | O_NONBLOCK) else { return nil }
    return range.isDescriptorLocked(file.number)
  }

  /// The locked file and its current number of hard links; 0 when it was removed.
  public var file: FileIdentity? { FileIdentity(descriptor: descriptor.number) }
}

/// A range of bytes of an open file.
struct FileRange {
  /// F_OFD_SETLK, the same number on every Linux architecture (asm-generic/fcntl.h). The headers declare it
  /// only with _GNU_SOURCE.
  static let setDescriptorLock: Int32 = 37
  /// F_OFD_GETLK, likewise.
  private static let askForDescriptorLock: Int32 = 36

  var start: Int
  var length: Int

  /// Opens a file, and creates a missing one. See `ServiceFile`.
  static func openOrMake(
    _ path: String, _ flags: Int32, mode: UInt32
  ) throws(LockFailure) -> ServiceFile {
    do throws(SystemError) {
      return try ServiceFile(path, flags, mode: mode)
    } catch {
      throw .system(error)
    }
  }

  /// - Parameters:
  ///   - type: F_RDLCK, F_WRLCK or F_UNLCK.
  ///   - command: F_SETLK for the process, `setDescriptorLock` for the descriptor.
  func lock(_ type: Int32, _ descriptor: Int32, _ command: Int32) throws(SystemError) {
    var request = request(type)
    guard unsafe fcntl(descriptor, command, &request) == 0 else { throw .last("lock") }
  }

  /// The process that holds a POSIX lock in the range; 0 when it is in another pid namespace.
  func holder(_ descriptor: Int32) -> Int32? {
    var query = request(F_WRLCK)
    guard unsafe fcntl(descriptor, F_GETLK, &query) == 0, query.l_type != Int16(F_UNLCK) else {
      return nil
    }
    return query.l_pid
  }

  /// Whether another descriptor holds a lock in the range; nil when the kernel does not report it.
  func isDescriptorLocked(_ descriptor: Int32) -> Bool? {
    var query = request(F_WRLCK)
    guard unsafe fcntl(descriptor, Self.askForDescriptorLock, &query) == 0 else { return nil }
    return query.l_type != Int16(F_UNLCK)
  }

  private func request(_ type: Int32) -> flock {
    var request = flock()
    request.l_type = Int16(type)
    request.l_whence = Int16(SEEK_SET)
    request.l_start = start
    request.l_len = length
    return request
  }
}

extension SystemError {
  /// Whether another process holds the lock (fcntl(2)).
  fileprivate var isHeld: Bool { operation == "lock" && (code == EAGAIN || code == EACCES) }
}
