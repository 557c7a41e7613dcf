// The members of a JSON object, read so that no two readers can differ: a name that stands twice makes the
// whole of it worthless (RFC 7515 §4, RFC 7517 §4, RFC 7519 §4). Pure; any thread.

internal import JSON

extension JSONNode {
  /// Whether it is an object in which no name stands twice and each name is a text.
  var isStrictObject: Bool {
    guard isObject else { return false }
    var names: Set<[UInt8]> = []
    var isStrict = true
    forEachMember { name, _ in
      guard let text = name.string else { return isStrict = false }
      // As bytes: for Swift, names of the same look are the same.
      if !names.insert(Array(text.utf8)).inserted { isStrict = false }
    }
    return isStrict
  }
}
