// Parses JSON numbers. Pure; thread-safe.

/// The parts of a JSON number (RFC 8259 §6).
@safe struct JSONNumber {
  private let text: UnsafeBufferPointer<UInt8>
  private var isNegative = false
  /// The ranges of the digits before the point, of those after it and of those of the exponent.
  private var whole = 0..<0
  private var fraction = 0..<0
  private var exponent = 0..<0
  private var isExponentNegative = false

  /// - Returns: nil when the text is not a number.
  init?(_ text: UnsafeBufferPointer<UInt8>) {
    unsafe self.text = unsafe text
    var position = 0
    isNegative = consume("-", at: &position)
    whole = scanDigits(at: &position)
    guard !whole.isEmpty else { return nil }
    if whole.count > 1, unsafe text[whole.lowerBound] == UInt8(ascii: "0") { return nil }
    if consume(".", at: &position) {
      fraction = scanDigits(at: &position)
      if fraction.isEmpty { return nil }
    }
    if consume("e", at: &position) || consume("E", at: &position) {
      isExponentNegative = consume("-", at: &position)
      if !isExponentNegative { _ = consume("+", at: &position) }
      exponent = scanDigits(at: &position)
      if exponent.isEmpty { return nil }
    }
    if position < text.count { return nil }
  }

  /// The value if it is an integer and fits, in any notation.
  var int64: Int64? {
    var (end, scale) = (fraction.upperBound, 0)
    if fraction.isEmpty { end = whole.upperBound } else { scale = -fraction.count }
    if let power = power { scale += power } else { return isZero ? 0 : nil }
    // Trailing zeros reduce the scale; any other digit below the point is a fraction.
    while end > whole.lowerBound, scale < 0 {
      let digit = unsafe text[end - 1]
      guard digit == UInt8(ascii: "0") || digit == UInt8(ascii: ".") else { return nil }
      if digit != UInt8(ascii: ".") { scale += 1 }
      end -= 1
    }
    var number: Int64 = 0
    for index in whole.lowerBound..<end {
      let digit = unsafe text[index]
      if digit == UInt8(ascii: ".") { continue }
      guard let next = append(digit - UInt8(ascii: "0"), to: number) else { return nil }
      number = next
    }
    while scale > 0, number != 0 {
      guard let next = append(0, to: number) else { return nil }
      number = next
      scale -= 1
    }
    return number
  }

  /// The nearest `Double`; nil when it would be infinite.
  var double: Double? {
    guard let text = unsafe String(validating: text, as: UTF8.self), let value = Double(text), value.isFinite
    else { return nil }
    return value
  }

  private var isZero: Bool {
    [whole, fraction].allSatisfy { digits in
      digits.allSatisfy { unsafe text[$0] == UInt8(ascii: "0") }
    }
  }

  /// The exponent; nil when it is too large to matter.
  private var power: Int? {
    var power = 0
    for index in exponent {
      power = unsafe power * 10 + Int(text[index] - UInt8(ascii: "0"))
      if power > 1_000_000 { return nil }
    }
    return isExponentNegative ? -power : power
  }

  /// Counts down for a negative number, because the range of Int64 has one more negative value.
  private func append(_ digit: UInt8, to number: Int64) -> Int64? {
    let (tens, isTooLong) = number.multipliedReportingOverflow(by: 10)
    let (sum, isTooLarge) =
      isNegative
      ? tens.subtractingReportingOverflow(Int64(digit)) : tens.addingReportingOverflow(Int64(digit))
    return isTooLong || isTooLarge ? nil : sum
  }

  private func consume(_ character: Unicode.Scalar, at position: inout Int) -> Bool {
    guard unsafe position < text.count && text[position] == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private func scanDigits(at position: inout Int) -> Range<Int> {
    let start = position
    while unsafe position < text.count && text[position] &- UInt8(ascii: "0") < 10 { position += 1 }
    return start..<position
  }
}
