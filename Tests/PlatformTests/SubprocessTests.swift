// A program that is served step by step: its input, its output, its end, and what it inherits.

import Glibc
import Testing

@testable import Platform

@Suite struct SubprocessTests {
  private static func shell(
    _ script: String, input: [UInt8] = [], variables: [String: String] = ["PATH": "/usr/bin:/bin"]
  ) throws -> Subprocess {
    try Subprocess("/bin/sh", ["-c", script], variables: variables, input: input)
  }

  /// Serves the program until it has ended.
  private static func end(of process: Subprocess) -> Subprocess.End {
    while true { if let end = process.step() { return end } }
  }

  @Test func `It gets all of its input, more than a pipe holds, and its end`() throws {
    let input = [UInt8](repeating: UInt8(ascii: "x"), count: 1_000_000)
    let process = try Self.shell("test $(wc -c) -eq 1000000", input: input)
    #expect(Self.end(of: process) == .exited(code: 0))
    #expect(process.step() == .exited(code: 0), "the end stays known")
  }

  @Test func `The exit code and the signal of its end are known, and what it printed first`() throws {
    let failed = try Self.shell("echo 'no route'; echo '  to host' >&2; exit 75")
    #expect(Self.end(of: failed) == .exited(code: 75))
    #expect(failed.said == "no route to host")
    #expect(Self.end(of: try Self.shell("kill -TERM $$")) == .killed(signal: SIGTERM))
  }

  @Test("A program that prints much, or closes its input, is neither stopped by it nor stops anything")
  func rude() throws {
    let loud = try Self.shell("yes | head -c 20000000; exit 3")
    #expect(Self.end(of: loud) == .exited(code: 3))
    #expect(loud.said.utf8.count <= Subprocess.outputBytesMax)
    let input = [UInt8](repeating: 0, count: 10_000_000)
    #expect(Self.end(of: try Self.shell("exec 0<&-; exit 4", input: input)) == .exited(code: 4))
  }

  @Test func `A step does not wait, and a kill reaches the programs that it started`() throws {
    let process = try Self.shell("sleep 1000 & echo $!; wait")
    while process.said.isEmpty { #expect(process.step() == nil) }
    let child = try #require(pid_t(process.said))
    process.kill()
    #expect(Self.end(of: process) == .killed(signal: SIGKILL))
    // The child, too, has ended, or has nobody yet that asks for its end.
    while let state = Self.state(of: child), state != "Z" { continue }
  }

  /// The state of a process (proc(5)): Z once it has ended; nil when it is gone.
  private static func state(of process: pid_t) -> String? {
    guard let stat = try? FileReading.content(of: "/proc/\(process)/stat", bytesMax: 4096).bytes else {
      return nil
    }
    let words = String(decoding: stat, as: UTF8.self).split(separator: ") ").last?.split(separator: " ")
    return words?.first.map(String.init)
  }

  @Test func `It inherits no descriptor, no ignored signal and no variable`() throws {
    StandardStream.ignoreBrokenPipes()
    // More than a folder's listing holds in one read.
    let leaks = (0..<1500).map { _ in unsafe open("/dev/null", O_RDONLY) }
    defer { leaks.forEach { close($0) } }
    let process = try Self.shell(
      "test -z \"$SECRET$HOME\" && test \"$GIVEN\" = 1 && ls /proc/self/fd | tr '\\n' ' ' "
        + "&& grep SigIgn /proc/self/status",
      variables: ["PATH": "/usr/bin:/bin", "GIVEN": "1"])
    #expect(Self.end(of: process) == .exited(code: 0), "\(process.said)")
    // 3 is the folder that ls reads.
    let parts = process.said.split(separator: " SigIgn: ")
    #expect(parts.first == "0 1 2 3")
    // glibc itself ignores two signals that it reserves.
    let ignored = try #require(parts.last.flatMap { UInt64($0, radix: 16) })
    #expect(ignored & (1 << UInt64(SIGPIPE - 1)) == 0)
  }

  @Test func `A program that is not there, or a text with a NUL, is an error at once`() {
    #expect(throws: SystemError(code: ENOENT, operation: "posix_spawn")) {
      try Subprocess("/nowhere/sendmail", [], variables: [:], input: [])
    }
    #expect(throws: SystemError(code: EINVAL, operation: "posix_spawn")) {
      try Subprocess("/bin/true", ["a\0b"], variables: [:], input: [])
    }
  }
}
