// The reserve on a real file system. The tests of the programs cover a full disk.

import FoundationEssentials
import Platform
import Testing

@Suite struct SpaceReserveTests {
  @Test("The reserve is taken once, released and restored; without a writable folder there is none")
  func takeAndGiveUp() throws {
    let folder = FileManager.default.temporaryDirectory.appending(component: "reserve-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // The system clears what cannot be removed here.
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.path + "/db.reserve"
    func bytes() throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    }
    let reserve = FileReserve(path: path, bytes: 1 << 16)
    #expect(reserve.acquire() == .held)
    #expect(reserve.acquire() == .held)
    #expect(try bytes() == 1 << 16)
    reserve.release()
    #expect(try bytes() == 0)
    #expect(reserve.acquire() == .held)
    #expect(try bytes() == 1 << 16)
    let none = FileReserve(path: folder.path + "/missing/db.reserve", bytes: 1 << 16)
    none.release()
    #expect(none.acquire() == .unavailable)
  }
}
