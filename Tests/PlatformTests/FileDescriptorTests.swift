// The owner of a descriptor closes it.

import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite("File descriptors") struct FileDescriptorTests {
  /// Whether the number is still that of the file. Other tests may get the number at once.
  private static func isOpen(_ number: Int32, _ file: FileIdentity) -> Bool {
    FileIdentity(descriptor: number)?.isSameFile(as: file) == true
  }

  private struct Interruption: Error {}

  @Test("A descriptor is open as long as its owner lives, also where its scope ends by an error")
  func life() throws {
    let folder = try TestFolder()
    let path = folder.path + "/lock"
    try FileWriting.create(path, mode: 0o600)
    let file = try #require(FileIdentity(path: path))
    var number: Int32 = -1
    func use(fails: Bool) throws {
      let owner = try FileDescriptor.open(path, O_RDONLY)
      number = owner.number
      #expect(Self.isOpen(number, file))
      #expect(fcntl(number, F_GETFD) == FD_CLOEXEC)
      if fails { throw Interruption() }
    }
    try use(fails: false)
    #expect(!Self.isOpen(number, file))
    #expect(throws: Interruption.self) { try use(fails: true) }
    #expect(!Self.isOpen(number, file))
  }

  @Test func `A failed call has no owner, and a path ends at no NUL`() {
    let missing = #expect(throws: SystemError.self) {
      _ = try FileDescriptor.open("/nowhere/at-all", O_RDONLY)
    }
    #expect(missing?.code == ENOENT)
    #expect(missing?.operation == "open")
    let cut = #expect(throws: SystemError.self) { _ = try FileDescriptor.open("/dev/null\0x", O_RDONLY) }
    #expect(cut?.code == EINVAL)
  }
}
