// File systems of other machines.

import Testing

@testable import Platform

@Suite struct FileSystemKindTests {
  @Test(
    "The types of statfs(2) are known by name; a local disk has none",
    arguments: [
      (0x6969, "nfs"), (0x517B, "cifs"), (0xFF53_4D42, "cifs"), (0xFE53_4D42, "cifs"), (0x6573_5546, "fuse"),
      (0xEF53, nil), (0x5846_5342, nil), (0x9123_683E, nil),
    ] as [(UInt32, String?)])
  func names(type: UInt32, name: String?) { #expect(FileSystemKind.remote(type: type) == name) }

  @Test func `What is read is the type of the path's file system`() {
    #expect(FileSystemKind.type(at: "/proc") == 0x9FA0)
    #expect(FileSystemKind.remote(at: "/nowhere") == nil)
  }
}
