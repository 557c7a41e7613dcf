// Random JSON that is reproducible: a failure prints its seed.

import Formats
import Platform

extension SeededGenerator {
  /// A value of at most this many levels, with sorted names as the reader returns them.
  mutating func value(levels: Int) -> JSONValue {
    switch Int.random(in: 0..<(levels > 0 ? 8 : 6), using: &self) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &self))
    case 2: return .integer(Int64(bitPattern: next()) >> Int64.random(in: 0...63, using: &self))
    // A whole double would be read as an integer, so it is never one.
    case 3: return .number(Double(Int64.random(in: -1_000_000...1_000_000, using: &self)) + 0.5)
    case 4, 5: return .string(text())
    case 6:
      let count = Int.random(in: 0...4, using: &self)
      return .array((0..<count).map { _ in value(levels: levels - 1) })
    default:
      let names = Set((0..<Int.random(in: 0...4, using: &self)).map { _ in text() })
      let ordered = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      return .object(ordered.map { JSONValue.Member(name: $0, value: value(levels: levels - 1)) })
    }
  }

  /// A text of up to twelve scalars, many of them special.
  mutating func text() -> String {
    let troublesome: [ClosedRange<UInt32>] = [
      0...0x1F, 0x20...0x7E, 0x7F...0x9F, 0x22...0x22, 0x5C...0x5C, 0x2028...0x2029, 0xE000...0xFFFF,
      0x1_0000...0x10_FFFF,
    ]
    var text = ""
    for _ in 0..<Int.random(in: 0...12, using: &self) {
      guard let range = troublesome.randomElement(using: &self),
        let scalar = Unicode.Scalar(UInt32.random(in: range, using: &self))
      else { continue }
      text.unicodeScalars.append(scalar)
    }
    return text
  }
}
