// Reads fields of a JSON text in place, for speed: a view of the bytes that makes only the requested values.
// Every accessor returns nil for a missing value or one of another kind. Pure; thread-safe.

/// Reads a JSON text (RFC 8259).
public enum JSONDocument {
  /// Calls `body` with the root value of a text.
  ///
  /// The whole text is checked first. The grammar allows a string with an unpaired surrogate and a number
  /// that no type can hold (RFC 8259 §6, §8.2): only these read as nil.
  /// - Parameter body: may use the node and its descendants until it returns; none may escape it.
  /// - Returns: the result of `body`; nil when `bytes` are not a JSON text in UTF-8, nest more than 512
  ///   levels or are longer than 2 GiB.
  public static func read<Result, Failure: Error>(
    _ bytes: [UInt8], _ body: (JSONNode) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    try read(bytes.span, body)
  }

  /// The offset of the first invalid byte of a JSON text; the number of bytes when the text ends too early,
  /// and nil when it is valid JSON. For messages.
  static func faultOffset(_ bytes: [UInt8]) -> Int? {
    unsafe bytes.withUnsafeBufferPointer { text in
      guard let base = text.baseAddress, text.count <= Int32.max else { return 0 }
      var tape = unsafe JSONTape(text, at: base)
      return tape.scan() ? nil : tape.position
    }
  }

  /// The same, for a span.
  public static func read<Result, Failure: Error>(
    _ bytes: Span<UInt8>, _ body: (JSONNode) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    try unsafe bytes.withUnsafeBufferPointer { (text) throws(Failure) -> Result? in
      guard let base = text.baseAddress, text.count <= Int32.max else { return nil }
      var tape = unsafe JSONTape(text, at: base)
      guard tape.scan() else { return nil }
      return try unsafe tape.withPlaces { (places) throws(Failure) in
        try unsafe body(JSONNode(text: base, places: places, index: 0))
      }
    }
  }
}

/// One value of a text. Borrows the text and its places: see `JSONDocument.read`.
@safe public struct JSONNode {
  fileprivate let text: UnsafePointer<UInt8>
  fileprivate let places: UnsafePointer<JSONPlace>
  fileprivate let index: Int

  fileprivate init(text: UnsafePointer<UInt8>, places: UnsafePointer<JSONPlace>, index: Int) {
    unsafe self.text = text
    unsafe self.places = places
    self.index = index
  }

  private var place: JSONPlace { unsafe places[index] }

  private func node(at index: Int) -> JSONNode {
    unsafe JSONNode(text: text, places: places, index: index)
  }

  private func bytes(_ place: JSONPlace) -> UnsafeBufferPointer<UInt8> {
    unsafe UnsafeBufferPointer(start: text + Int(place.start), count: Int(place.count))
  }

  // MARK: Kinds and values

  /// Whether it is `null`.
  public var isNull: Bool { place.kind == .null }
  /// Whether it is a string, including one with an unpaired surrogate.
  public var isString: Bool { place.kind == .string }
  /// Whether it is an object.
  public var isObject: Bool { place.kind == .object }
  /// Whether it is an array.
  public var isArray: Bool { place.kind == .array }

  /// The value of `true` or `false`.
  public var bool: Bool? {
    switch place.kind {
    case .yes: true
    case .no: false
    default: nil
    }
  }

  /// The text of a string; nil for one with an unpaired surrogate, which Unicode text cannot hold.
  public var string: String? {
    let place = place
    guard place.kind == .string else { return nil }
    let bytes = unsafe bytes(place)
    guard place.isPlain && place.isASCII else { return unsafe Self.string(bytes, isPlain: place.isPlain) }
    // The bytes are ASCII, so no validation is needed.
    return unsafe String(unsafeUninitializedCapacity: bytes.count) {
      unsafe $0.initialize(fromContentsOf: bytes)
    }
  }

  /// Whether it is a string equal to this text.
  public func isString(_ text: StaticString) -> Bool {
    let place = place
    return unsafe place.kind == .string && isString(place, text.utf8)
  }

  /// A number that is an integer and fits, in any notation (`1`, `1.0`, `1e0`).
  public var int64: Int64? {
    let place = place
    guard place.kind == .number else { return nil }
    return unsafe JSONNumber(bytes(place))?.int64
  }

  /// A number, rounded to the nearest `Double`; nil when it is too large for one.
  public var double: Double? {
    let place = place
    guard place.kind == .number else { return nil }
    return unsafe JSONNumber(bytes(place))?.double
  }

  /// The range of an object or an array in the text, brackets included; nil for anything else.
  public var range: Range<Int>? {
    let place = place
    guard place.kind == .object || place.kind == .array else { return nil }
    return Int(place.start)..<Int(place.start) + Int(place.count)
  }

