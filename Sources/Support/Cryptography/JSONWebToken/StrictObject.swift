// Checks JSON objects strictly, so that two readers cannot disagree: a duplicate name makes the object
// invalid (RFC 7515 §4, RFC 7517 §4, RFC 7519 §4). Pure; thread-safe.

internal import Formats

extension JSONNode {
  /// Whether it is an object without duplicate names, in which each name is valid Unicode.
  var isStrictObject: Bool {
    guard isObject else { return false }
    var names: Set<[UInt8]> = []
    var isStrict = true
    forEachMember { name, _ in
      guard let text = name.string else { return isStrict = false }
      // As bytes: Swift treats canonically equivalent names as equal.
      if !names.insert(Array(text.utf8)).inserted { isStrict = false }
    }
    return isStrict
  }
}
