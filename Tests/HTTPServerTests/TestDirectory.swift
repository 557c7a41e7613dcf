// A directory for one test, and the content of its files. Without Foundation, which nothing else here needs.

import Glibc
import Platform
import TestSupport

enum TestDirectory {
  /// Runs `body` with a new directory, and removes it afterwards.
  static func with(_ body: (String) throws -> Void) throws {
    var template = Array("/tmp/httpserver-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw SystemError.last("mkdtemp") }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { _ = try? ShellRun(["rm", "-r", path]) }
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
