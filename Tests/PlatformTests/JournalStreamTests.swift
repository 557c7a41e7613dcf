// Whether a stream is the one in $JOURNAL_STREAM.

import Glibc
import Testing

@testable import Platform

@Suite("The journal's stream") struct JournalStreamTests {
  private static func name(of descriptor: Int32) -> String {
    var file = stat()
    guard unsafe fstat(descriptor, &file) == 0 else { return "" }
    return "\(file.st_dev):\(file.st_ino)"
  }

  @Test func `It is recognised by both device and inode`() {
    let name = Self.name(of: STDERR_FILENO)
    #expect(JournalStream.isStandardError(environment: Environment(["JOURNAL_STREAM": name])))
    for other in ["", ":", "0:0", "\(name)0", "1\(name)", name + ":", "x:y", "-1:-1"] {
      #expect(!JournalStream.isStandardError(environment: Environment(["JOURNAL_STREAM": other])), "\(other)")
    }
    #expect(!JournalStream.isStandardError(environment: Environment([:])))
    #expect(!JournalStream.isStream(-1, environment: Environment(["JOURNAL_STREAM": name])))
  }

  @Test func `A disk has free space, a file has a length, and a missing file has neither`() throws {
    #expect(try #require(DiskSpace.availableBytes(at: "/")) >= 0)
    #expect(DiskSpace.availableBytes(at: "/no/such/path") == nil)
    #expect(try #require(DiskSpace.fileBytes(at: "/proc/self/exe")) > 0)
    #expect(DiskSpace.fileBytes(at: "/no/such/path") == nil)
    #expect(!HostName.current().isEmpty)
  }
}
