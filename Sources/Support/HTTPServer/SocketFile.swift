// The file of a listening Unix socket: permissions and removal. Called from the threads that start and stop
// the server.

internal import Glibc
internal import Platform

/// A bound, listening, non-blocking Unix socket with its file. The creator owns the descriptor; `remove`
/// deletes the file.
struct SocketFile {
  let descriptor: Int32
  private let path: String
  private let identity: (device: dev_t, inode: ino_t)

  /// Owner and group may connect (unix(7): it needs write permission on the file).
  private static let mode: mode_t = 0o660
  private static let backlog: Int32 = 64

  /// - Throws: `invalidSocket`, or `system` with the call that failed.
  init(_ path: String) throws(ServerError) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let size = MemoryLayout.size(ofValue: address.sun_path)
    // Leaves room for the terminating NUL.
    guard !path.isEmpty, path.utf8.count < size, !path.utf8.contains(0) else {
      throw .invalidSocket("the path of a Unix socket has 1 to \(size - 1) bytes (unix(7))")
    }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    try Self.removeStale(path, address)
    let descriptor = try Self.open()
    do throws(ServerError) {
      guard unsafe Self.with(address, { unsafe bind(descriptor, $0, $1) }) == 0 else {
        throw ServerError.system(.last("bind"))
      }
      // No client can connect before `listen`, so the mode of the file does not matter until here.
      guard unsafe chmod(path, Self.mode) == 0 else { throw ServerError.system(.last("chmod")) }
      guard listen(descriptor, Self.backlog) == 0 else { throw ServerError.system(.last("listen")) }
      guard let identity = Self.identity(of: path) else { throw ServerError.system(.last("stat")) }
      self.identity = identity
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
    self.path = path
  }

  /// Removes the file, unless another one has replaced it.
  func remove() {
    guard let found = Self.identity(of: path), found == identity else { return }
    unsafe unlink(path)
  }

  /// Removes the file of a process that ended without removing it. Throws for a file that is not a socket, or
  /// on which a process listens.
  private static func removeStale(_ path: String, _ address: sockaddr_un) throws(ServerError) {
    var entry = stat()
    guard unsafe lstat(path, &entry) == 0 else { return }
    guard entry.st_mode & S_IFMT == S_IFSOCK else {
      throw .invalidSocket("\(path) exists and is not a socket; name another path, or remove it")
    }
    let probe = try open()
    defer { close(probe) }
    if unsafe with(address, { unsafe connect(probe, $0, $1) }) == 0 || errno != ECONNREFUSED {
      throw .invalidSocket("another process listens on \(path)")
    }
    unsafe unlink(path)
  }

  private static func open() throws(ServerError) -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Listener.socketFlags, 0)
    guard descriptor >= 0 else { throw .system(.last("socket")) }
    return descriptor
  }

  private static func with(
    _ address: sockaddr_un, _ call: (UnsafePointer<sockaddr>?, socklen_t) -> Int32
  ) -> Int32 {
    unsafe withUnsafeBytes(of: address) { bytes in
      unsafe bytes.withMemoryRebound(to: sockaddr.self) {
        unsafe call($0.baseAddress, socklen_t(bytes.count))
      }
    }
  }

  private static func identity(of path: String) -> (device: dev_t, inode: ino_t)? {
    var entry = stat()
    guard unsafe lstat(path, &entry) == 0 else { return nil }
    return (entry.st_dev, entry.st_ino)
  }
}
