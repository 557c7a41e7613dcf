// A lock on a file that tells who holds it (fcntl(2), POSIX record locks). It goes with the process, however
// that ends.

internal import Glibc

/// An exclusive lock on a file, held until the value is gone.
///
/// Owns the descriptor. POSIX locks are lost when the process closes *any* descriptor of the file, so nothing
/// else may open the lock file.
public final class FileLock: Sendable {
  private let descriptor: Int32

  /// Why there is no lock.
  public enum Failure: Error, Sendable, Equatable {
    /// Another process has it.
    case held(by: Int32)
    case system(SystemError)
  }

  /// Takes the lock at once or not at all. The file is made if it is not there.
  public init(path: String) throws(Failure) {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o640)
    guard descriptor >= 0 else { throw .system(.last("open")) }
    var request = Self.request(F_WRLCK)
    guard unsafe fcntl(descriptor, F_SETLK, &request) == 0 else {
      let error = SystemError.last("lock")
      let holder = Self.holder(descriptor)
      close(descriptor)
      guard let holder else { throw .system(error) }
      throw .held(by: holder)
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// The process that holds the lock on a file; nil when none does or there is no such file.
  public static func holder(path: String) -> Int32? {
    let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return holder(descriptor)
  }

  private static func holder(_ descriptor: Int32) -> Int32? {
    var question = request(F_WRLCK)
    guard unsafe fcntl(descriptor, F_GETLK, &question) == 0, question.l_type != Int16(F_UNLCK) else {
      return nil
    }
    return question.l_pid
  }

  private static func request(_ type: Int32) -> flock {
    var request = flock()
    request.l_type = Int16(type)
    request.l_whence = Int16(SEEK_SET)
    return request
  }
}
