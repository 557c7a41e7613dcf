// Settings that the process makes at its start: the permissions of its files, and the number of open files.
// Call it on the main thread before any other thread starts.

internal import Glibc

/// Settings of the running process.
public enum ProcessLimits {
  /// Other users may not read the files that the process creates (umask(2)): the database holds users and
  /// their purchases.
  public static func keepFilesPrivate() { umask(0o027) }

  /// How many files the process may open; nil if it is not limited, or the limit cannot be read.
  public static var openFiles: Int? {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
    return Int(exactly: limit.rlim_cur)
  }

  /// Raises the limit of open files to the hard limit (setrlimit(2)), because connections need them. If that
  /// fails, the limit is unchanged.
  public static func raiseOpenFiles() {
    let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard unsafe getrlimit(files, &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    unsafe setrlimit(files, &limit)
  }
}
