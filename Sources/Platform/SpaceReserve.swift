// Space on the disk that is kept back for the day on which there is none left: what must go on then, goes on
// in it. Any thread.

internal import Glibc

/// Whether space is kept back.
public enum SpaceTaken: Sendable {
  case held
  /// The disk has too little left.
  case noSpace
  /// For another reason than a lack of space.
  case unavailable
}

/// Space that can be given up, and taken again later.
public protocol SpaceReserve: Sendable {
  /// Takes the space, unless it is held already.
  func take() -> SpaceTaken
  /// Gives the space up for others to use.
  func giveUp()
}

/// A file of zeros beside the file that it keeps space for. Its blocks are allocated (posix_fallocate(3)), so
/// they are not lost to whoever fills the disk.
public struct FileReserve: SpaceReserve {
  private let path: String
  private let bytes: Int

  /// - Parameters:
  ///   - path: a file of its own, in the folder whose disk it is about.
  ///   - bytes: how much to keep back; an eighth of a disk at most, so that a small one is of use at all.
  public init(path: String, bytes: Int) {
    self.path = path
    self.bytes = bytes
  }

  /// After it was given up it is taken again only when the disk has a quarter more than that: not the space
  /// that was just set free.
  public func take() -> SpaceTaken {
    let file: Int32
    do throws(SystemError) {
      file = try ServiceFile.open(path, O_RDWR, mode: 0o600).descriptor
    } catch {
      return error.code == ENOSPC ? .noSpace : .unavailable
    }
    defer { close(file) }
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
    // Half a reserve is none.
    ftruncate(file, 0)
    return failure == ENOSPC ? .noSpace : .unavailable
  }

  public func giveUp() {
    let file = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { return }
    ftruncate(file, 0)
    close(file)
  }
}
