// Writes JSON text (RFC 8259). Compact by default; `pretty` indents by two spaces. Pure; thread-safe.

extension JSONValue {
  /// The value as compact JSON text in UTF-8.
  public func serialized() -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(512)
    write(to: &out)
    return out
  }

  /// The value as compact JSON text.
  public var text: String { String(decoding: serialized(), as: UTF8.self) }

  /// The value as JSON text indented by two spaces per level, for people.
  public var prettyText: String {
    var out: [UInt8] = []
    write(to: &out, indent: 0)
    return String(decoding: out, as: UTF8.self)
  }

  /// - Parameter indent: the level of indentation, or nil for compact text.
  private func write(to out: inout [UInt8], indent: Int? = nil) {
    switch self {
    case .null: out.append(contentsOf: "null".utf8)
    case .bool(let flag): out.append(contentsOf: (flag ? "true" : "false").utf8)
    case .integer(let number): out.append(contentsOf: String(number).utf8)
    // RFC 8259 §6: infinities and NaN are not JSON.
    case .number(let number): out.append(contentsOf: (number.isFinite ? String(number) : "null").utf8)
    case .string(let text): Self.write(text, to: &out)
    case .array(let elements):
      Self.writeList(elements, "[", "]", to: &out, indent: indent) { $0.write(to: &$1, indent: $2) }
    case .object(let members):
      Self.writeList(members, "{", "}", to: &out, indent: indent) { member, out, level in
        Self.write(member.name, to: &out)
        out.append(contentsOf: (level == nil ? ":" : ": ").utf8)
        member.value.write(to: &out, indent: level)
      }
    }
  }

  private static func writeList<Element>(
    _ elements: [Element], _ open: String, _ close: String, to out: inout [UInt8], indent: Int?,
    element: (Element, inout [UInt8], Int?) -> Void
  ) {
    func newLine(_ level: Int, _ out: inout [UInt8]) {
      out.append(UInt8(ascii: "\n"))
      out.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * level))
    }
    out.append(contentsOf: open.utf8)
    for (position, item) in elements.enumerated() {
      if position > 0 { out.append(UInt8(ascii: ",")) }
      if let indent { newLine(indent + 1, &out) }
      element(item, &out, indent.map { $0 + 1 })
    }
    if let indent, !elements.isEmpty { newLine(indent, &out) }
    out.append(contentsOf: close.utf8)
  }

  /// RFC 8259 §7: only the quotation mark, the reverse solidus and U+0000–U+001F must be escaped.
  private static func write(_ text: String, to out: inout [UInt8]) {
    out.append(UInt8(ascii: "\""))
    let bytes = text.utf8.span
    if isPlain(bytes) {
      out.append(contentsOf: text.utf8)
    } else {
      for index in bytes.indices { write(bytes[index], to: &out) }
    }
    out.append(UInt8(ascii: "\""))
  }

  private static func isPlain(_ bytes: Span<UInt8>) -> Bool {
    for index in bytes.indices {
      let byte = bytes[index]
      if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return false }
    }
    return true
  }

  private static func write(_ byte: UInt8, to out: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      out.append(UInt8(ascii: "\\"))
      out.append(byte)
    case UInt8(ascii: "\n"): out.append(contentsOf: "\\n".utf8)
    case UInt8(ascii: "\r"): out.append(contentsOf: "\\r".utf8)
    case UInt8(ascii: "\t"): out.append(contentsOf: "\\t".utf8)
    case 0..<0x20:
      out.append(contentsOf: "\\u00".utf8)
      for half in [byte >> 4, byte & 15] {
        out.append(half < 10 ? UInt8(ascii: "0") + half : UInt8(ascii: "a") + half - 10)
      }
    default: out.append(byte)
    }
  }
}
