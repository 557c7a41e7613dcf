// The two readers of JSON against each other: the one that reads fields where they stand, and the one that
// makes a value of everything.

import JSON

extension FuzzTarget {
  /// Both read the same, or neither reads it. What stands in a text and is no value, as a number beyond all
  /// bounds, keeps the second from reading it at all, and the first from reading that part.
  static func checkNodes(_ bytes: [UInt8]) throws {
    let read = JSONDocument.read(bytes) { wholeValue(of: $0) } ?? nil
    let decoded = try? JSONValue(parsing: bytes)
    switch (read, decoded) {
    case (nil, nil): return
    case (let read?, let decoded?): try hold(areAlike(read, decoded), "\(read.text) and \(decoded.text)")
    case (let read?, nil): try hold(false, "only the first reads \(read.text)")
    case (nil, let decoded?): try hold(false, "only the second reads \(decoded.text)")
    }
  }

  /// Equal but for numbers that no `Double` is: the decoder rounds them to whole ones, in either direction.
  private static func areAlike(_ left: JSONValue, _ right: JSONValue) -> Bool {
    switch (left, right) {
    case (.array(let left), .array(let right)):
      return left.count == right.count && zip(left, right).allSatisfy(areAlike)
    case (.object(let left), .object(let right)):
      return left.count == right.count
        && zip(left, right).allSatisfy { $0.name == $1.name && areAlike($0.value, $1.value) }
    case (.integer(let left), .number(let right)), (.number(let right), .integer(let left)):
      return isNear(Double(left), right)
    case (.number(let left), .number(let right)): return isNear(left, right)
    default: return left == right
    }
  }

  private static func isNear(_ left: Double, _ right: Double) -> Bool {
    abs(left - right) <= abs(left) * 1e-15
  }

  /// As the decoder orders it: of equal names the first, and names in order.
  private static func wholeValue(of node: JSONNode) -> JSONValue? {
    if node.isNull { return .null }
    if let flag = node.bool { return .bool(flag) }
    if let number = node.int64 { return .integer(number) }
    if let number = node.double { return .number(number) }
    if let text = node.string { return .string(text) }
    var isWhole = true
    var elements: [JSONValue] = []
    node.forEachElement { element in
      if let value = wholeValue(of: element) { elements.append(value) } else { isWhole = false }
    }
    var members: [String: JSONValue] = [:]
    var names: Set<String> = []
    node.forEachMember { name, node in
      guard let name = name.string else { return isWhole = false }
      guard names.insert(name).inserted else { return }
      members[name] = wholeValue(of: node)
    }
    guard isWhole, members.count == names.count, node.isArray || node.isObject else { return nil }
    if node.isArray { return .array(elements) }
    return .object(members.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: $0.value) })
  }
}
