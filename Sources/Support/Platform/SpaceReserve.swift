// Reserved disk space. When the disk is full, the reserve is released so that essential writes continue.
// Thread-safe.

internal import CLibC
internal import Glibc

/// Whether the space is reserved.
public enum SpaceAcquired: Sendable {
  case held
  /// The disk has too little free space.
  case noSpace
  /// Failed for another reason.
  case unavailable
  /// The disk is another machine's: only a write shows whether it has space.
  case remote
}

/// Disk space that can be released, and reserved again later.
public protocol SpaceReserve: Sendable {
  /// Reserves the space, unless it is already reserved.
  func acquire() -> SpaceAcquired
  /// Releases the space for other writes.
  func release()
}

/// A file of zeros beside the file that it reserves space for. Its blocks are allocated (posix_fallocate(3)),
/// so other writers cannot use them.
public struct FileReserve: SpaceReserve {
  private let path: String
  private let bytes: Int

  /// - Parameters:
  ///   - path: a separate file in a folder on that disk.
  ///   - bytes: how much to reserve; at most an eighth of the disk, so that a small disk stays usable.
  public init(path: String, bytes: Int) {
    self.path = path
    self.bytes = bytes
  }

  /// Reserves the space if it and a quarter more are free. The quarter prevents it from reserving the same
  /// space again directly after `release`.
  public func acquire() -> SpaceAcquired {
    let opened: ServiceFile
    do throws(SystemError) {
      opened = try ServiceFile(path, O_RDWR, mode: 0o600)
    } catch {
      return error.code == ENOSPC ? .noSpace : .unavailable
    }
    let file = opened.number
    var disk = statvfs()
    var found = stat()
    guard unsafe fstatvfs(file, &disk) == 0, unsafe fstat(file, &found) == 0 else { return .unavailable }
    func bytes(_ blocks: UInt) -> Int {
      let (product, isTooMuch) = Int(clamping: blocks).multipliedReportingOverflow(
        by: Int(clamping: disk.f_frsize))
      return isTooMuch ? .max : product
    }
    let goal = min(self.bytes, bytes(disk.f_blocks) / 8)
    if Int(found.st_size) >= goal { return .held }
    guard bytes(disk.f_bavail) - Int(found.st_size) >= goal + goal / 4 else { return .noSpace }
    let failure = posix_fallocate(file, 0, off_t(goal))
    if failure == 0 { return .held }
    // A partial reserve is not useful.
    ftruncate(file, 0)
    return failure == ENOSPC ? .noSpace : .unavailable
  }

  public func release() {
    guard let file = try? FileDescriptor.open(path, O_WRONLY | O_NOFOLLOW) else { return }
    ftruncate(file.number, 0)
  }
}

// MARK: - DiskSpace

// The free space of a disk, and the size of a file (statvfs(3), stat(2)). Thread-safe.

/// The disk space at a path.
public enum DiskSpace {
  /// The bytes that an unprivileged process can still write; nil when the system does not report them.
  public static func availableBytes(at path: String) -> Int64? {
    var disk = statvfs()
    guard unsafe statvfs(path, &disk) == 0 else { return nil }
    let (bytes, isTooMuch) = Int64(clamping: disk.f_bavail).multipliedReportingOverflow(
      by: Int64(clamping: disk.f_frsize))
    return isTooMuch ? .max : bytes
  }

  /// The length of a file; nil when there is none.
  public static func fileBytes(at path: String) -> Int64? {
    var file = stat()
    guard unsafe stat(path, &file) == 0 else { return nil }
    return Int64(file.st_size)
  }
}

// MARK: - FileSystemKind

// Whether a file system is of another machine or another process (statfs(2)). Thread-safe.

/// The kinds of file systems that a database must not be on.
public enum FileSystemKind {
  /// The name of the network file system, or that of another process, at a path; nil for any other.
  public static func remote(at path: String) -> String? { type(at: path).flatMap(remote(type:)) }

  /// `f_type` of statfs(2).
  static func type(at path: String) -> UInt32? {
    var found = statfs()
    guard !path.utf8.contains(0), unsafe statfs(path, &found) == 0 else { return nil }
    return UInt32(truncatingIfNeeded: found.f_type)
  }

  static func remote(type: UInt32) -> String? {
    switch type {
    case 0x6969: "nfs"
    case 0x517B, 0xFE53_4D42, 0xFF53_4D42: "cifs"
    case 0x6573_5546: "fuse"
    default: nil
    }
  }
}
