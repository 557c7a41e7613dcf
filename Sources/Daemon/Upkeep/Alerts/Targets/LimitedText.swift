// Texts within a receiver's limit. Pure; called from any thread.

/// Shortens texts.
enum LimitedText {
  private static let end = "…"

  /// The text, or its beginning with an ellipsis, in at most `limit` UTF-16 units: receivers count characters
  /// in different ways, and no way counts more of them.
  /// - Parameter escape: replaces a character by the text that is sent for it, which counts as it is sent.
  static func cut(_ text: String, to limit: Int, escape: (Character) -> String? = { _ in nil }) -> String {
    var whole = ""
    var size = 0
    /// The beginning that leaves room for the ellipsis.
    var beginning = ""
    for character in text {
      let piece = escape(character) ?? String(character)
      size += piece.utf16.count
      guard size <= limit else { return beginning + end }
      whole += piece
      if size <= limit - end.utf16.count { beginning = whole }
    }
    return whole
  }
}
