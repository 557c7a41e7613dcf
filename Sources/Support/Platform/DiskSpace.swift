// The free space of a disk, and the size of a file (statvfs(3), stat(2)). Thread-safe.

internal import Glibc

/// The disk space at a path.
public enum DiskSpace {
  /// The bytes that an unprivileged process can still write; nil when the system does not report them.
  public static func availableBytes(at path: String) -> Int64? {
    var disk = statvfs()
    guard unsafe statvfs(path, &disk) == 0 else { return nil }
    let (bytes, isTooMuch) = Int64(clamping: disk.f_bavail).multipliedReportingOverflow(
      by: Int64(clamping: disk.f_frsize))
    return isTooMuch ? .max : bytes
  }

  /// The length of a file; nil when there is none.
  public static func fileBytes(at path: String) -> Int64? {
    var file = stat()
    guard unsafe stat(path, &file) == 0 else { return nil }
    return Int64(file.st_size)
  }
}
