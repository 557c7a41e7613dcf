// Reading a small file whole: configurations, secrets, certificates, key sets, what receiptctl is given. The
// only place where this project opens a file that a person names. Blocks for the disk; any thread, but none
// that serves requests.

internal import Glibc

/// What a file holds, and who may look at it.
public struct FileContent: Sendable, Equatable {
  public let bytes: [UInt8]
  /// The permission bits (chmod(2)).
  public let mode: UInt32

  /// Whether anyone but the owner has any right to the file (`mode & 0o077`).
  public var isOpenToOthers: Bool { mode & 0o077 != 0 }

  public init(bytes: [UInt8], mode: UInt32) {
    self.bytes = bytes
    self.mode = mode
  }
}

/// Reading files whole.
public enum FileReading {
  /// Reads a regular file to its end.
  ///
  /// Nothing else is read: a FIFO, a socket or a terminal would make the caller wait for somebody who may
  /// never write, and a device may have no end.
  /// - Parameter bytesMax: a longer file is an error (EFBIG) and not read further.
  /// - Throws: what open(2), fstat(2) or read(2) said; `notARegularFile`; EISDIR for a directory.
  public static func content(of path: String, bytesMax: Int) throws(SystemError) -> FileContent {
    // open(2) would end the path at a NUL and open another file.
    guard !path.utf8.contains(0) else { throw SystemError(code: EINVAL, operation: "open") }
    // O_NONBLOCK: open(2) of a FIFO waits for a writer otherwise. It changes nothing for a regular file.
    // O_NOCTTY: a terminal must not become this process's own. Opened before it is looked at, so that nobody
    // can exchange the file in between.
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else {
      // What open(2) says of a socket, and of a device without its driver.
      throw errno == ENXIO ? .notARegularFile : .last("open")
    }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { throw .last("fstat") }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw SystemError(code: EISDIR, operation: "read")
    default: throw .notARegularFile
    }
    return FileContent(bytes: try bytes(from: file, max: bytesMax), mode: UInt32(status.st_mode) & 0o7777)
  }

  private static func bytes(from file: Int32, max bytesMax: Int) throws(SystemError) -> [UInt8] {
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw .last("read") }
      guard count > 0 else { return content }
      content += chunk.prefix(count)
      guard content.count <= bytesMax else { throw SystemError(code: EFBIG, operation: "read") }
    }
  }
}
