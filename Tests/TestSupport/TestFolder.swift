// A folder for the files of one test.

internal import FoundationEssentials
internal import Glibc
internal import Platform

/// A new folder with a short path, as sockets need. Owns it; `deinit` removes it with everything in it.
public final class TestFolder: Sendable {
  public let path: String

  public init() throws {
    var template = Array("/tmp/receipt-relay-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw SystemError.last("mkdtemp") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  // A leftover in /tmp must not fail a test.
  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of a file in it.
  public func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file, or replaces the content of one.
  /// - Parameter mode: its permissions; without it, only its owner can read it.
  /// - Returns: its path.
  @discardableResult public func write(
    _ text: String, to name: String = "file", mode: UInt32 = 0o600
  ) throws -> String {
    let path = file(name)
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    guard descriptor >= 0, fchmod(descriptor, mode) == 0 else { throw SystemError.last("open") }
    defer { close(descriptor) }
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { throw SystemError.last("write") }
      rest = rest.dropFirst(count)
    }
    return path
  }

  public func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name)) }

  /// The text of a file; empty if it does not exist.
  public func content(_ name: String = "file") -> String {
    FileManager.default.contents(atPath: file(name)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}
