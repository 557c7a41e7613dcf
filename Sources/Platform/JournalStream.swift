// Whether standard error is the journal's own socket, which reads a priority at the beginning of a line. Any
// thread.

internal import Glibc

/// The journal at the other end of standard error.
public enum JournalStream {
  /// systemd says in $JOURNAL_STREAM which device and inode the stream is that it made (systemd.exec(5)). A
  /// program further down may have inherited the variable and write elsewhere, so both are compared.
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
