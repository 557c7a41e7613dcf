// When a file was changed, and whether everyone may read it (stat(2)). Thread-safe.

internal import Glibc

/// What a secret's file shows without being read.
public struct FileAge: Sendable, Equatable {
  /// When its content was last changed, as Unix time in milliseconds.
  public let changedAt: Int64
  /// Whether users who are neither its owner nor in its group have any access.
  public let isOpenToAll: Bool

  /// Nil when the file does not exist or its folder may not be searched.
  public init?(path: String) {
    var found = stat()
    guard !path.utf8.contains(0), unsafe stat(path, &found) == 0 else { return nil }
    changedAt = Int64(found.st_mtim.tv_sec) * 1000 + Int64(found.st_mtim.tv_nsec) / 1_000_000
    isOpenToAll = found.st_mode & 0o007 != 0
  }
}
