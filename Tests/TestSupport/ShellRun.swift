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
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { throw SystemError.last("pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    var process = pid_t()
    let failure = unsafe posix_spawnp(&process, words[0], &actions, nil, &arguments, environ)
    close(ends[1])
    defer { close(ends[0]) }
    guard failure == 0 else { throw SystemError(code: failure, operation: "posix_spawnp") }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe read(ends[0], &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += buffer.prefix(count)
    }
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
    code = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    output = String(decoding: bytes, as: UTF8.self)
  }

  /// Whether the path knows a program.
  public static func isThere(_ program: String) -> Bool {
    // One that cannot be started is not there.
    (try? ShellRun(["sh", "-c", "command -v \(program)"]).code) == 0
  }
}
