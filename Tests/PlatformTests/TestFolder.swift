// A folder for the files of one test.

import Glibc
import Platform

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
