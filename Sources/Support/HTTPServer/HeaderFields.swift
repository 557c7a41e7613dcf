// The header fields of one request: one block of bytes and the end of each field in it. Text is
// made and validated only for the fields that are read. A value; thread-safe.

/// Header fields in the order of the request.
struct HeaderFields: Sendable {
  /// A field's name begins where the previous field ends.
  private struct Field {
    var nameEnd: UInt32
    var valueEnd: UInt32
  }

  private var bytes: [UInt8] = []
  private var fields: [Field] = []

  /// Whether every name is a token and no value holds a NUL or a line break. Another parser may ignore a
  /// space before the colon (RFC 9112 §5.1: reject it), or take a bare line break for the end of the field
  /// (RFC 9110 §5.5).
  var areWellFormed = true
  /// Whether the request line names HTTP/1.0.
  var areOfHTTP10 = false

  init() {
    // Enough for a typical request, so that each array is allocated once.
    bytes.reserveCapacity(512)
    fields.reserveCapacity(16)
  }

  /// Blanks around the value are not a part of it (RFC 9110 §5.5).
  mutating func append(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    if unsafe name.isEmpty || !Self.isToken(name) || Self.breaksLine(value) { areWellFormed = false }
    var (start, end) = (0, value.count)
    while start < end, unsafe Self.isBlank(value[start]) { start += 1 }
    while start < end, unsafe Self.isBlank(value[end - 1]) { end -= 1 }
    let nameStart = bytes.count
    unsafe bytes.append(contentsOf: name)
    let nameEnd = UInt32(truncatingIfNeeded: bytes.count)
    unsafe bytes.append(contentsOf: value[start..<end])
    fields.append(Field(nameEnd: nameEnd, valueEnd: UInt32(truncatingIfNeeded: bytes.count)))
    // libmicrohttpd compares the blanks, too: the body would have no end.
    let coding = "transfer-encoding".utf8.span
    if end < value.count, name.count == coding.count, matches(coding, at: nameStart) { areWellFormed = false }
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  private static func isToken(_ name: UnsafeRawBufferPointer) -> Bool {
    for index in 0..<name.count where unsafe !Token.isByte(name[index]) { return false }
    return true
  }

  private static func breaksLine(_ value: UnsafeRawBufferPointer) -> Bool {
    for index in 0..<value.count {
      let byte = unsafe value[index]
      if byte < 0x10 && (byte == 0 || byte == 0x0A || byte == 0x0D) { return true }
    }
    return false
  }

  /// The values of the fields with this name (RFC 9110 §5.1: case-insensitive).
  func values(_ name: String) -> [ArraySlice<UInt8>] {
    var found: [ArraySlice<UInt8>] = []
    var index = 0
    while let field = next(name, from: &index) { found.append(bytes[field]) }
    return found
  }

  func first(_ name: String) -> ArraySlice<UInt8>? {
    var index = 0
    return next(name, from: &index).map { bytes[$0] }
  }

  func count(_ name: String) -> Int {
    var (index, count) = (0, 0)
    while next(name, from: &index) != nil { count += 1 }
    return count
  }

  /// The range of the value of the next field with this name.
  /// - Parameter index: the field to begin with; then the field after the one found.
  private func next(_ name: String, from index: inout Int) -> Range<Int>? {
    let wanted = name.utf8.span
    while index < fields.count {
      let start = index == 0 ? 0 : Int(fields[index - 1].valueEnd)
      let field = fields[index]
      index += 1
      if Int(field.nameEnd) - start == wanted.count, matches(wanted, at: start) {
        return Int(field.nameEnd)..<Int(field.valueEnd)
      }
    }
    return nil
  }

  private func matches(_ wanted: Span<UInt8>, at start: Int) -> Bool {
    for offset in wanted.indices where Self.lowered(bytes[start + offset]) != Self.lowered(wanted[offset]) {
      return false
    }
    return true
  }

  private static func lowered(_ byte: UInt8) -> UInt8 {
    byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
  }
}

// MARK: - Token

// The characters of a name in HTTP. Pure.

/// Tokens: methods and names of header fields.
enum Token {
  /// RFC 9110 §5.6.2, tchar: one bit for each ASCII character of a token, starting at the lowest.
  private static let low = bits("!#$%&'*+-.0123456789")
  private static let high = bits("ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~")

  private static func bits(_ characters: String) -> UInt64 {
    characters.utf8.reduce(0) { $0 | 1 << UInt64($1 & 63) }
  }

  static func isByte(_ byte: UInt8) -> Bool {
    guard byte < 0x80 else { return false }
    return (byte < 64 ? low : high) >> UInt64(byte & 63) & 1 == 1
  }
}
