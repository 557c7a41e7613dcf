// The file that a path refers to: symbolic links resolved, and the numbers that identify it (stat(2),
// realpath(3)). Thread-safe.

internal import Glibc

/// Identifies a file, whatever its names are.
public struct FileIdentity: Sendable, Equatable {
  public let device: UInt64
  public let inode: UInt64
  /// The number of hard links; 0 when the file was removed and is only still open.
  public let links: UInt64
  public let bytes: Int64

  /// The file that a path refers to; nil when it does not exist or may not be accessed.
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

  /// Whether both are the same file, whose content may have changed.
  public func isSameFile(as other: FileIdentity) -> Bool { device == other.device && inode == other.inode }
}

/// Paths without symbolic links.
public enum FilePath {
  /// The limit that Linux uses (path_resolution(7)).
  private static let linksMax = 40

  /// The path of a file with every symbolic link resolved. The file may be missing, also as the target of a
  /// link; its folder must exist.
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

  /// The files in a folder whose paths begin with a text, sorted; empty if the folder cannot be read.
  public static func beginning(with start: String) -> [String] {
    let folder = FileWriting.folder(of: start)
    guard !start.utf8.contains(0), let listing = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(listing) }
    var found: [String] = []
    while let entry = unsafe readdir(listing) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      let path = (folder == "/" ? "" : folder) + "/" + String(decoding: name, as: UTF8.self)
      if path.utf8.starts(with: start.utf8) { found.append(path) }
    }
    return found.sorted()
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
