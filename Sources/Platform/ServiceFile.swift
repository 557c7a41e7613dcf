// Files that belong to the service although root may make them: an operator starts receiptd, or runs
// receiptctl, by hand as root, and the service must be able to open every file afterwards. Any thread.

internal import Glibc

/// Opening a file that is made where it is missing.
enum ServiceFile {
  /// Opens a file; a missing one is made. One that root makes belongs to the owner of its folder.
  /// - Parameters:
  ///   - flags: as of open(2), without O_CREAT.
  ///   - mode: the permission bits of a new file; the umask may take some away.
  /// - Returns: the descriptor, and whether this call made the file.
  static func open(
    _ path: String, _ flags: Int32, mode: UInt32
  ) throws(SystemError) -> (descriptor: Int32, isNew: Bool) {
    guard !path.utf8.contains(0) else { throw SystemError(code: EINVAL, operation: "open") }
    // Others may make and remove it between the two calls, but hardly ever twice.
    for _ in 0..<3 {
      // O_EXCL follows no symbolic link: the service's user cannot have root give another file away.
      let made = unsafe Glibc.open(path, flags | O_CREAT | O_EXCL | O_CLOEXEC, mode)
      if made >= 0 {
        giveToOwner(of: FileWriting.folder(of: path), made)
        return (made, true)
      }
      guard errno == EEXIST else { throw .last("open") }
      // Nor does this call: the service's user cannot have root write to another file.
      let found = unsafe Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW)
      if found >= 0 { return (found, false) }
      guard errno == ENOENT else { throw .last("open") }
    }
    throw .last("open")
  }

  /// Only root may give files away (chown(2)); the files of other users are theirs already.
  private static func giveToOwner(of folder: String, _ descriptor: Int32) {
    var found = stat()
    guard geteuid() == 0, unsafe stat(folder, &found) == 0 else { return }
    _ = fchown(descriptor, found.st_uid, found.st_gid)
  }
}
