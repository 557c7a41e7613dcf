// A file descriptor with one owner. The compiler allows no copy of the owner, so the descriptor is closed
// once, on every way out of a scope.

internal import Glibc

/// Owns a file descriptor; `deinit` closes it.
public struct FileDescriptor: ~Copyable, Sendable {
  /// Open as long as the owner lives.
  public let number: Int32

  /// Takes ownership of the result of a system call.
  /// - Throws: the error of the call, if the result is negative.
  public init(_ result: Int32, of call: String) throws(SystemError) {
    guard result >= 0 else { throw .last(call) }
    number = result
  }

  /// Opens a file (open(2)); close-on-exec.
  /// - Parameter mode: the permission bits of a new file.
  static func open(_ path: String, _ flags: Int32, mode: UInt32 = 0) throws(SystemError) -> FileDescriptor {
    // open(2) would end the path at a NUL and open another file.
    guard !path.utf8.contains(0) else { throw SystemError(code: EINVAL, operation: "open") }
    return try FileDescriptor(unsafe Glibc.open(path, flags | O_CLOEXEC, mode), of: "open")
  }

  deinit { close(number) }
}
