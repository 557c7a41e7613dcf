// Reading a small file whole: configurations, secrets, certificates. Blocks; any thread, but none that serves
// requests.

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
  /// Reads a regular file, or a pipe such as a shell's `<(…)`, to its end.
  /// - Parameter bytesMax: a longer file is an error (EFBIG) and not read further.
  /// - Throws: what open(2), fstat(2) or read(2) said.
  public static func content(of path: String, bytesMax: Int) throws(SystemError) -> FileContent {
    // open(2) would end the path at a NUL and open another file.
    guard !path.utf8.contains(0) else { throw SystemError(code: EINVAL, operation: "open") }
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw .last("open") }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { throw .last("fstat") }
    guard status.st_mode & S_IFMT != S_IFDIR else { throw SystemError(code: EISDIR, operation: "read") }
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
