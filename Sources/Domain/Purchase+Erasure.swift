// What remains of a purchase whose user was erased. Pure; any thread.

extension Purchase {
  /// The prefix of the hash that replaces an id. No processor's id contains a colon.
  public static let erasedPrefix = "erased:"

  /// Whether a text is the hash of an erased id.
  public static func isErased(_ id: some TextID) -> Bool { id.text.utf8.starts(with: erasedPrefix.utf8) }

  /// Whether the purchase's user was erased.
  public var isErased: Bool { Self.isErased(key.id) }
}
