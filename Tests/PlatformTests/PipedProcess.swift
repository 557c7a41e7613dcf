// A child process that talks through pipes, for what one process cannot show alone.

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
    close(input)
    close(output)
    Spawn.kill(process)
  }

  /// Whether a command can be run at all.
  static func canRun(_ words: [String]) -> Bool {
    // What cannot be started cannot be run.
    guard let child = try? PipedProcess(words) else { return false }
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
