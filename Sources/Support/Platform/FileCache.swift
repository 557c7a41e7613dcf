// Drops a file from the page cache. Blocks; thread-safe.

internal import Glibc

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
