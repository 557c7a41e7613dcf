// Locates the values of a JSON text: one pass over the bytes that makes a list of places and copies nothing.
// It accepts exactly the texts of RFC 8259 in UTF-8, and checks unused parts as well: two readers of one text
// must not disagree on whether it is JSON. Numbers and escapes are decoded only on request (JSONNode). Pure;
// thread-safe. Limited by the text's length; there is no recursion.

/// The places of one text in order: a container before its content, a key before its value.
///
/// Owns the list, and borrows the text.
@safe struct JSONTape: ~Copyable {
  private var scanner: JSONScanner

  /// - Parameter text: at most 2 GiB.
  init(_ text: UnsafeBufferPointer<UInt8>, at base: UnsafePointer<UInt8>) {
    scanner = unsafe JSONScanner(text, at: base)
  }

  deinit { unsafe scanner.places.deallocate() }

  /// The next byte to read; after a failed scan, the first invalid byte.
  var position: Int { scanner.position }

  /// Finds all places.
  /// - Returns: false when the text is not JSON (RFC 8259 §2) in UTF-8 (§8.1), or is nested too deeply.
  mutating func scan() -> Bool {
    // A local copy, which the compiler keeps in registers.
    var scanner = scanner
    defer { self.scanner = scanner }
    return scanner.scanAll()
  }

  /// Calls `body` with the list, which lives until it returns.
  func withPlaces<Result, Failure: Error>(
    _ body: (UnsafePointer<JSONPlace>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(scanner.places)
  }
}

/// Fills a list of places. Its `JSONTape` frees the list.
@safe struct JSONScanner {
  /// Deeper texts are refused (RFC 8259 §9). Foundation's decoder has the same limit.
  static let depthMax = 512

  let text: UnsafePointer<UInt8>
  let end: Int
  /// The next byte to read; after a failed scan, the first invalid byte.
  var position = 0
  private(set) var places: UnsafeMutablePointer<JSONPlace>
  private var capacity: Int
  private var count = 0
  /// The innermost open container, and the number of open containers.
  private var open = Self.none
  private var depth = 0

  private static let none = UInt32.max

  /// - Parameter text: at most 2 GiB.
  init(_ text: UnsafeBufferPointer<UInt8>, at base: UnsafePointer<UInt8>) {
    unsafe self.text = base
    end = text.count
    // Indented text has about one value or key in 16 bytes; denser text makes the list grow.
    capacity = text.count / 14 + 16
    unsafe places = .allocate(capacity: capacity)
  }

  @inline(__always)
  fileprivate mutating func scanAll() -> Bool {
    // A byte order mark may be ignored (RFC 8259 §8.1).
    if end >= 3, unsafe text[0] == 0xEF && text[1] == 0xBB && text[2] == 0xBF { position = 3 }
    while true {
      switch beginValue() {
      case .failed: return false
      case .opened: continue
      case .ended: break
      }
      switch endValue() {
      case .failed: return false
      case .opened: continue
      case .ended: return true
      }
    }
  }

  enum Step {
    case failed
    /// A value must follow.
    case opened
    case ended
  }

  /// Reads a scalar, an empty container, or the opening bracket of a non-empty container.
  @inline(__always)
  private mutating func beginValue() -> Step {
    guard let byte = skipBlanks() else { return .failed }
    switch byte {
    case UInt8(ascii: "\""): return string() ? .ended : .failed
    case UInt8(ascii: "{"): return container(.object, closing: UInt8(ascii: "}"))
    case UInt8(ascii: "["): return container(.array, closing: UInt8(ascii: "]"))
    case UInt8(ascii: "n"): return word("null", .null)
    case UInt8(ascii: "t"): return word("true", .yes)
    case UInt8(ascii: "f"): return word("false", .no)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return number() ? .ended : .failed
    default: return .failed
    }
  }

