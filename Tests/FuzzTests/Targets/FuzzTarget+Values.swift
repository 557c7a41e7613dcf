// Short values in configurations, on command lines and in headers: times, durations, sizes, addresses, ids.

import Formats
import Domain
import Platform

@testable import Config

extension FuzzTarget {
  static let values = FuzzTarget("values", bytesMax: 128) { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    try checkTime(text)
    try checkNumbers(leadingNumber(bytes), leadingNumber(Array(bytes.dropFirst(8))))
    if let duration = DurationText.duration(parsing: text) {
      try hold(isNumberWithUnit(text, ["ms", "s", "m", "h", "d"]), "taken for a duration")
      try hold(
        DurationText.duration(parsing: DurationText.text(duration)) == duration,
        "a duration is written as another")
    }
    if let size = SizeText.bytes(parsing: text) {
      try hold(isNumberWithUnit(text, ["B", "KiB", "MiB", "GiB"]), "taken for a size")
      try hold(SizeText.bytes(parsing: SizeText.text(bytes: size)) == size, "a size is written as another")
    }
    if let address = IPAddress(text) {
      try hold(address.bytes.count == (address.isIPv6 ? 16 : 4), "an address of \(address.bytes.count) bytes")
    }
    if ContextID(text).isWellFormed {
      try hold(bytes.count == 30 && bytes.allSatisfy { $0 < 0x80 }, "taken for an id")
    }
    if let id = UntrustedText.identifier(text) {
      try hold((1...255).contains(id.utf8.count), "an id of \(id.utf8.count) bytes")
      try hold(
        !id.unicodeScalars.contains { $0.properties.generalCategory == .control }, "a control character")
    }
    if AppConfiguration.isSlug(text) {
      try hold(bytes.count < 64 && bytes.allSatisfy { $0 < 0x80 }, "taken for a slug")
    }
  }

  /// A byte-by-byte model of a number with a unit.
  private static func isNumberWithUnit(_ text: String, _ units: [String]) -> Bool {
    let bytes = Array(text.utf8)
    let digits = bytes.prefix { (0x30...0x39).contains($0) }
    return !digits.isEmpty && units.contains { Array($0.utf8) == Array(bytes.dropFirst(digits.count)) }
  }

  private static func checkTime(_ text: String) throws {
    if let time = RFC3339.unixMilliseconds(parsing: text) {
      try hold(text.utf8.allSatisfy { $0 < 0x80 }, "taken for a time")
      try checkWritten(time)
    }
    let now: Int64 = 1_795_168_800_000
    if let time = MomentText.unixMilliseconds(parsing: text, now: now) {
      try hold(time >= 0, "a time before 1970")
    }
  }

  /// Years within RFC 3339 survive formatting; others become the nearest one.
  private static func checkWritten(_ time: Int64) throws {
    let written = RFC3339.string(unixMilliseconds: time)
    let clamped = min(max(time, -62_167_219_200_000), 253_402_300_799_999)
    try hold(RFC3339.unixMilliseconds(parsing: written) == clamped, "\(time) is written as \(written)")
  }

  private static func checkNumbers(_ first: Int64, _ second: Int64) throws {
    try checkWritten(first)
    let relative = RelativeTime.text(of: first, now: second)
    try hold(relative == "now" || relative.hasSuffix(" ago") == (first <= second), "\(first) is \(relative)")
    let time = Timestamp(unixMilliseconds: first)
    _ = Timestamp(unixSeconds: first)
    let difference = time.duration(since: Timestamp(unixMilliseconds: second))
    try hold((difference >= .zero) == (first >= second), "\(first) - \(second) is \(difference)")
    let sum = time.advanced(by: .milliseconds(second))
    try hold(second >= 0 ? sum >= time : sum <= time, "\(first) + \(second) is \(sum.unixMilliseconds)")
  }
}
