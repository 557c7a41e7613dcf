// A program that is run to its end, with what it prints. One thread.

import Glibc
import Platform

/// What a program did.
public struct ShellRun {
  /// The exit code.
  public let code: Int32
  /// stdout and stderr.
  public let output: String

  /// Runs a program that the path knows, without input.
  public init(_ words: [String]) throws {
    let pipe = try Spawn.pipe()
    defer { close(pipe.reading) }
    let process: pid_t
    do {
      // The program alone holds the other end, so that its end is the end of what it prints.
      defer { close(pipe.writing) }
      process = try Spawn.start(
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
    code = Spawn.wait(for: process)
    output = String(decoding: bytes, as: UTF8.self)
  }

  /// Whether the path knows a program.
  public static func isThere(_ program: String) -> Bool {
    // One that cannot be started is not there.
    (try? ShellRun(["sh", "-c", "command -v \(program)"]).code) == 0
  }
}
