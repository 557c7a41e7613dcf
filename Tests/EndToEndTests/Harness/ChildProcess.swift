// A program as a child process: a minimal environment, signals, and deadlines for every wait. One thread.

import Glibc
import Platform
import TestSupport

/// A running program. Owns the process.
final class ChildProcess {
  private var process: Spawn
  var id: pid_t { process.id }

  /// - Parameters:
  ///   - words: the program's path and its arguments.
  ///   - environment: added to what a program needs to find its libraries.
  ///   - output: the file to which standard output and standard error are appended.
  ///   - inherited: descriptors that the program has from 3 on, in this order.
  init(_ words: [String], environment: [String: String] = [:], output: String, inherited: [Int32] = []) throws
  {
    // They are duplicated in order, so a descriptor that already has the number of an earlier one's target
    // would be overwritten before its turn.
    let above = Int32(3 + inherited.count)
    let copies = try inherited.map { descriptor throws(SystemError) in
      let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, above)
      guard copy >= 0 else { throw .last("fcntl") }
      return copy
    }
    defer { copies.forEach { close($0) } }
    let further = copies.enumerated().map { index, descriptor in
      (descriptor: Int32(3 + index), file: Spawn.File.same(descriptor))
    }
    process = try Spawn(
      words,
      files: [(0, .nothingToRead), (1, .path(output, O_WRONLY | O_CREAT | O_APPEND)), (2, .same(1))]
        + further,
      environment: Self.inherited.merging(environment) { $1 })
  }

  /// Excludes proxy settings, which would redirect a relay's deliveries. Under a sanitizer (`make asan`,
  /// `make tsan`) the programs report where the tests do, leaks included.
  private static let inherited: [String: String] = {
    var inherited = ["PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS"].reduce(into: [:]) {
      $0[$1] = Environment.process[$1]
    }
    if let options = inherited["ASAN_OPTIONS"] { inherited["ASAN_OPTIONS"] = options + ":detect_leaks=1" }
    return inherited
  }()

  func send(_ signal: Int32) { process.send(signal) }

  /// Stops the process until `SIGCONT`. The signal alone stops it a moment later, and a thread may go on
  /// meanwhile; the parent hears of it when all threads have stopped.
  func suspend() throws {
    process.send(SIGSTOP)
    try waitUntil("process \(id) is stopped") {
      var information = unsafe siginfo_t()
      let result = unsafe waitid(P_PID, id_t(id), &information, WSTOPPED | WNOHANG)
      return unsafe result == 0 && information.si_signo == SIGCHLD
    }
  }

  /// The exit code, or 128 plus the signal; nil while the program runs.
  var exitCode: Int32? { process.exitCode }

  /// Waits for the program to end.
  func end(within time: Duration = Waiting.patience) throws -> Int32 {
    try waitFor("process \(id) ends", within: time) { exitCode }
  }

  /// The number of a field in /proc/PID/status, without its unit.
  func status(_ name: String) -> Int? {
    TextFile.read("/proc/\(id)/status").split(separator: "\n")
      .first { $0.hasPrefix("\(name):") }
      .flatMap { Int($0.filter(\.isNumber)) }
  }

  /// The number of open descriptors.
  var descriptors: Int { Self.descriptors(of: id) }

  static func descriptors(of id: pid_t) -> Int {
    guard let directory = unsafe opendir("/proc/\(id)/fd") else { return 0 }
    defer { unsafe closedir(directory) }
    var count = 0
    while unsafe readdir(directory) != nil { count += 1 }
    // Without `.` and `..`.
    return max(0, count - 2)
  }

  /// The resident memory, in KiB.
  var residentKibibytes: Int? { status("VmRSS") }

  var threads: Int? { status("Threads") }
  /// The peak of the resident memory, in KiB.
  var peakKibibytes: Int? { status("VmHWM") }
}

/// The programs under test, built into the test program's directory.
enum Program {
  static let receiptd = directory + "/receiptd"
  static let receiptctl = directory + "/receiptctl"
  static let sandbox = directory + "/receipt-sandbox"
  /// The repository's folder, for the files that are shipped with the programs.
  static let repository = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()

  private static var directory: String {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { path in
        unsafe path.baseAddress.map { unsafe readlink("/proc/self/exe", $0, path.count) } ?? 0
      }
    }
    let path = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    return path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
  }
}
