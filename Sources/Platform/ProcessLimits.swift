// What the process sets for itself before it does anything: who may read its files, and how many it may have
// open. The main thread, before any other.

internal import Glibc

/// Settings of the running process.
public enum ProcessLimits {
  /// What the process makes is not for others to read (umask(2)): the database holds users and their
  /// purchases.
  public static func keepFilesPrivate() { umask(0o027) }

  /// As many open files as the system allows this process (setrlimit(2)); connections need them. Where that
  /// is refused, the limit that was given stays.
  public static func raiseOpenFiles() {
    let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard unsafe getrlimit(files, &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    unsafe setrlimit(files, &limit)
  }
}
