// The request targets that may be copied unchanged. Pure; thread-safe.

/// The rule for targets that are copied byte for byte into an attribute, a header or an `intent:` URL.
public enum RequestTarget {
  /// Whether a text is a path, with or without a query, of bytes that browsers send unescaped. They send
  /// `{ } | ^ ' ;`, the backtick and the backslash in a query (WHATWG URL, query percent-encode set). They
  /// never send a control character, a blank, `"`, `<`, `>`, `#` or a byte beyond ASCII, with which a target
  /// could end the attribute or header.
  public static func isPlain(_ text: some StringProtocol) -> Bool {
    text.utf8.first == UInt8(ascii: "/")
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"<>#".utf8.contains($0) }
  }
}
