// Whether standard error is the journal's socket, which reads a priority at the beginning of a line.
// Thread-safe.

internal import Glibc

/// Detects the journal on standard error.
public enum JournalStream {
  /// Whether the device and inode in $JOURNAL_STREAM are those of standard error (systemd.exec(5)). A child
  /// process may have inherited the variable and write to another stream, so both are compared.
  public static func isStandardError(environment: Environment = .process) -> Bool {
    isStream(STDERR_FILENO, environment: environment)
  }

  static func isStream(_ descriptor: Int32, environment: Environment) -> Bool {
    let numbers = environment["JOURNAL_STREAM"]?.split(separator: ":", omittingEmptySubsequences: false)
    guard let numbers, numbers.count == 2, let device = UInt64(numbers[0]), let inode = UInt64(numbers[1])
    else { return false }
    var file = stat()
    guard unsafe fstat(descriptor, &file) == 0 else { return false }
    return UInt64(file.st_dev) == device && UInt64(file.st_ino) == inode
  }
}