  /// Continues after a value: closes the containers that end here.
  @inline(__always)
  private mutating func endValue() -> Step {
    while open != Self.none {
      guard let byte = skipBlanks() else { return .failed }
      let isObject = unsafe places[Int(open)].kind == .object
      if byte == UInt8(ascii: ",") {
        position += 1
        guard isObject else { return .opened }
        return skipBlanks() != nil && key() ? .opened : .failed
      }
      guard byte == UInt8(ascii: isObject ? "}" : "]") else { return .failed }
      position += 1
      close()
    }
    return skipBlanks() == nil ? .ended : .failed
  }

  @inline(__always)
  private mutating func container(_ kind: JSONPlace.Kind, closing: UInt8) -> Step {
    guard depth < Self.depthMax else { return .failed }
    depth += 1
    let index = UInt32(truncatingIfNeeded: count)
    append(kind, start: position, count: 1, next: open)
    open = index
    position += 1
    guard let byte = skipBlanks() else { return .failed }
    if byte == closing {
      position += 1
      close()
      return .ended
    }
    return kind == .array || key() ? .opened : .failed
  }

  @inline(__always)
  private mutating func close() {
    let index = Int(open)
    open = unsafe places[index].next
    unsafe places[index].next = UInt32(truncatingIfNeeded: count)
    unsafe places[index].count = UInt32(truncatingIfNeeded: position) - places[index].start
    depth -= 1
  }

  /// A key and its colon.
  @inline(__always)
  private mutating func key() -> Bool {
    guard unsafe text[position] == UInt8(ascii: "\""), string(), skipBlanks() == UInt8(ascii: ":") else {
      return false
    }
    position += 1
    return true
  }

  /// - Returns: the next byte that is not blank; nil at the end.
  @inline(__always)
  private mutating func skipBlanks() -> UInt8? {
    while position < end {
      let byte = unsafe text[position]
      if byte > 0x20 { return byte }
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
      position += 1
      // Indentation: skips spaces, eight bytes at a time.
      while position + 8 <= end {
        let word = unsafe UnsafeRawPointer(text + position).loadUnaligned(as: UInt64.self).littleEndian
        let other = word ^ 0x2020_2020_2020_2020
        guard other == 0 else {
          position += other.trailingZeroBitCount / 8
          break
        }
        position += 8
      }
    }
    return nil
  }

  @inline(__always)
  mutating func append(
    _ kind: JSONPlace.Kind, start: Int, count length: Int, next: UInt32? = nil, isPlain: Bool = true,
    isASCII: Bool = true
  ) {
    if count == capacity {
      unsafe places = unsafe Self.grown(places, count: count)
      capacity *= 2
    }
    let place = JSONPlace(
      start: UInt32(truncatingIfNeeded: start), count: UInt32(truncatingIfNeeded: length),
      next: next ?? UInt32(truncatingIfNeeded: count + 1), kind: kind, isPlain: isPlain,
      isASCII: isASCII)
    unsafe (places + count).initialize(to: place)
    count += 1
  }

  /// Doubles the capacity. Static with value parameters, so that the scanner can stay in registers.
  @inline(never)
  private static func grown(
    _ places: UnsafeMutablePointer<JSONPlace>, count: Int
  ) -> UnsafeMutablePointer<JSONPlace> {
    let larger = UnsafeMutablePointer<JSONPlace>.allocate(capacity: count * 2)
    unsafe larger.moveInitialize(from: places, count: count)
    unsafe places.deallocate()
    return unsafe larger
  }
}

// MARK: - JSONPlace

// One entry of the list that `JSONTape` makes. A value.

/// One value or key.
struct JSONPlace {
  enum Kind: UInt8 {
    case null, no, yes, number, string, array, object
  }

  /// The first byte; for a string, the byte after its opening quote.
  var start: UInt32
  /// The number of bytes, without the quotes.
  var count: UInt32
  /// The index of the place after this value and its content. While the value is open: the enclosing
  /// container.
  var next: UInt32
  var kind: Kind
  /// For a string: whether it has no escapes, so its bytes are its value.
  var isPlain = true
  /// For a string: whether all its bytes are ASCII.
  var isASCII = true
}
