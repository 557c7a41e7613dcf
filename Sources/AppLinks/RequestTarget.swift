// Which request targets may be carried on as they are. Pure; any thread.

/// The rule for targets that are put into an attribute, a header or an `intent:` URL byte for byte.
public enum RequestTarget {
  /// Whether a text is a path, with or without a query, of bytes that browsers send as they are. They send
  /// `{ } | ^ ' ;`, the backtick and the backslash in a query (WHATWG URL, query percent-encode set), and
  /// never a control character, a blank, `"`, `<`, `>`, `#` or what is not ASCII: with one of these a target
  /// could leave the place that it is put into.
  public static func isPlain(_ text: some StringProtocol) -> Bool {
    text.utf8.first == UInt8(ascii: "/")
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"<>#".utf8.contains($0) }
  }
}
