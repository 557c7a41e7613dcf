// How long a disk takes to keep a small write: every answer of receiptd waits for one (fsync(2)). Blocks.

internal import Glibc

/// Measures a disk.
public enum DiskSync {
  private static let bytes = [UInt8](repeating: 0, count: 4096)

  /// Writes 4 KiB into a file without a name, which the system removes in any case, and syncs it.
  /// - Parameter folder: on the disk; the process must be allowed to write there.
  /// - Returns: the median of three; nil where such a file cannot be made, or the write fails.
  public static func median(in folder: String) -> Duration? {
    // O_TMPFILE, a GNU macro that Swift cannot read.
    let flags = 0o20000000 | O_DIRECTORY | O_WRONLY
    // Without the file there is nothing to measure.
    guard let file = try? FileDescriptor.open(folder, flags, mode: 0o600) else { return nil }
    var times: [Duration] = []
    for _ in 0..<3 {
      let start = MonotonicInstant.now()
      guard unsafe write(file.number, bytes, bytes.count) == bytes.count, fsync(file.number) == 0 else {
        return nil
      }
      times.append(MonotonicInstant.now().duration(since: start))
    }
    return times.sorted()[1]
  }
}
