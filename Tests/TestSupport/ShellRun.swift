// Runs a program to its end and captures its output. One thread.

import Glibc
import Platform

/// The result of a program.
public struct ShellRun {
  /// The exit code.
  public let code: Int32
  /// stdout and stderr.
  public let output: String

  /// Runs a program from PATH, without input.
  public init(_ words: [String]) throws {
    let pipe = try Spawn.pipe()
    defer { close(pipe.reading) }
    var process: Spawn
    do {
      // Only the program holds the other end, so end-of-file means that its output is complete.
      defer { close(pipe.writing) }
      process = try Spawn(
        words, files: [(0, .nothingToRead), (1, .same(pipe.writing)), (2, .same(pipe.writing))])
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe read(pipe.reading, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += buffer.prefix(count)
    }
    code = process.wait()
    output = String(decoding: bytes, as: UTF8.self)
  }

  /// Whether a program is in PATH.
  public static func isThere(_ program: String) -> Bool {
    // A failure to start the shell counts as missing.
    (try? ShellRun(["sh", "-c", "command -v \(program)"]).code) == 0
  }
}
