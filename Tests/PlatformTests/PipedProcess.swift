// A child process with pipes, for tests that need two processes.

import Glibc
import Platform
import TestSupport

/// A running child. Owns its pipes; `finish` must be called once.
final class PipedProcess {
  private let process: pid_t
  private let input: Int32
  private let output: Int32

  var identifier: Int32 { process }

  /// Starts `words`; the first is looked up in PATH.
  init(_ words: [String]) throws(SystemError) {
    let (toChild, fromChild) = (try Spawn.pipe(), try Spawn.pipe())
    defer {
      close(toChild.reading)
      close(fromChild.writing)
    }
    (input, output) = (toChild.writing, fromChild.reading)
    process = try Spawn.start(
      words, files: [(0, .same(toChild.reading)), (1, .same(fromChild.writing))])
  }

  /// The next line of its output; nil at its end, or after ten seconds without one.
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

  /// Ends the child and waits for it.
  func finish() {
    close(input)
    close(output)
    Spawn.kill(process)
  }

  /// Whether a command can be run.
  static func canRun(_ words: [String]) -> Bool {
    // A command that cannot be started cannot be run.
    guard let child = try? PipedProcess(words) else { return false }
    let answered = child.line() != nil
    child.finish()
    return answered
  }
}

/// A new folder. `deinit` removes it with its `lock` and `socket`; the test removes other files first.
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
