// Small files that the programs under test write.

import Glibc
import Platform

enum TextFile {
  /// The size of a file; 0 when it does not exist.
  static func size(_ path: String) -> Int {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// When a file was last modified, in nanoseconds; nil when it does not exist.
  static func modified(_ path: String) -> Int64? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
  }

  /// The content of a file from an offset.
  static func read(_ path: String, from offset: Int) -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var (bytes, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 65_536))
    while true {
      let count = unsafe pread(descriptor, &buffer, buffer.count, off_t(offset + bytes.count))
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer[..<count]
    }
  }

  /// The text of a file; empty when it does not exist.
  static func read(_ path: String) -> String {
    // A missing file reads like an empty one.
    guard let content = try? FileReading.content(of: path, bytesMax: 64 << 20) else { return "" }
    return String(decoding: content.bytes, as: UTF8.self)
  }
}
