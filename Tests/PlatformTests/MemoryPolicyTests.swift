// Which pages may be given back to the kernel.

import Glibc
import Testing

@testable import Platform

@Suite("Return of memory") struct MemoryPolicyTests {
  private static func mapping(
    _ first: String, anonymous: Int = 0, swap: Int = 0
  ) -> String {
    """
    \(first)
    Size:                 64 kB
    Rss:                  64 kB
    Anonymous:      \(anonymous) kB
    LazyFree:              0 kB
    Swap:           \(swap) kB
    SwapPss:               0 kB
    VmFlags: rd ex mr mw me

    """
  }
  private static func unwritten(_ maps: String) -> [Range<UInt>] {
    MemoryPolicy.unwrittenFiles(in: Array(maps.utf8).split(separator: UInt8(ascii: "\n")))
  }

  private static let code = "7f5c60000000-7f5c60010000 r-xp 0031a000 fe:00 16228557 /usr/lib/x.so"

  @Test func `Code and constants of files that were never written are given back`() {
    let constants = "7f5c60010000-7f5c60014000 r--p 0032a000 fe:00 16228557 /usr/lib/x.so"
    let found = Self.unwritten(Self.mapping(Self.code) + Self.mapping(constants))
    #expect(found == [0x7f5c_6000_0000..<0x7f5c_6001_0000, 0x7f5c_6001_0000..<0x7f5c_6001_4000])
  }

  @Test func `A mapping with a written page is kept, in memory or swapped out`() {
    #expect(Self.unwritten(Self.mapping(Self.code, anonymous: 4)) == [])
    #expect(Self.unwritten(Self.mapping(Self.code, swap: 4)) == [])
  }

  @Test(arguments: [
    "7f5c60000000-7f5c60010000 rw-p 0031a000 fe:00 16228557 /usr/lib/x.so",
    "7f5c60000000-7f5c60010000 rwxp 0031a000 fe:00 16228557 /usr/lib/x.so",
    "7f5c60000000-7f5c60010000 r--s 0031a000 fe:00 16228557 /var/lib/receiptd/receiptd.db-shm",
    "7f5c60000000-7f5c60010000 r--p 00000000 00:00 0",
    "7f5c60000000-7f5c60010000 r-xp 00000000 00:00 0 [vdso]",
    "7f5c60000000-7f5c60000000 r-xp 0031a000 fe:00 16228557 /usr/lib/x.so", "",
  ])
  func `What is writable, shared or not of a file is kept`(first: String) {
    #expect(Self.unwritten(Self.mapping(first)) == [])
    // The next mapping is read as usual.
    #expect(Self.unwritten(Self.mapping(first) + Self.mapping(Self.code)).count == 1)
  }

  @Test("A file that was mapped later is kept: it may be unmapped while its pages are given back")
  func later() throws {
    let first = MemoryPolicy.releasable()
    #expect(!first.isEmpty)
    let file = unsafe open("/proc/self/exe", O_RDONLY)
    try #require(file >= 0)
    defer { close(file) }
    let start = unsafe mmap(nil, 4096, PROT_READ, MAP_PRIVATE, file, 0)
    try #require(unsafe start != MAP_FAILED)
    defer { unsafe munmap(start, 4096) }
    let address = UInt(bitPattern: start)
    #expect(MemoryPolicy.unwrittenFiles().contains { $0.contains(address) })
    #expect(!MemoryPolicy.releasable().contains { $0.contains(address) })
  }

  @Test func `A program goes on after it gave memory back`() {
    let numbers = (0..<100_000).map { $0 * 3 }
    MemoryPolicy.releaseUnused()
    #expect(numbers.reduce(0, +) == 14_999_850_000)
    #expect(String(describing: numbers.first) == "Optional(0)")
  }
}
