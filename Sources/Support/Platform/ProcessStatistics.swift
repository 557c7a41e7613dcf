// What the kernel reports about this process (proc(5), getrlimit(2), getrusage(2)). Thread-safe.

internal import Glibc

/// Statistics of the running process.
public struct ProcessStatistics: Sendable, Equatable {
  public var cpuSeconds: Double
  public var residentBytes: Int64
  public var virtualBytes: Int64
  public var openFiles: Int
  public var openFilesMax: UInt64
  /// Unix time.
  public var startTimeSeconds: Double

  /// Reads them now. A value that cannot be read is 0.
  public static func current() -> ProcessStatistics {
    var usage = rusage()
    unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    let cpu =
      Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
      + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    var limit = rlimit()
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let pages = words(of: "/proc/self/statm").compactMap { Int64($0) }
    let pageBytes = Int64(sysconf(Int32(_SC_PAGESIZE)))
    return ProcessStatistics(
      cpuSeconds: cpu, residentBytes: (pages.dropFirst().first ?? 0) * pageBytes,
      virtualBytes: (pages.first ?? 0) * pageBytes, openFiles: openFileCount(),
      openFilesMax: UInt64(limit.rlim_cur),
      startTimeSeconds: startTime())
  }

  private static func words(of path: String) -> [Substring] {
    guard let file = try? FileReading.content(of: path, bytesMax: 65_536),
      let text = String(validating: file.bytes, as: UTF8.self)
    else { return [] }
    return text.split(whereSeparator: { $0 == " " || $0 == "\n" })
  }

  /// The system's boot time plus the process's start in clock ticks: field 22 of /proc/self/stat, counted
  /// after the name, which may contain spaces.
  private static func startTime() -> Double {
    guard let stat = try? FileReading.content(of: "/proc/self/stat", bytesMax: 65_536),
      let end = stat.bytes.lastIndex(of: UInt8(ascii: ")")),
      let tail = String(validating: stat.bytes[(end + 1)...], as: UTF8.self)
    else { return 0 }
    let fields = tail.split(separator: " ")
    let system = words(of: "/proc/stat")
    guard fields.count > 19, let ticks = Double(fields[19]), let mark = system.firstIndex(of: "btime"),
      system.indices.contains(mark + 1), let boot = Double(system[mark + 1])
    else { return 0 }
    return boot + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  private static func openFileCount() -> Int {
    guard let directory = unsafe opendir("/proc/self/fd") else { return 0 }
    defer { unsafe closedir(directory) }
    var count = 0
    while unsafe readdir(directory) != nil { count += 1 }
    // `.`, `..` and the directory itself.
    return max(0, count - 3)
  }
}
