// Creates small files and makes them durable: starter configurations, backups. Blocks; called from any thread
// that does not serve requests.

internal import Glibc

/// Creates files, and makes them durable.
public enum FileWriting {
  /// Creates a new file, writes it and syncs it. Removes the file if it could not be written completely.
  /// - Parameter mode: the permission bits (chmod(2)); the umask may clear some.
  /// - Throws: the error of open(2), write(2) or fsync(2); `isExistingFile` when the name is already used.
  public static func create(_ path: String, _ bytes: [UInt8] = [], mode: UInt32) throws(SystemError) {
    let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
    do throws(SystemError) {
      try write(bytes, to: file.number)
      guard fsync(file.number) == 0 else { throw SystemError.last("fsync") }
    } catch {
      remove(path)
      throw error
    }
  }

  /// Makes the content of a file, or the names in a folder, survive a power loss (fsync(2)).
  public static func sync(_ path: String) throws(SystemError) {
    let file = try FileDescriptor.open(path, O_RDONLY)
    guard fsync(file.number) == 0 else { throw .last("fsync") }
  }

  /// Renames a file in the same file system atomically (rename(2)). Replaces a file of the new name.
  public static func rename(_ path: String, to newPath: String) throws(SystemError) {
    guard unsafe Glibc.rename(try checked(path), try checked(newPath)) == 0 else { throw .last("rename") }
  }

  /// Gives a file a second name in the same file system (link(2)).
  /// - Throws: `isExistingFile` when the name is already used.
  public static func link(_ path: String, to secondPath: String) throws(SystemError) {
    guard unsafe Glibc.link(try checked(path), try checked(secondPath)) == 0 else { throw .last("link") }
  }

  /// Gives a file the owner of its folder, or of the file that it replaces (chown(2)), if this process runs
  /// as root, so that the service can write to files that root creates. Does not follow a symbolic link.
  public static func copyOwner(of model: String, for path: String) {
    var found = stat()
    guard !model.utf8.contains(0), !path.utf8.contains(0), unsafe stat(model, &found) == 0, geteuid() == 0
    else {
      return
    }
    _ = unsafe lchown(path, found.st_uid, found.st_gid)
  }

  /// Gives a file the permission bits of another one (chmod(2)).
  public static func copyMode(of model: String, for path: String) throws(SystemError) {
    var found = stat()
    guard unsafe stat(try checked(model), &found) == 0 else { throw .last("stat") }
    guard unsafe chmod(try checked(path), found.st_mode & 0o777) == 0 else { throw .last("chmod") }
  }

  /// Whether two paths refer to one file (stat(2)).
  public static func isSameFile(_ path: String, _ other: String) -> Bool {
    var (one, two) = (stat(), stat())
    guard !path.utf8.contains(0), !other.utf8.contains(0), unsafe stat(path, &one) == 0,
      unsafe stat(other, &two) == 0
    else { return false }
    return one.st_dev == two.st_dev && one.st_ino == two.st_ino
  }

  /// Removes a file. Ignores a file that is missing or cannot be removed.
  public static func remove(_ path: String) {
    guard !path.utf8.contains(0) else { return }
    unsafe unlink(path)
  }

  /// The folder that contains the last name of a path.
  public static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Why this process cannot read and write a file (access(2)); nil when it can.
  public static func accessFault(_ path: String) -> SystemError? {
    guard !path.utf8.contains(0) else { return SystemError(code: EINVAL, operation: "access") }
    return unsafe access(path, R_OK | W_OK) == 0 ? nil : .last("access")
  }

  private static func checked(_ path: String) throws(SystemError) -> String {
    // open(2) would end the path at a NUL and use another file.
    guard !path.utf8.contains(0) else { throw SystemError(code: EINVAL, operation: "open") }
    return path
  }

  private static func write(_ bytes: [UInt8], to file: Int32) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
      if written < 0 && errno == EINTR { continue }
      guard written >= 0 else { throw .last("write") }
      rest = rest.dropFirst(written)
    }
  }
}

extension SystemError {
  /// Whether the name is already used.
  public var isExistingFile: Bool { code == EEXIST }

  /// Whether the file does not exist.
  public var isMissingFile: Bool { code == ENOENT || code == ENOTDIR }

  /// Whether the process does not exist (kill(2)).
  public var isMissingProcess: Bool { code == ESRCH }
}

// MARK: - DiskSync

// How long a disk takes to keep a small write: every answer of receiptd waits for one (fsync(2)). Blocks.

/// Measures a disk.
public enum DiskSync {
  private static let bytes = [UInt8](repeating: 0, count: 4096)

  /// Writes 4 KiB into a file without a name, which the system removes in any case, and syncs it.
  /// - Parameter folder: on the disk; the process must be allowed to write there.
  /// - Returns: the median of three; nil where such a file cannot be made, or the write fails.
  public static func median(in folder: String) -> Duration? {
    // O_TMPFILE, a GNU macro that Swift cannot read.
    let flags = 0o20000000 | O_DIRECTORY | O_WRONLY
    // Without the file there is nothing to measure.
    guard let file = try? FileDescriptor.open(folder, flags, mode: 0o600) else { return nil }
    var times: [Duration] = []
    for _ in 0..<3 {
      let start = MonotonicInstant.now()
      guard unsafe write(file.number, bytes, bytes.count) == bytes.count, fsync(file.number) == 0 else {
        return nil
      }
      times.append(MonotonicInstant.now().duration(since: start))
    }
    return times.sorted()[1]
  }
}
