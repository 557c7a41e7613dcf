// Files that belong to the service even when root creates them. An operator may run receiptd or receiptctl as
// root, and the service must be able to open every file afterwards. Thread-safe.

internal import Glibc

/// An open file of the service. Owns its descriptor.
struct ServiceFile: ~Copyable {
  let descriptor: FileDescriptor
  /// Whether it was missing.
  let isNew: Bool

  var number: Int32 { descriptor.number }

  /// Opens a file, and creates a missing one. A file that root creates gets the owner of its folder.
  /// - Parameters:
  ///   - flags: as for open(2), without O_CREAT.
  ///   - mode: the permission bits of a new file; the umask may clear some.
  init(_ path: String, _ flags: Int32, mode: UInt32) throws(SystemError) {
    guard !path.utf8.contains(0) else { throw SystemError(code: EINVAL, operation: "open") }
    // Another process may create or remove the file between the two calls; three attempts are enough in
    // practice.
    for _ in 0..<3 {
      // O_EXCL follows no symbolic link, so the service's user cannot make root change the owner of another
      // file.
      let made = unsafe open(path, flags | O_CREAT | O_EXCL | O_CLOEXEC, mode)
      if made >= 0 {
        descriptor = try FileDescriptor(made, of: "open")
        isNew = true
        Self.setOwner(of: FileWriting.folder(of: path), made)
        return
      }
      guard errno == EEXIST else { throw .last("open") }
      // O_NOFOLLOW: the service's user cannot make root write to another file.
      let found = unsafe open(path, flags | O_CLOEXEC | O_NOFOLLOW)
      if found >= 0 {
        descriptor = try FileDescriptor(found, of: "open")
        isNew = false
        return
      }
      guard errno == ENOENT else { throw .last("open") }
    }
    throw .last("open")
  }

  /// Only root can change a file's owner (chown(2)). For other users the file already has the right owner.
  private static func setOwner(of folder: String, _ descriptor: Int32) {
    var found = stat()
    guard geteuid() == 0, unsafe stat(folder, &found) == 0 else { return }
    _ = fchown(descriptor, found.st_uid, found.st_gid)
  }
}
