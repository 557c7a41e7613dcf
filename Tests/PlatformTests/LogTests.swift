// A log entry is one line with the values of its caller, for any untrusted input.

import Formats
import Platform
import Testing

@Suite("The log") struct LogTests {
  /// A clock with a constant time.
  private struct StandingClock: Clock {
    let wallMilliseconds: Int64 = 1_795_168_800_123
    let monotonic = MonotonicInstant(nanoseconds: 0)
  }

  private static func lines(
    _ format: Log.Format, level: Log.Level = .debug, _ write: (Log) -> Void
  ) -> [String] {
    let lines = Monitor<[[UInt8]]>([])
    write(
      Log(level: level, format: format, clock: StandingClock()) { line in lines.update { $0.append(line) } })
    return lines.withLock { $0 }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Untrusted input that tries to forge log lines.
  static let forgeries = [
    "a\n2026-11-20T10:00:00.123Z error forged", "a\r\nb", "a\" level=\"error", "a level=error", "a=b", "\"",
    "", " ", "\\", "\u{0}", "\u{1B}[2J", "\u{7F}", "a\",\"level\":\"error", "}\n{", "é🧾", "\u{2028}",
  ]

  @Test func `A line of text is time, level, message and fields`() {
    let lines = Self.lines(.text) { log in
      log.error("it broke", ["app": "ios", "status": "503"])
      log.warning("careful")
      log.info("done", ["words": "two words", "empty": ""])
      log.debug("seen")
    }
    #expect(
      lines == [
        "2026-11-20T10:00:00.123Z error it broke app=ios status=503\n",
        "2026-11-20T10:00:00.123Z warning careful\n",
        "2026-11-20T10:00:00.123Z info done words=\"two words\" empty=\"\"\n",
        "2026-11-20T10:00:00.123Z debug seen\n",
      ])
  }

  @Test(arguments: forgeries)
  func `An untrusted value cannot forge a line or a field of text`(value: String) throws {
    let lines = Self.lines(.text) { $0.info("said", ["value": value, "after": "end"]) }
    let line = try #require(lines.first)
    #expect(lines.count == 1)
    #expect(line.utf8.filter { $0 == UInt8(ascii: "\n") }.count == 1)
    #expect(line.hasSuffix("\n"))
    let head = "2026-11-20T10:00:00.123Z info said value="
    #expect(line.hasPrefix(head))
    #expect(line.hasSuffix(" after=end\n"))
    let written = line.dropFirst(head.count).dropLast(" after=end\n".count)
    #expect(!written.utf8.contains { $0 < 0x20 })
    // It is either plain, or a JSON string with exactly this value.
    if written.hasPrefix("\"") {
      #expect(try JSONValue(parsing: Array(written.utf8)) == .string(value))
    } else {
      #expect(String(written) == value)
      #expect(!written.contains { $0 == " " || $0 == "=" || $0 == "\"" })
    }
  }

  @Test(arguments: forgeries)
  func `An untrusted message stays on its line`(message: String) throws {
    let line = try #require(Self.lines(.text) { $0.info(message) }.first)
    #expect(line.utf8.filter { $0 == UInt8(ascii: "\n") }.count == 1)
    #expect(line.hasSuffix("\n"))
    #expect(!line.dropLast().utf8.contains { $0 < 0x20 })
  }

  @Test(arguments: forgeries)
  func `A line of JSON is one object with exactly the given values`(value: String) throws {
    let lines = Self.lines(.json) { $0.error(value, ["value": value, "after": "end"]) }
    let line = try #require(lines.first)
    #expect(lines.count == 1)
    #expect(line.utf8.filter { $0 == UInt8(ascii: "\n") }.count == 1)
    #expect(line.hasSuffix("\n"))
    let read = try JSONValue(parsing: Array(line.utf8.dropLast()))
    #expect(read["message"] == .string(value))
    #expect(read["value"] == .string(value))
    #expect(read["after"] == "end")
    #expect(read["level"] == "error")
    #expect(read["time"] == "2026-11-20T10:00:00.123Z")
  }

  @Test(arguments: Array(Log.Level.allCases.enumerated()))
  func `Each level shows itself and more severe levels`(rank: Int, level: Log.Level) {
    let lines = Self.lines(.text, level: level) { log in
      log.error("e")
      log.warning("w")
      log.info("i")
      log.debug("d")
    }
    #expect(lines.count == rank + 1)
  }

  @Test func `A debug message that is not shown is not composed`() {
    var made = 0
    func message() -> String {
      made += 1
      return "costly"
    }
    _ = Self.lines(.text, level: .info) { $0.debug(message()) }
    #expect(made == 0)
    _ = Self.lines(.text, level: .debug) { $0.debug(message()) }
    #expect(made == 1)
  }

  @Test func `No part of a line that is not written is composed, at any level`() {
    var made = 0
    func text() -> String {
      made += 1
      return "costly"
    }
    let log = Log(level: .error) { _ in }
    log.warning(text(), ["a": text()])
    log.info(text(), ["a": text()])
    log.debug(text(), ["a": text()])
    #expect(made == 0)
  }

  @Test func `Absent fields are left out of a line`() {
    let (there, absent): (String?, String?) = ("x", nil)
    let lines = Self.lines(.text) { $0.info("said", ["there": there, "absent": absent]) }
    #expect(lines == ["2026-11-20T10:00:00.123Z info said there=x\n"])
  }

  @Test(arguments: Log.Format.allCases)
  func `In the journal a line begins with its priority`(format: Log.Format) {
    let lines = Monitor<[String]>([])
    let log = Log(level: .debug, format: format, marksPriority: true, clock: StandingClock()) { line in
      lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
    }
    log.error("e")
    log.warning("w")
    log.info("i")
    log.debug("d")
    // syslog(3): LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG.
    #expect(lines.withLock { $0 }.map { String($0.prefix(3)) } == ["<3>", "<4>", "<6>", "<7>"])
    #expect(lines.withLock { $0 }.allSatisfy { $0.dropFirst(3).first != " " && $0.hasSuffix("\n") })
  }

  @Test func `Personal data becomes a pseudonym, which differs in another log (R7)`() {
    let (log, other) = (Log { _ in }, Log { _ in })
    let users = (0..<500).map { "user-\($0)" }
    let marks = users.map(log.personal)
    #expect(marks == users.map(log.personal))
    #expect(marks != users.map(other.personal))
    #expect(Set(marks).count > 490)
    #expect(
      marks.allSatisfy { $0.hasPrefix("~") && $0.count == 7 && $0.dropFirst().allSatisfy(\.isHexDigit) })
    #expect(Log(showsPersonal: true) { _ in }.personal("user-1") == "user-1")
  }
}
