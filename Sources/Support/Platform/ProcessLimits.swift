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

// MARK: - OpenDescriptors

// The descriptors that this process has open. Any thread.

public enum OpenDescriptors {
  /// Their numbers, from proc(5); empty if they cannot be read. Other threads may open and close some
  /// meanwhile. The listing's own descriptor is among them.
  public static func numbers() -> [Int32] {
    guard let folder = unsafe opendir("/proc/self/fd") else { return [] }
    defer { unsafe closedir(folder) }
    var found: [Int32] = []
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      if let number = Int32(String(decoding: name, as: UTF8.self)) { found.append(number) }
    }
    return found
  }
}
