// Whether Linux reads a file from the disk again: mincore(2) reports which pages are in memory.

import FoundationEssentials
import Glibc
import Platform
import Testing

@Suite struct FileCacheTests {
  private static let bytes = 64 * 4096

  /// The number of a file's pages in memory.
  private static func pagesInMemory(_ path: String) throws -> Int {
    let file = unsafe open(path, O_RDONLY)
    try #require(file >= 0)
    defer { close(file) }
    let start = unsafe mmap(nil, bytes, PROT_READ, MAP_SHARED, file, 0)
    try #require(unsafe start != MAP_FAILED)
    defer { unsafe munmap(start, bytes) }
    var pages = [UInt8](repeating: 0, count: bytes / 4096)
    try #require(unsafe mincore(start, bytes, &pages) == 0)
    return pages.count { $0 & 1 == 1 }
  }

  @Test func `Dropping a file's cache makes the next read come from the disk`() throws {
    // /tmp may be in memory; /var/tmp persists across restarts (Filesystem Hierarchy Standard).
    let path = "/var/tmp/receiptd-cache-\(UUID().uuidString)"
    let file = unsafe open(path, O_RDWR | O_CREAT, 0o600)
    try #require(file >= 0)
    defer {
      close(file)
      unsafe unlink(path)
    }
    let content = [UInt8](repeating: 7, count: Self.bytes)
    try #require(unsafe write(file, content, content.count) == content.count)
    try #require(fsync(file) == 0)
    #expect(try Self.pagesInMemory(path) == 64)
    #expect(FileCache.forget(path))
    #expect(try Self.pagesInMemory(path) == 0)
    #expect(FileManager.default.contents(atPath: path) == Data(content))
  }

  @Test func `A missing file has no cache to drop`() {
    #expect(!FileCache.forget("/nowhere/at/all"))
    #expect(!FileCache.forget("a\0b"))
  }
}
