// Threads, and the kernel's data about the process.

import Glibc
import Platform
import TestSupport
import Testing

@Suite("Threads and the process") struct ProcessTests {
  private static func text(of path: String) throws(SystemError) -> String {
    String(decoding: try FileReading.content(of: path, bytesMax: 65_536).bytes, as: UTF8.self)
  }

  @Test func `A thread runs its body once, and is over when it was joined`() throws {
    let runs = Monitor(0)
    for _ in 0..<50 {
      let thread = try WorkerThread(name: "once") { runs.update { $0 += 1 } }
      thread.join()
    }
    #expect(runs.withLock { $0 } == 50)
  }

  @Test(arguments: [
    ("dispatcher", "dispatcher"), ("a-name-that-is-much-too-long", "a-name-that-is-"),
    ("two words", "two words"),
  ])
  func `A thread has its name, up to the kernel's length`(given: String, kept: String) throws {
    let seen = Monitor<String?>(nil)
    let thread = try WorkerThread(name: given) {
      // Without the file there is nothing to compare, and the test fails.
      let text = try? Self.text(of: "/proc/thread-self/comm")
      seen.update { $0 = text }
    }
    thread.join()
    #expect(seen.withLock { $0 } == kept + "\n")
  }

  @Test func `A thread releases its values when it ends`() throws {
    final class Token: Sendable {
      let gone: Monitor<Bool>
      init(_ gone: Monitor<Bool>) { self.gone = gone }
      deinit { gone.update { $0 = true } }
    }
    let gone = Monitor(false)
    do {
      let token = Token(gone)
      let thread = try WorkerThread(name: "holder") { withExtendedLifetime(token) {} }
      thread.join()
    }
    let deadline = MonotonicInstant.now().advanced(by: .seconds(300))
    #expect(gone.wait(until: deadline) { $0 ? true : nil } == true)
  }

  @Test func `The figures of the process are plausible`() throws {
    let before = ProcessStatistics.current()
    #expect(before.cpuSeconds > 0)
    #expect(before.residentBytes > 1 << 20)
    #expect(before.virtualBytes >= before.residentBytes)
    #expect(before.openFiles >= 3)
    #expect(UInt64(before.openFiles) < before.openFilesMax)
    let now = Double(SystemClock().wallMilliseconds) / 1000
    #expect(before.startTimeSeconds > 1_000_000_000)
    #expect(before.startTimeSeconds < now + 2)
    let mebibytes = [UInt8](repeating: 1, count: 64 << 20)
    let after = ProcessStatistics.current()
    #expect(mebibytes.last == 1)
    #expect(after.residentBytes > 64 << 20)
    #expect(after.cpuSeconds >= before.cpuSeconds)
    #expect(abs(after.startTimeSeconds - before.startTimeSeconds) < 2)
  }

  @Test func `An error of the system names the call and the reason`() {
    let error = #expect(throws: SystemError.self) {
      try FileReading.content(of: "/nowhere/secret-name", bytesMax: 10)
    }
    #expect(error == SystemError(code: ENOENT, operation: "open"))
    #expect(error?.description == "open: No such file or directory")
    #expect(SystemError(code: 99_999, operation: "x").reason.isEmpty == false)
    #expect(
      #expect(throws: SystemError.self) { try FileReading.content(of: "/tmp", bytesMax: 1) }?.code == EISDIR)
    #expect(
      #expect(throws: SystemError.self) { try FileReading.content(of: "/etc/passwd", bytesMax: 1) }?.code
        == EFBIG)
    #expect(
      #expect(throws: SystemError.self) { try FileReading.content(of: "/etc/passwd\u{0}x", bytesMax: 1) }?
        .code
        == EINVAL)
  }

  @Test func `A FIFO, a socket or a device is refused at once instead of blocking`() throws {
    let folder = try TestFolder()
    let (fifo, socketPath) = (folder.path + "/fifo", folder.path + "/socket")
    #expect(unsafe mkfifo(fifo, 0o600) == 0)
    let python = "import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1]); print(1, flush=True)"
    if FileLockTests.hasPython {
      #expect(try ShellRun(["python3", "-c", python, socketPath]).output == "1\n")
      #expect(throws: SystemError.notARegularFile) { try FileReading.content(of: socketPath, bytesMax: 10) }
    }
    for path in [fifo, "/dev/null", "/dev/zero"] {
      let error = #expect(throws: SystemError.self) { try FileReading.content(of: path, bytesMax: 10) }
      #expect(error == .notARegularFile)
      #expect(error?.reason == "Not a regular file")
    }
    // A link to a regular file counts as one.
    unsafe symlink("/etc/passwd", folder.path + "/link")
    #expect(try !FileReading.content(of: folder.path + "/link", bytesMax: 1 << 20).bytes.isEmpty)
  }

  @Test(
    "Addresses are read by the system's own rules",
    arguments: [
      ("127.0.0.1", true, false), ("127.255.1.2", true, false), ("::1", true, false),
      ("0.0.0.0", false, true),
      ("::", false, true), ("10.0.0.1", false, false), ("fe80::1", false, false),
      ("::ffff:127.0.0.1", false, false),
    ])
  func addresses(text: String, isLoopback: Bool, isWildcard: Bool) throws {
    let address = try #require(IPAddress(text))
    #expect(address.isLoopback == isLoopback)
    #expect(address.isWildcard == isWildcard)
    #expect(address.isIPv6 == text.contains(":"))
  }

  @Test(arguments: [
    "", "localhost", "127.1", "1.2.3.4.5", "256.0.0.1", "[::1]", "::1%lo", "127.0.0.1\u{0}", " ::1",
  ])
  func `Text that is not a numeric address is refused`(text: String) { #expect(IPAddress(text) == nil) }
}
