// What Linux remembers of a file, as against what the disk has. Blocks while it asks; any thread.

internal import Glibc

/// The page cache.
public enum FileCache {
  /// Lets a file be read from the disk again (posix_fadvise(2)); what is still to be written stays.
  ///
  /// After a failed fsync(2) Linux takes what it could not write for written, and goes on showing it, so a
  /// program that starts again would build on what a power loss takes away
  /// (https://wiki.postgresql.org/wiki/Fsync_Errors). For files that this process has not opened: closing any
  /// descriptor of a file ends the process's locks on it (fcntl(2)).
  /// - Returns: false when there is no such file, or it cannot be opened.
  @discardableResult
  public static func forget(_ path: String) -> Bool {
    guard !path.utf8.contains(0) else { return false }
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return false }
    defer { close(file) }
    return posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0
  }
}
