// Which file a path leads to: symbolic links followed, and the number that tells it from every other
// (stat(2), realpath(3)). Any thread.

internal import Glibc

/// What tells a file from every other one, whatever its names are.
public struct FileIdentity: Sendable, Equatable {
  public let device: UInt64
  public let inode: UInt64
  /// By how many names it can be reached (hard links); 0 when it was removed and is only still open.
  public let links: UInt64
  public let bytes: Int64

  /// The file that a path leads to; nil when there is none, or nobody may know.
  public init?(path: String) {
    var found = stat()
    guard !path.utf8.contains(0), unsafe stat(path, &found) == 0 else { return nil }
    self.init(found)
  }

  init?(descriptor: Int32) {
    var found = stat()
    guard unsafe fstat(descriptor, &found) == 0 else { return nil }
    self.init(found)
  }

  private init(_ found: stat) {
    device = UInt64(found.st_dev)
    inode = UInt64(found.st_ino)
    links = UInt64(found.st_nlink)
    bytes = Int64(found.st_size)
  }

  /// Whether both are the same file, though it may have changed.
  public func isSameFile(as other: FileIdentity) -> Bool { device == other.device && inode == other.inode }
}

/// Paths without symbolic links.
public enum FilePath {
  /// As many as Linux follows (path_resolution(7)).
  private static let linksMax = 40

  /// The path of a file with every symbolic link in it followed. The file itself may be missing, also where a
  /// link leads to it; its folder may not.
  public static func resolved(_ path: String) throws(SystemError) -> String {
    guard !path.utf8.contains(0) else { throw SystemError(code: EINVAL, operation: "realpath") }
    var path = path
    for _ in 0...linksMax {
      if let whole = real(path) { return whole }
      guard errno == ENOENT else { throw .last("realpath") }
      if let target = target(ofLink: path) {
        path = target.hasPrefix("/") ? target : FileWriting.folder(of: path) + "/" + target
        continue
      }
      guard let folder = real(FileWriting.folder(of: path)) else { throw .last("realpath") }
      let name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map {
        String(path[path.utf8.index(after: $0)...])
      }
      return (folder == "/" ? "" : folder) + "/" + (name ?? path)
    }
    throw SystemError(code: ELOOP, operation: "realpath")
  }

  private static func real(_ path: String) -> String? {
    guard let buffer = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(buffer) }
    return unsafe String(validatingCString: buffer)
  }

  private static func target(ofLink path: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
        unsafe characters.baseAddress.map { unsafe readlink(path, $0, characters.count) } ?? -1
      }
    }
    return count > 0 ? String(validating: buffer.prefix(count), as: UTF8.self) : nil
  }
}
