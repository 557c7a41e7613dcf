// A child process that talks through pipes, for what one process cannot show alone.

import Glibc
import Platform

/// A running child. Owns its pipes; `finish` must be called once.
final class ChildProcess {
  private let process: pid_t
  private let input: Int32
  private let output: Int32

  var identifier: Int32 { process }

  /// Starts `words`; the first is looked up in PATH.
  init(_ words: [String]) throws(SystemError) {
    var (toChild, fromChild): ([Int32], [Int32]) = ([0, 0], [0, 0])
    guard unsafe pipe(&toChild) == 0 else { throw .last("pipe") }
    guard unsafe pipe(&fromChild) == 0 else { throw .last("pipe") }
    for end in toChild + fromChild { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    var process = pid_t()
    let code = unsafe posix_spawnp(&process, words[0], &actions, nil, &arguments, environ)
    close(toChild[0])
    close(fromChild[1])
    (self.process, input, output) = (process, toChild[1], fromChild[0])
    guard code == 0 else { throw SystemError(code: code, operation: "posix_spawnp") }
  }

  /// The next line that it prints; nil when it ends, or says nothing for ten seconds.
  func line() -> String? {
    var line: [UInt8] = []
    while true {
      var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      var byte: UInt8 = 0
      guard unsafe poll(&entry, 1, 10_000) > 0, unsafe read(output, &byte, 1) == 1 else { return nil }
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
  }

  /// Ends it and waits for its end.
  func finish() {
    kill(process, SIGKILL)
    close(input)
    close(output)
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
  }

  /// Whether a command can be run at all.
  static func canRun(_ words: [String]) -> Bool {
    // What cannot be started cannot be run.
    guard let child = try? ChildProcess(words) else { return false }
    let answered = child.line() != nil
    child.finish()
    return answered
  }
}

/// A folder that goes away with its last owner, once what was made in it is removed.
final class TestFolder {
  let path: String

  init() throws(SystemError) {
    var template = Array("/tmp/platform-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw .last("mkdtemp") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    for name in ["lock", "socket"] { unsafe unlink("\(path)/\(name)") }
    unsafe rmdir(path)
  }
}
