// The request target of a payment URL. Apps recognise their payment URL letter by letter, so it is carried on
// byte for byte: what could leave the attribute or the header that it is put into is refused, and nothing is
// repaired. A value; any thread; total over all texts.

/// A request target of bytes that browsers send as they are, with the parameters of its query.
public struct CallbackTarget: Sendable, Hashable {
  /// The longest target of a payment URL, in bytes. Whole it is sent on in a header, every third byte of
  /// which may have needed two more, and stands twice in a page that is to be small.
  public static let byteCountMax = 2_048

  /// As it came: a path, and what follows its first `?`. ASCII without blanks, control characters, `"`, `<`,
  /// `>` and `#`.
  public let text: String
  /// What stands before the query.
  public let path: Substring

  /// One `name=value` between two `&`.
  private struct Item: Hashable {
    let text: Substring
    /// Decoded; not always UTF-8.
    let name: [UInt8]
    /// Raw; empty without `=`.
    let value: Substring
  }

  private let items: [Item]

  /// - Parameter byteCountMax: the longest target that is taken.
  public init(_ text: String, byteCountMax: Int = byteCountMax) throws(CallbackFault) {
    guard text.utf8.count <= byteCountMax else { throw .longTarget }
    guard RequestTarget.isPlain(text) else { throw .impureTarget }
    self.text = text
    let mark = text.firstIndex(of: "?")
    path = text[..<(mark ?? text.endIndex)]
    let query = mark.map { text[text.index(after: $0)...] } ?? ""
    items = query.split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return Item(
        text: item, name: URLEscapes.form(parts[0]).bytes, value: parts.count > 1 ? parts[1] : "")
    }
  }

  // MARK: Parameters

  /// The decoded value of a parameter; nil when it is absent.
  ///
  /// Names are compared when decoded: who reads `pack%61ge` as `package` must not see another value than the
  /// one that was checked.
  /// - Throws: when it is there twice, empty, longer than this, or not percent-encoded UTF-8.
  func value(of name: String, byteCountMax: Int) throws(CallbackFault) -> String? {
    let found = items.filter { $0.name.elementsEqual(name.utf8) }
    guard let item = found.first else { return nil }
    guard found.count == 1 else { throw .invalid(name, "stands there more than once; give it once") }
    guard !item.value.isEmpty else { throw .invalid(name, "is empty; give it a value") }
    let (bytes, isBroken) = URLEscapes.form(item.value)
    guard !isBroken, let value = String(validating: bytes, as: UTF8.self) else {
      throw .invalid(name, "is not percent-encoded UTF-8; encode it as encodeURIComponent does")
    }
    guard bytes.count <= byteCountMax else {
      throw .invalid(name, "is longer than \(byteCountMax) bytes; shorten it")
    }
    return value
  }

  /// - Parameter advice: what to write, when it is missing.
  func required(_ name: String, byteCountMax: Int, _ advice: String) throws(CallbackFault) -> String {
    guard let value = try value(of: name, byteCountMax: byteCountMax) else { throw .missing(name, advice) }
    return value
  }

  /// The same target with `name=value` in the place of the parameter of that name, or at its end; everything
  /// else as it came. There must be a query already.
  /// - Parameters: both need no encoding.
  func setting(_ name: String, to value: String) -> String {
    guard let item = items.first(where: { $0.name.elementsEqual(name.utf8) }) else {
      return "\(text)&\(name)=\(value)"
    }
    return "\(text[..<item.text.startIndex])\(name)=\(value)\(text[item.text.endIndex...])"
  }
}
