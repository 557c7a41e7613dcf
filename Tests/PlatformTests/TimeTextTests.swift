// Times and durations as text.

import Formats
import Platform
import Testing

@Suite("Times as text") struct TimeTextTests {
  static let known: [(text: String, time: Int64)] = [
    ("1970-01-01T00:00:00.000Z", 0), ("1969-12-31T23:59:59.999Z", -1),
    ("0000-01-01T00:00:00.000Z", -62_167_219_200_000),
    ("0001-01-01T00:00:00.000Z", -62_135_596_800_000), ("1900-03-01T00:00:00.000Z", -2_203_891_200_000),
    ("2000-02-29T12:00:00.000Z", 951_825_600_000), ("2024-02-29T23:59:59.999Z", 1_709_251_199_999),
    ("2024-12-31T00:00:00.001Z", 1_735_603_200_001), ("2026-11-20T10:00:00.123Z", 1_795_168_800_123),
    ("2038-01-19T03:14:08.000Z", 2_147_483_648_000), ("2100-03-01T00:00:00.000Z", 4_107_542_400_000),
    ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
  ]

  @Test(arguments: known)
  func `Known moments are written and read in RFC 3339`(text: String, time: Int64) {
    #expect(RFC3339.string(unixMilliseconds: time) == text)
    #expect(RFC3339.unixMilliseconds(parsing: text) == time)
  }

  @Test func `Times beyond RFC 3339 are clamped to its range`() {
    #expect(RFC3339.string(unixMilliseconds: .max) == "9999-12-31T23:59:59.999Z")
    #expect(RFC3339.string(unixMilliseconds: .min) == "0000-01-01T00:00:00.000Z")
    #expect(RFC3339.string(unixMilliseconds: 253_402_300_800_000) == "9999-12-31T23:59:59.999Z")
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `Written timestamps are read as the same time`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var last: (time: Int64, text: String)?
    for _ in 0..<500 {
      let time = Int64.random(in: -62_167_219_200_000...253_402_300_799_999, using: &random)
      let text = RFC3339.string(unixMilliseconds: time)
      #expect(RFC3339.unixMilliseconds(parsing: text) == time, "seed \(seed)")
      // The texts sort in the order of the times.
      if let last { #expect((last.time < time) == (last.text < text), "seed \(seed)") }
      last = (time, text)
    }
  }

  @Test func `Every day of four hundred years follows the one before`() {
    var (year, month, day) = (1900, 1, 1)
    var time: Int64 = -2_208_988_800_000
    while year < 2300 {
      let text = String(RFC3339.string(unixMilliseconds: time).prefix(10))
      let expected = [(year, 4), (month, 2), (day, 2)].map { number, digits in
        String(repeating: "0", count: digits - String(number).count) + String(number)
      }.joined(separator: "-")
      guard text == expected, RFC3339.unixMilliseconds(parsing: text) == time else {
        Issue.record("\(text) instead of \(expected)")
        return
      }
      time += 86_400_000
      day += 1
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
      if day > days { (month, day) = (month + 1, 1) }
      if month > 12 { (year, month) = (year + 1, 1) }
    }
  }

  @Test(
    "Every form of RFC 3339 is read",
    arguments: [
      ("2026-11-20T10:00:00Z", 1_795_168_800_000), ("2026-11-20T10:00:00.123456789Z", 1_795_168_800_123),
      ("2026-11-20T10:00:00.1Z", 1_795_168_800_100), ("2026-11-20t11:30:00+01:30", 1_795_168_800_000),
      ("2026-11-20 02:00:00-08:00", 1_795_168_800_000), ("2026-11-20T10:00:00-00:00", 1_795_168_800_000),
      ("2026-11-20", 1_795_132_800_000), ("2016-12-31T23:59:60Z", 1_483_228_799_000),
      ("2026-11-20T10:00:00.\(String(repeating: "9", count: 1000))z", 1_795_168_800_999),
    ] as [(String, Int64)])
  func allowed(text: String, time: Int64) { #expect(RFC3339.unixMilliseconds(parsing: text) == time) }

  @Test(
    "Text that is not a timestamp is refused",
    arguments: [
      "", "yesterday", "2026", "2026-13-01", "2026-00-01", "2026-01-00", "2026-02-30", "2023-02-29",
      "1900-02-29", "2026-04-31", "2026-11-20T", "2026-11-20T24:00:00Z", "2026-11-20T10:60:00Z",
      "2026-11-20T10:00:61Z", "2026-11-20T10:00:00", "2026-11-20T10:00:00.Z", "2026-11-20T10:00:00+1",
      "2026-11-20T10:00:00+0100", "2026-11-20T10:00:00+24:00", "2026-11-20T10:00:00Zx",
      "2026-11-20T10:00:00 Z", "2026-1-1", "-026-01-01", "２026-11-20", "2026-11-20T10:00Z",
      "2026-11-20T10:00:00\u{0}Z", " 2026-11-20",
    ])
  func refused(text: String) { #expect(RFC3339.unixMilliseconds(parsing: text) == nil) }

  @Test(
    arguments: [
      ("0s", 0), ("1ms", 1), ("250ms", 250), ("30s", 30_000), ("90s", 90_000), ("5m", 300_000),
      ("1h", 3_600_000), ("30d", 2_592_000_000), ("106751991167d", 9_223_372_036_828_800_000),
    ] as [(String, Int64)])
  func `A duration is digits and a unit`(text: String, milliseconds: Int64) {
    #expect(DurationText.duration(parsing: text) == .milliseconds(milliseconds))
    #expect(DurationText.text(.milliseconds(milliseconds)) == text)
  }

  @Test func `A duration is written in the largest unit that is exact`() {
    #expect(DurationText.duration(parsing: "0072h") == .days(3))
    #expect(DurationText.text(.days(3)) == "3d")
    #expect(DurationText.text(.longest) == "9223372036854775807ms")
  }

  @Test(arguments: [
    "", "s", "5", "5 s", "5S", "+5s", "-5s", "1.5h", "5sec", "٥s", "106751991168d", "99999999999999999999s",
    "5s ", "5s5s", "5\u{0}s", "5\u{301}s", "5\u{20E3}ms",
  ])
  func `Another duration is refused`(text: String) { #expect(DurationText.duration(parsing: text) == nil) }
}
