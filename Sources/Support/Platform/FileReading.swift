// Reads a small file whole: configurations, secrets, certificates, key sets, input files of receiptctl. Only
// this file opens paths that a user names. Blocks; called from any thread that does not serve requests.

internal import Glibc

/// The content of a file, and its permissions.
public struct FileContent: Sendable, Equatable {
  public let bytes: [UInt8]
  /// The permission bits (chmod(2)).
  public let mode: UInt32

  /// Whether every user of the machine may read or write the file.
  public var isOpenToAll: Bool { Self.isOpenToAll(mode) }

  /// A file's group is chosen: a service reads the files of root as a member of theirs.
  fileprivate static func isOpenToAll(_ mode: UInt32) -> Bool { mode & 0o006 != 0 }

  public init(bytes: [UInt8], mode: UInt32) {
    self.bytes = bytes
    self.mode = mode
  }
}

/// Reads whole files.
public enum FileReading {
  /// The first bytes of a file; fewer if it is shorter.
  public static func beginning(of path: String, bytes count: Int) throws(SystemError) -> [UInt8] {
    let file = try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    var bytes = [UInt8](repeating: 0, count: count)
    let found = unsafe bytes.withUnsafeMutableBytes { unsafe pread(file.number, $0.baseAddress, $0.count, 0) }
    guard found >= 0 else { throw .last("read") }
    return Array(bytes.prefix(found))
  }

  /// Reads a regular file to its end.
  ///
  /// Any other file is refused: a FIFO, a socket or a terminal could block for ever, and a device may have no
  /// end.
  /// - Parameter bytesMax: a longer file is an error (EFBIG) and not read further.
  /// - Throws: the error of open(2), fstat(2) or read(2); `notARegularFile`; EISDIR for a directory.
  public static func content(of path: String, bytesMax: Int) throws(SystemError) -> FileContent {
    // O_NONBLOCK: otherwise open(2) of a FIFO waits for a writer. It has no effect on a regular file.
    // O_NOCTTY: a terminal must not become this process's controlling terminal. The file is opened before it
    // is checked, so that it cannot be exchanged in between.
    let file: FileDescriptor
    do throws(SystemError) {
      file = try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    } catch {
      // The error of open(2) for a socket, and for a device without its driver.
      throw error.code == ENXIO ? .notARegularFile : error
    }
    var status = stat()
    guard unsafe fstat(file.number, &status) == 0 else { throw .last("fstat") }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw SystemError(code: EISDIR, operation: "read")
    default: throw .notARegularFile
    }
    return FileContent(
      bytes: try bytes(from: file.number, max: bytesMax), mode: UInt32(status.st_mode) & 0o7777)
  }

  /// Reads a file of this program's own to its end, a chunk at a time.
  /// - Parameter onOpen: runs when the file is open; it may remove the file.
  public static func forEachChunk(
    of path: String, onOpen: () -> Void, _ body: ([UInt8]) -> Void
  ) throws(SystemError) {
    let file = try FileDescriptor.open(path, O_RDONLY)
    onOpen()
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(file.number, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw .last("read") }
      guard count > 0 else { return }
      body(Array(chunk.prefix(count)))
    }
  }

  private static func bytes(from file: Int32, max bytesMax: Int) throws(SystemError) -> [UInt8] {
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw .last("read") }
      guard count > 0 else { return content }
      content += chunk.prefix(count)
      guard content.count <= bytesMax else { throw SystemError(code: EFBIG, operation: "read") }
    }
  }
}

// MARK: - FileAge

// When a file was changed, and whether everyone may read it (stat(2)). Thread-safe.

/// What a secret's file shows without being read.
public struct FileAge: Sendable, Equatable {
  /// When its content was last changed, as Unix time in milliseconds.
  public let changedAt: Int64
  /// Whether every user of the machine may read or write the file.
  public let isOpenToAll: Bool

  /// Nil when the file does not exist or its folder may not be searched.
  public init?(path: String) {
    var found = stat()
    guard !path.utf8.contains(0), unsafe stat(path, &found) == 0 else { return nil }
    changedAt = Int64(found.st_mtim.tv_sec) * 1000 + Int64(found.st_mtim.tv_nsec) / 1_000_000
    isOpenToAll = FileContent.isOpenToAll(UInt32(found.st_mode))
  }
}

// MARK: - FileCache

// Drops a file from the page cache. Blocks; thread-safe.

/// Controls the page cache.
public enum FileCache {
  /// Drops the cached pages of a file, so that it is read from the disk again (posix_fadvise(2)). Unwritten
  /// pages stay.
  ///
  /// After a failed fsync(2), Linux marks the unwritten pages as clean and continues to return them. A
  /// program that starts again would rely on data that a power loss removes
  /// (https://wiki.postgresql.org/wiki/Fsync_Errors). Only for files that this process has not opened:
  /// closing any descriptor of a file releases the process's locks on it (fcntl(2)).
  /// - Returns: false when the file does not exist or cannot be opened.
  @discardableResult
  public static func forget(_ path: String) -> Bool {
    guard let file = try? FileDescriptor.open(path, O_RDONLY | O_NONBLOCK) else { return false }
    return posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED) == 0
  }
}

// MARK: - FileDescriptor

// A file descriptor with one owner. The compiler allows no copy of the owner, so the descriptor is closed
// once, on every way out of a scope.

/// Owns a file descriptor; `deinit` closes it.
public struct FileDescriptor: ~Copyable, Sendable {
  /// Open as long as the owner lives.
  public let number: Int32

  /// Takes ownership of the result of a system call.
  /// - Throws: the error of the call, if the result is negative.
  public init(_ result: Int32, of call: String) throws(SystemError) {
    guard result >= 0 else { throw .last(call) }
    number = result
  }

  /// Opens a file (open(2)); close-on-exec.
  /// - Parameter mode: the permission bits of a new file.
  static func open(_ path: String, _ flags: Int32, mode: UInt32 = 0) throws(SystemError) -> FileDescriptor {
    // open(2) would end the path at a NUL and open another file.
    guard !path.utf8.contains(0) else { throw SystemError(code: EINVAL, operation: "open") }
    return try FileDescriptor(unsafe Glibc.open(path, flags | O_CLOEXEC, mode), of: "open")
  }

  deinit { close(number) }
}
