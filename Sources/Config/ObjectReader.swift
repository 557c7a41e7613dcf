// Reads the members of one configuration object strictly: a missing, mistyped, out-of-range or unknown member
// is a fault. Reading continues with a placeholder, so that the operator sees every fault at once. One
// thread.

internal import Formats
internal import Platform

/// Collects faults and warnings while a configuration is read.
final class FaultCollector {
  private(set) var faults: [Fault] = []
  private(set) var warnings: [Fault] = []

  func fault(_ path: String, _ message: String) { faults.append(Fault(path: path, message: message)) }
  func warning(_ path: String, _ message: String) { warnings.append(Fault(path: path, message: message)) }
}

/// One object and its path.
final class ObjectReader {
  let path: String
  let collector: FaultCollector
  private let members: [JSONValue.Member]
  /// Whether the value is an object; if not, that fault is enough, and its members are not reported as
  /// missing.
  let isObject: Bool

  /// - Parameter value: nil when the key is missing, which is the same as an empty object.
  init(_ value: JSONValue?, path: String, collector: FaultCollector) {
    self.path = path
    self.collector = collector
    switch value {
    case nil: (members, isObject) = ([], true)
    case .object(let members): (self.members, isObject) = (members, true)
    case let other?:
      (members, isObject) = ([], false)
      collector.fault(path, "must be an object, { … }, but is \(other.kind)")
    }
  }

  /// The member names, in the decoder's order.
  var names: [String] { members.map(\.name) }

  func path(of key: String) -> String { JSON5Reader.path(path, key) }

  func has(_ key: String) -> Bool { members.contains { $0.name == key } }

  func value(_ key: String) -> JSONValue? { members.first { $0.name == key }?.value }

  func object(_ key: String) -> ObjectReader {
    guard isObject else { return ObjectReader(unreadableAt: path(of: key), collector: collector) }
    return ObjectReader(value(key), path: path(of: key), collector: collector)
  }

  private init(unreadableAt path: String, collector: FaultCollector) {
    self.path = path
    self.collector = collector
    (members, isObject) = ([], false)
  }

  /// The value of a required key.
  /// - Parameter advice: what to do when it is missing.
  func required(_ key: String, _ advice: String) -> JSONValue? {
    let value = value(key)
    if value == nil, isObject { collector.fault(path(of: key), "is missing; \(advice)") }
    return value
  }

  /// The name under which editors find the JSON Schema of a file; receiptd ignores it.
  static let schemaKey = "$schema"

  /// Reports every key but the known ones. In the outermost object, an editor's reference to the schema is
  /// known, too.
  func reportUnknownKeys(known: [String]) {
    for name in names where !known.contains(name) {
      if path.isEmpty, name == Self.schemaKey {
        guard let other = value(name), other.stringValue == nil else { continue }
        collector.fault(name, "must be the address of a JSON Schema, but is \(other.kind)")
        continue
      }
      let near = EditDistance.nearest(to: name, among: known.sorted())
      let advice =
        near.map { "did you mean \"\($0)\"?" }
        ?? "the keys here are \(known.sorted().joined(separator: ", "))"
      collector.fault(path(of: name), "is not a known key; \(advice)")
    }
  }
}

extension ConfigurationReader {
  /// A string without control characters; nil after a fault.
  func text(_ value: JSONValue, path: String, mustBe expected: String) -> String? {
    guard case .string(let text) = value else {
      collector.fault(path, "must be \(expected), but is \(value.kind)")
      return nil
    }
    let size = text.utf8.count
    guard size > 0, size <= KeyRanges.textBytesMax,
      !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
    else {
      collector.fault(path, "must be \(expected), but is empty, too long or has a control character in it")
      return nil
    }
    return text
  }

  /// The elements of a list with their paths; nil after a fault.
  func list(
    _ value: JSONValue, path: String, count: ClosedRange<Int>, of what: String
  ) -> [(value: JSONValue, path: String)]? {
    guard case .array(let elements) = value else {
      collector.fault(path, "must be a list of \(what), [ … ], but is \(value.kind)")
      return nil
    }
    guard count.contains(elements.count) else {
      let bounds = "from \(count.lowerBound) to \(count.upperBound) \(what)"
      collector.fault(path, "must have \(bounds), but has \(elements.count)")
      return nil
    }
    return elements.enumerated().map { (value: $1, path: "\(path)[\($0)]") }
  }
}

extension JSONValue {
  /// The value's type, for the end of a fault message. Numbers are shown; strings are not, because one may be
  /// a secret (R7).
  var kind: String {
    switch self {
    case .null: "null (leave the key out to get its default)"
    case .bool(let flag): "\(flag)"
    case .integer(let number): "\(number)"
    case .number(let number): "\(number)"
    case .string: "a text"
    case .array: "a list"
    case .object: "an object"
    }
  }

  /// The same for a string that should have another form.
  var otherKind: String { stringValue == nil ? kind : "another text" }
}
