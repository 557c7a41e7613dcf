// The relay's JSON reader against the grammar: single fields and the whole value.

import Formats

extension FuzzTarget {
  /// Reader and grammar agree on validity, on which parts have a value, and on the value.
  static func checkNodes(_ bytes: [UInt8]) throws {
    let reference = JSONReference.read(bytes)
    let read = JSONDocument.read(bytes) { node in wholeValue(of: node) }
    try hold(
      (read != nil) == (reference != nil), reference == nil ? "not JSON, and read" : "JSON, and not read")
    // As bytes: `==` ignores Unicode normalisation.
    let expected = reference?.value?.text
    let nodes = (read ?? nil)?.text
    try hold(isSame(nodes, expected), "the nodes say \(nodes ?? "nothing"), not \(expected ?? "nothing")")
    let whole = (try? JSONValue(parsing: bytes))?.text
    try hold(isSame(whole, expected), "the value is \(whole ?? "nothing"), not \(expected ?? "nothing")")
  }

  private static func isSame(_ left: String?, _ right: String?) -> Bool {
    left.map { Array($0.utf8) } == right.map { Array($0.utf8) }
  }

  /// In the order of `JSONReference.value`. Reads every part, those of a repeated name included.
  private static func wholeValue(of node: JSONNode) -> JSONValue? {
    if node.isNull { return .null }
    if let flag = node.bool { return .bool(flag) }
    if let number = node.int64 { return .integer(number) }
    if let number = node.double { return .number(number) }
    if let text = node.string { return .string(text) }
    guard node.isArray || node.isObject else { return nil }
    var isWhole = true
    var elements: [JSONValue] = []
    node.forEachElement { element in
      if let value = wholeValue(of: element) { elements.append(value) } else { isWhole = false }
    }
    var names: Set<[UInt8]> = []
    var members: [JSONValue.Member] = []
    node.forEachMember { name, node in
      guard let name = name.string, let value = wholeValue(of: node) else { return isWhole = false }
      if names.insert(Array(name.utf8)).inserted { members.append(.init(name: name, value: value)) }
    }
    guard isWhole else { return nil }
    if node.isArray { return .array(elements) }
    return .object(members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) })
  }
}
