// The tokens of a JSON text (RFC 8259 §3, §6, §7): strings, numbers and words. Each is checked completely and
// not converted. Pure; thread-safe.

extension JSONScanner {
  @inline(__always)
  mutating func string() -> Bool {
    position += 1
    let start = position
    var isPlain = true
    // The OR of all bytes: the highest bits show whether any is not ASCII.
    var seen: UInt64 = 0
    while true {
      skipPlain(&seen)
      guard position < end else { return false }
      switch unsafe text[position] {
      case UInt8(ascii: "\""):
        let isASCII = seen & 0x8080_8080_8080_8080 == 0
        guard isASCII || isUTF8(from: start) else { return false }
        append(.string, start: start, count: position - start, isPlain: isPlain, isASCII: isASCII)
        position += 1
        return true
      case UInt8(ascii: "\\"):
        isPlain = false
        guard skipEscape() else { return false }
      case let byte:
        // RFC 8259 §7: control characters must be escaped.
        guard byte >= 0x20 else { return false }
        seen |= UInt64(byte)
        position += 1
      }
    }
  }

  /// Skips eight bytes at a time until one of them is a quote, a backslash or a control character.
  /// (`x - 0x01…01 & ~x & 0x80…80` is nonzero if and only if a byte of the word is zero; with 0x20 for each
  /// 1, if and only if a byte is less than 0x20.)
  @inline(__always)
  private mutating func skipPlain(_ seen: inout UInt64) {
    let ones: UInt64 = 0x0101_0101_0101_0101
    while position + 8 <= end {
      let word = unsafe UnsafeRawPointer(text + position).loadUnaligned(as: UInt64.self).littleEndian
      let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
      let slashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
      let found =
        ((quotes &- ones) & ~quotes) | ((slashes &- ones) & ~slashes) | ((word &- ones &* 0x20) & ~word)
      let marks = found & (ones &* 0x80)
      guard marks == 0 else {
        // Borrows propagate only towards later bytes, so the first mark is correct.
        let count = marks.trailingZeroBitCount & ~7
        seen |= word & ((1 << UInt64(count)) - 1)
        position += count / 8
        return
      }
      seen |= word
      position += 8
    }
  }

  /// Whether the bytes from `start` to the position are UTF-8 (RFC 3629). Escapes are ASCII, so they do not
  /// matter.
  @inline(never)
  private func isUTF8(from start: Int) -> Bool {
    let bytes = unsafe Span(_unsafeStart: text + start, count: position - start)
    return (try? UTF8Span(validating: bytes)) != nil
  }

  /// RFC 8259 §7. The grammar allows an unpaired surrogate (§8.2); such a string reads as nil (JSONNode).
  @inline(__always)
  private mutating func skipEscape() -> Bool {
    guard position + 1 < end else { return false }
    switch unsafe text[position + 1] {
    case UInt8(ascii: "u"): break
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      position += 2
      return true
    default: return false
    }
    position += 2
    guard position + 4 <= end else { return false }
    for _ in 0..<4 {
      let byte = unsafe text[position]
      guard byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 6 else { return false }
      position += 1
    }
    return true
  }

  /// RFC 8259 §6.
  @inline(__always)
  mutating func number() -> Bool {
    let start = position
    if unsafe text[position] == UInt8(ascii: "-") { position += 1 }
    // A leading zero is the whole integer: the next byte must not be a digit.
    if position < end, unsafe text[position] == UInt8(ascii: "0") {
      position += 1
    } else {
      guard skipDigits() else { return false }
    }
    if position < end, unsafe text[position] == UInt8(ascii: ".") {
      position += 1
      guard skipDigits() else { return false }
    }
    if position < end, unsafe text[position] | 0x20 == UInt8(ascii: "e") {
      position += 1
      if position < end, unsafe text[position] == UInt8(ascii: "+") || text[position] == UInt8(ascii: "-") {
        position += 1
      }
      guard skipDigits() else { return false }
    }
    append(.number, start: start, count: position - start)
    return true
  }

  /// - Returns: whether there was at least one.
  @inline(__always)
  private mutating func skipDigits() -> Bool {
    let start = position
    while position < end, unsafe text[position] &- UInt8(ascii: "0") < 10 { position += 1 }
    return position > start
  }

  @inline(__always)
  mutating func word(_ word: StaticString, _ kind: JSONPlace.Kind) -> Step {
    let length = word.utf8CodeUnitCount
    guard position + length <= end else { return .failed }
    for offset in 0..<length where unsafe text[position + offset] != word.utf8Start[offset] {
      return .failed
    }
    append(kind, start: position, count: length)
    position += length
    return .ended
  }
}
