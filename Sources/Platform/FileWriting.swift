// Making a small file, and making sure that it stays: starter configurations, backups. Blocks; any thread,
// but none that serves requests.

internal import Glibc

/// Making files, and making them durable.
public enum FileWriting {
  /// Makes a file that is not there yet, writes it and syncs it. What could not be written whole is removed
  /// again.
  /// - Parameter mode: the permission bits (chmod(2)); the umask may take some away.
  /// - Throws: what open(2), write(2) or fsync(2) said; `isExistingFile` when something has the name already.
  public static func create(_ path: String, _ bytes: [UInt8] = [], mode: UInt32) throws(SystemError) {
    let file = unsafe open(try checked(path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard file >= 0 else { throw .last("open") }
    do throws(SystemError) {
      defer { close(file) }
      try write(bytes, to: file)
      guard fsync(file) == 0 else { throw SystemError.last("fsync") }
    } catch {
      remove(path)
      throw error
    }
  }

  /// Makes what was written to a file, or the names in a folder, survive a power loss (fsync(2)).
  public static func sync(_ path: String) throws(SystemError) {
    let file = unsafe open(try checked(path), O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw .last("open") }
    defer { close(file) }
    guard fsync(file) == 0 else { throw .last("fsync") }
  }

  /// Gives a file another name in the same file system, in one step (rename(2)); what had that name is gone.
  public static func rename(_ path: String, to newPath: String) throws(SystemError) {
    guard unsafe Glibc.rename(try checked(path), try checked(newPath)) == 0 else { throw .last("rename") }
  }

  /// Gives a file a second name in the same file system (link(2)).
  /// - Throws: `isExistingFile` when something has that name already.
  public static func link(_ path: String, to secondPath: String) throws(SystemError) {
    guard unsafe Glibc.link(try checked(path), try checked(secondPath)) == 0 else { throw .last("link") }
  }

  /// Gives a file to whom its folder belongs (chown(2)), where this user may do so: what root makes for a
  /// service is the service's to write. A symbolic link is not followed.
  public static func takeOwner(of folder: String, for path: String) {
    var found = stat()
    guard !folder.utf8.contains(0), !path.utf8.contains(0), unsafe stat(folder, &found) == 0, geteuid() == 0
    else {
      return
    }
    _ = unsafe lchown(path, found.st_uid, found.st_gid)
  }

  /// Whether two paths lead to one file (stat(2)).
  public static func isSameFile(_ path: String, _ other: String) -> Bool {
    var (one, two) = (stat(), stat())
    guard !path.utf8.contains(0), !other.utf8.contains(0), unsafe stat(path, &one) == 0,
      unsafe stat(other, &two) == 0
    else { return false }
    return one.st_dev == two.st_dev && one.st_ino == two.st_ino
  }

  /// Removes a file. One that cannot be removed, or is not there, is left as it is.
  public static func remove(_ path: String) {
    guard !path.utf8.contains(0) else { return }
    unsafe unlink(path)
  }

  /// The folder that a path's last name stands in.
  public static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Why a file cannot be read and written by this process (access(2)); nil when it can.
  public static func accessFault(_ path: String) -> SystemError? {
    guard !path.utf8.contains(0) else { return SystemError(code: EINVAL, operation: "access") }
    return unsafe access(path, R_OK | W_OK) == 0 ? nil : .last("access")
  }

  private static func checked(_ path: String) throws(SystemError) -> String {
    // open(2) would end the path at a NUL and take another file.
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
  /// Whether something has the name already.
  public var isExistingFile: Bool { code == EEXIST }

  /// Whether there is nothing of that name.
  public var isMissingFile: Bool { code == ENOENT || code == ENOTDIR }

  /// Whether there is no process of that id (kill(2)).
  public var isMissingProcess: Bool { code == ESRCH }
}
