// Runs a command and gives what it printed. Without Foundation, whose Process would be the only reason for
// it.

import Glibc
import Platform

enum TestCommand {
  /// Runs `words` (the first is looked up in PATH), feeds it nothing, waits for it.
  /// - Returns: its exit code and its output, standard error included.
  static func run(_ words: [String]) throws -> (code: Int32, output: String) {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { throw SystemError.last("pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    var process = pid_t()
    let code = unsafe posix_spawnp(&process, words[0], &actions, nil, &arguments, environ)
    close(ends[1])
    guard code == 0 else { throw SystemError(code: code, operation: "posix_spawnp") }
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe read(ends[0], &buffer, buffer.count)
      guard count > 0 else { break }
      output += buffer[..<count]
    }
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
    // The low byte is the signal, the next one the exit code (wait(2)).
    return (
      status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F, String(decoding: output, as: UTF8.self)
    )
  }

  /// Runs `body` with a directory of its own, which is gone afterwards.
  static func withDirectory(_ body: (String) throws -> Void) throws {
    var template = Array("/tmp/httpserver-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw SystemError.last("mkdtemp") }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { _ = try? run(["rm", "-r", path]) }
    try body(path)
  }

  static func contents(_ path: String) throws -> String {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw SystemError.last("open") }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe read(file, &buffer, buffer.count)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }
}
