// How the process uses memory: the settings of the C library's allocator, and what is given back to the
// kernel.

internal import CLibC
internal import Glibc

/// Settings of malloc(3), and the return of unused memory.
public enum MemoryPolicy {
  /// Keeps freed pages, because the next batch of requests needs them again. Otherwise glibc returns them to
  /// the kernel (mallopt(3), M_TRIM_THRESHOLD: 128 KiB by default) and each batch faults them in again.
  /// Call it before other threads run.
  public static func keepFreedPages() {
    mallopt(M_TRIM_THRESHOLD, 4 << 20)
    mallopt(M_MMAP_THRESHOLD, 1 << 20)
    _ = firstFiles
  }

  /// The read-only files of the start: the program and its libraries, which stay mapped until the end.
  /// Another mapping may be gone when its pages are released, and its addresses used for something else: the
  /// loader maps and unmaps files whenever a thread first resolves a name.
  private static let firstFiles = Set(lines(of: "/proc/self/maps").compactMap(readOnlyFile))

  /// Returns what nothing uses now: freed pages of the allocator, and the code and constants that were used
  /// before. The latter remain in the kernel's page cache, which shares them with all processes: a page that
  /// is used again is mapped again, without reading the disk. Takes some milliseconds; any thread.
  public static func releaseUnused() {
    unmapUnused()
    malloc_trim(0)
  }

  private static func unmapUnused() {
    for range in releasable() {
      // It fails only for locked pages, which stay.
      unsafe madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
    }
  }

  /// The unwritten files that stay mapped until the end.
  static func releasable() -> [Range<UInt>] { unwrittenFiles().filter(firstFiles.contains) }

  static func unwrittenFiles() -> [Range<UInt>] { unwrittenFiles(in: lines(of: "/proc/self/smaps")) }

  private static func lines(of path: String) -> [ArraySlice<UInt8>] {
    guard let file = try? FileReading.content(of: path, bytesMax: 4 << 20) else { return [] }
    return file.bytes.split(separator: UInt8(ascii: "\n"))
  }

  /// The address ranges whose content is that of a file: read-only, private, and without a page that was ever
  /// written. The loader wrote addresses into some read-only pages; these are copies, in memory or swapped
  /// out, and would be lost (madvise(2), MADV_DONTNEED).
  ///
  /// Reads bytes and not texts: there are some 2,000 lines, and an idle daemon should use no CPU.
  /// - Parameter lines: of `/proc/PID/smaps` (proc_pid_smaps(5)).
  static func unwrittenFiles(in lines: [ArraySlice<UInt8>]) -> [Range<UInt>] {
    var found: [Range<UInt>] = []
    var candidate: Range<UInt>?
    for line in lines {
      if hasField("Anonymous:", line) || hasField("Swap:", line) {
        if !line.contains(where: { $0 == UInt8(ascii: "0") }) || line.contains(where: isOneToNine) {
          candidate = nil
        }
      } else if hasField("VmFlags:", line) {
        if let candidate { found.append(candidate) }
        candidate = nil
      } else if let first = line.first, !(UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first) {
        // Names of fields begin with a capital letter, and addresses have none.
        candidate = readOnlyFile(line)
      }
    }
    return found
  }

  private static func hasField(_ name: StaticString, _ line: ArraySlice<UInt8>) -> Bool {
    unsafe line.starts(with: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
  }

  private static func isOneToNine(_ byte: UInt8) -> Bool { UInt8(ascii: "1")...UInt8(ascii: "9") ~= byte }

  /// The range in the first line of a mapping: "7f00-7f10 r-xp 00000000 fe:00 123 /usr/lib/x.so".
  private static func readOnlyFile(_ line: ArraySlice<UInt8>) -> Range<UInt>? {
    let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
    guard words.count >= 6, words[1] == "r-xp" || words[1] == "r--p", words[5].hasPrefix("/") else {
      return nil
    }
    let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
    return ends.count == 2 && ends[0] < ends[1] ? ends[0]..<ends[1] : nil
  }
}
