// How much room a disk has, and how much of it a file takes (statvfs(3), stat(2)). Any thread.

internal import Glibc

/// Room on the disk that a path is on.
public enum DiskSpace {
  /// What a process without special rights may still write; nil when nobody can say.
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
