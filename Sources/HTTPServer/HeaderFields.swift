// The header fields of one request as they came: one block of bytes and where each field ends in it. Text is
// made and validated only for the fields that someone asks for. A value; any thread.

/// Header fields in the order of the request.
struct HeaderFields: Sendable {
  /// A field's name begins where the field before it ends.
  private struct Field {
    var nameEnd: Int
    var valueEnd: Int
  }

  private var bytes: [UInt8] = []
  private var fields: [Field] = []

  init() {
    // What a usual request needs, so that there is one allocation for each array.
    bytes.reserveCapacity(512)
    fields.reserveCapacity(16)
  }

  mutating func append(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    unsafe bytes.append(contentsOf: name)
    let nameEnd = bytes.count
    unsafe bytes.append(contentsOf: value)
    fields.append(Field(nameEnd: nameEnd, valueEnd: bytes.count))
  }

  /// The values of the fields with this name (RFC 9110 §5.1: case does not matter), as they came.
  func values(_ name: String) -> [ArraySlice<UInt8>] {
    var found: [ArraySlice<UInt8>] = []
    forEachValue(name) { value in
      found.append(value)
      return true
    }
    return found
  }

  func first(_ name: String) -> ArraySlice<UInt8>? {
    var found: ArraySlice<UInt8>?
    forEachValue(name) { value in
      found = value
      return false
    }
    return found
  }

  func count(_ name: String) -> Int {
    var count = 0
    forEachValue(name) { _ in
      count += 1
      return true
    }
    return count
  }

  /// Whether every name is a token and no value holds a NUL or a line break, all of which libmicrohttpd lets
  /// through. A name with a space before its colon is one that another reader may take for the name without
  /// it (RFC 9112 §5.1: reject it), and a bare line break one that it may take for the end of the field (RFC
  /// 9110 §5.5).
  var areWellFormed: Bool {
    var start = 0
    for field in fields {
      guard field.nameEnd > start, bytes[start..<field.nameEnd].allSatisfy(Token.isByte),
        !bytes[field.nameEnd..<field.valueEnd].contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D })
      else { return false }
      start = field.valueEnd
    }
    return true
  }

  /// Whether there is a name that begins with this one and is longer, in any case.
  func hasLongerName(than prefix: String) -> Bool {
    let wanted = prefix.utf8
    var start = 0
    for field in fields {
      let name = bytes[start..<field.nameEnd]
      start = field.valueEnd
      if name.count > wanted.count && zip(name, wanted).allSatisfy({ Self.lowered($0) == Self.lowered($1) }) {
        return true
      }
    }
    return false
  }

  /// Stops when `body` returns false.
  private func forEachValue(_ name: String, _ body: (ArraySlice<UInt8>) -> Bool) {
    let wanted = name.utf8
    var start = 0
    for field in fields {
      defer { start = field.valueEnd }
      guard field.nameEnd - start == wanted.count else { continue }
      guard zip(bytes[start..<field.nameEnd], wanted).allSatisfy({ Self.lowered($0) == Self.lowered($1) })
      else {
        continue
      }
      guard body(bytes[field.nameEnd..<field.valueEnd]) else { return }
    }
  }

  private static func lowered(_ byte: UInt8) -> UInt8 {
    byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
  }
}
