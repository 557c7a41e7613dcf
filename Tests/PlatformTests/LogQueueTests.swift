// A log whose reader does not read: no thread waits for it, and dropped lines are reported.

import Glibc
import Platform
import Testing

@Suite("A log whose reader has stopped") struct LogQueueTests {
  /// A pipe with the capacity of one page. Owns both ends.
  private final class Pipe {
    private let reading: Int32
    let writing: Int32

    init() throws {
      var ends: [Int32] = [0, 0]
      guard unsafe pipe(&ends) == 0 else { throw SystemError.last("pipe") }
      (reading, writing) = (ends[0], ends[1])
      // F_SETPIPE_SZ, fcntl(2): one page is the minimum.
      guard fcntl(writing, 1031, 4096) >= 0 else { throw SystemError.last("fcntl") }
    }

    deinit {
      close(reading)
      close(writing)
    }

    /// Reads whole lines until `areAll` returns true.
    func lines(until areAll: ([String]) -> Bool) throws -> [String] {
      var text: [UInt8] = []
      while true {
        var entry = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        try #require(unsafe poll(&entry, 1, 10_000) > 0, "\(String(decoding: text, as: UTF8.self))")
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe Glibc.read(reading, &buffer, buffer.count)
        text += buffer[..<max(0, count)]
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        if text.last == UInt8(ascii: "\n"), areAll(lines) { return lines }
      }
    }
  }

  @Test func `If the reader of the log stops, lines are dropped, counted and reported`() throws {
    let pipe = try Pipe()
    let log = Log.queued(descriptor: pipe.writing, linesMax: 10)
    let padding = String(repeating: "x", count: 1000)
    // More than the pipe and the queue hold: this ends only if no write waits for the reader.
    for number in 0..<500 { log.info("line", ["number": String(number), "padding": padding]) }
    let dropped = log.droppedLines
    #expect(dropped >= 400)
    let begin = MonotonicInstant.now()
    log.flush(within: .milliseconds(50))
    #expect(MonotonicInstant.now().duration(since: begin) < .seconds(5))
    // The lines that were written, plus the number of lines reported as dropped.
    let lines = try pipe.lines { lines in
      lines.count - lines.filter { $0.contains("dropped=") }.count + Self.sum("dropped=", lines) == 500
    }
    #expect(Self.sum("dropped=", lines) == Int(dropped))
    #expect(lines.allSatisfy { !$0.contains("dropped=") || $0.contains(" warning ") })
    let numbers = lines.compactMap { Self.number("number=", $0) }
    #expect(numbers == numbers.sorted())
    #expect(numbers.first == 0)
    log.info("after")
    #expect(try pipe.lines { $0.count == 1 }[0].hasSuffix(" info after"))
    log.flush(within: .seconds(10))
    #expect(log.droppedLines == dropped)
  }

  private static func number(_ field: String, _ line: String) -> Int? {
    line.split(separator: " ").first { $0.hasPrefix(field) }.flatMap { Int($0.dropFirst(field.count)) }
  }

  private static func sum(_ field: String, _ lines: [String]) -> Int {
    lines.reduce(0) { $0 + (number(field, $1) ?? 0) }
  }

  @Test func `Lines are written whole and in order, and the end waits until they are written`() throws {
    let pipe = try Pipe()
    let log = Log.queued(format: .json, descriptor: pipe.writing)
    for number in 0..<20 { log.warning("line \(number)") }
    log.flush(within: .seconds(10))
    let lines = try pipe.lines { $0.count == 20 }
    #expect(log.droppedLines == 0)
    for (number, line) in lines.enumerated() { #expect(line.contains(#""line \#(number)""#)) }
  }

  @Test func `A log without lines has nothing to wait for`() {
    let begin = MonotonicInstant.now()
    Log.queued().flush(within: .seconds(10))
    #expect(MonotonicInstant.now().duration(since: begin) < .seconds(5))
  }

  @Test func `A log whose reader has closed the pipe does not end the process`() throws {
    StandardStream.ignoreBrokenPipes()
    var ends: [Int32] = [0, 0]
    try #require(unsafe pipe(&ends) == 0)
    close(ends[0])
    let log = Log.queued(descriptor: ends[1])
    for _ in 0..<100 { log.info("line") }
    log.flush(within: .seconds(10))
    #expect(log.droppedLines == 0)
    close(ends[1])
  }
}