  /// The range of any value in the text: brackets and quotes included.
  public var textRange: Range<Int> {
    let place = place
    let (start, end) = (Int(place.start), Int(place.start) + Int(place.count))
    return place.kind == .string ? start - 1..<end + 1 : start..<end
  }

  // MARK: Members and elements

  /// The value of the first member with this name; nil when this is not an object or has no such member.
  /// Names are compared by their scalars.
  public func member(_ name: StaticString) -> JSONNode? {
    unsafe member(name.utf8)
  }

  /// The same, for a name that is not a literal.
  public func member(named name: String) -> JSONNode? {
    var name = name
    return name.withUTF8 { unsafe member($0) }
  }

  private func member(_ name: UnsafeBufferPointer<UInt8>) -> JSONNode? {
    let object = place
    guard object.kind == .object else { return nil }
    var key = index + 1
    while key < object.next {
      if unsafe isString(places[key], name) { return node(at: key + 1) }
      key = unsafe Int(places[key + 1].next)
    }
    return nil
  }

  /// Calls `body` with each element of an array, in order; does nothing for any other kind.
  public func forEachElement(_ body: (JSONNode) -> Void) {
    let array = place
    guard array.kind == .array else { return }
    var element = index + 1
    while element < array.next {
      body(node(at: element))
      element = unsafe Int(places[element].next)
    }
  }

  /// Calls `body` with each member of an object, in order; does nothing for any other kind.
  /// - name: a string node.
  public func forEachMember(_ body: (_ name: JSONNode, _ value: JSONNode) -> Void) {
    let object = place
    guard object.kind == .object else { return }
    var key = index + 1
    while key < object.next {
      body(node(at: key), node(at: key + 1))
      key = unsafe Int(places[key + 1].next)
    }
  }

  // MARK: Strings

  @inline(__always)
  private func isString(_ place: JSONPlace, _ wanted: UnsafeBufferPointer<UInt8>) -> Bool {
    guard place.isPlain else {
      return unsafe Self.string(bytes(place), isPlain: false)?.utf8.elementsEqual(wanted) ?? false
    }
    guard Int(place.count) == wanted.count else { return false }
    let start = Int(place.start)
    for offset in 0..<wanted.count where unsafe text[start + offset] != wanted[offset] { return false }
    return true
  }

  private static func string(_ bytes: UnsafeBufferPointer<UInt8>, isPlain: Bool) -> String? {
    if isPlain { return unsafe String(validating: bytes, as: UTF8.self) }
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    // By index: a text may have millions of bytes, and slicing costs more for each.
    var position = 0
    while position < bytes.count {
      let byte = unsafe bytes[position]
      position += 1
      if byte == UInt8(ascii: "\\") {
        guard let scalar = unsafe unescaped(bytes, &position) else { return nil }
        if scalar.isASCII {
          out.append(UInt8(truncatingIfNeeded: scalar.value))
        } else {
          out.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
      } else {
        out.append(byte)
      }
    }
    return String(validating: out, as: UTF8.self)
  }

  /// RFC 8259 §7. `position` is after the backslash; the scanner has checked that at least one byte follows.
  private static func unescaped(
    _ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int
  ) -> Unicode.Scalar? {
    let letter = unsafe bytes[position]
    position += 1
    switch letter {
    case UInt8(ascii: "u"): break
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    default: return nil
    }
    guard let first = unsafe codeUnit(bytes, &position) else { return nil }
    guard first & 0xFC00 == 0xD800 else { return Unicode.Scalar(first) }
    guard position + 2 <= bytes.count, unsafe bytes[position] == UInt8(ascii: "\\") else { return nil }
    guard unsafe bytes[position + 1] == UInt8(ascii: "u") else { return nil }
    position += 2
    guard let second = unsafe codeUnit(bytes, &position), second & 0xFC00 == 0xDC00 else { return nil }
    return Unicode.Scalar(0x10000 + (first & 0x3FF) << 10 + second & 0x3FF)
  }

  private static func codeUnit(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> UInt32? {
    guard position + 4 <= bytes.count else { return nil }
    var unit: UInt32 = 0
    let end = position + 4
    while position < end {
      let digit = unsafe UInt32(bytes[position])
      position += 1
      let letter = (digit | 0x20) &- 0x61
      if digit &- 0x30 < 10 {
        unit = unit << 4 | (digit &- 0x30)
      } else if letter < 6 {
        unit = unit << 4 | (letter + 10)
      } else {
        return nil
      }
    }
    return unit
  }
}

extension StaticString {
  fileprivate var utf8: UnsafeBufferPointer<UInt8> {
    unsafe UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
  }
}
