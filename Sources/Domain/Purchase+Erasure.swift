// What is left of a purchase whose user was forgotten. Pure; any thread.

extension Purchase {
  /// Begins what stands in the place of an id. No id of a processor has a colon.
  public static let erasedPrefix = "erased:"

  /// Whether a text stands in the place of an id.
  public static func isErased(_ id: String) -> Bool { id.utf8.starts(with: erasedPrefix.utf8) }

  /// Whether its user was forgotten.
  public var isErased: Bool { Self.isErased(key.id) }
}
