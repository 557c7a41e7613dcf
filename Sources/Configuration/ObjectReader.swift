// Reads the members of one configuration object strictly: a missing, mistyped, out-of-range or unknown member
// is a fault. Reading continues with a placeholder, so that the operator sees every fault at once. The known
// keys are those that the code reads, so suggestions always match the code. One thread.

internal import JSON
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
  private let isObject: Bool
  private var asked: [String] = []

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

  func path(of key: String) -> String { JSON5Scanner.path(path, key) }

  /// The value of a key; marks the key as known.
  func value(_ key: String) -> JSONValue? {
    asked.append(key)
    return members.first { $0.name == key }?.value
  }

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

  /// Reports every key that was not read. Call it once, after everything was read.
  func reportUnknownKeys() {
    for name in names where !asked.contains(name) {
      let known = Array(Set(asked)).sorted()
      let near = EditDistance.nearest(to: name, among: known)
      let advice =
        near.map { "did you mean \"\($0)\"?" } ?? "the keys here are \(known.joined(separator: ", "))"
      collector.fault(path(of: name), "is not a known key; \(advice)")
    }
  }
}

extension ObjectReader {
  /// Converts an optional value, or reports the expected type and returns the default.
  private func optional<Value>(
    _ key: String, default fallback: Value, mustBe expected: String, isText: Bool = false,
    _ convert: (JSONValue) -> Value?
  ) -> Value {
    guard let value = value(key) else { return fallback }
    if let converted = convert(value) { return converted }
    collector.fault(path(of: key), "must be \(expected), but is \(isText ? value.otherKind : value.kind)")
    return fallback
  }

  func flag(_ key: String, default fallback: Bool) -> Bool {
    optional(key, default: fallback, mustBe: "true or false") {
      guard case .bool(let flag) = $0 else { return nil }
      return flag
    }
  }

  func integer(_ key: String, default fallback: Int, in range: ClosedRange<Int>) -> Int {
    optional(key, default: fallback, mustBe: "a whole number from \(range.lowerBound) to \(range.upperBound)")
    {
      guard case .integer(let number) = $0, let number = Int(exactly: number), range.contains(number) else {
        return nil
      }
      return number
    }
  }

  func number(_ key: String, default fallback: Double, in range: ClosedRange<Double>) -> Double {
    optional(key, default: fallback, mustBe: "a number from \(range.lowerBound) to \(range.upperBound)") {
      switch $0 {
      case .integer(let number): range.contains(Double(number)) ? Double(number) : nil
      case .number(let number): range.contains(number) ? number : nil
      default: nil
      }
    }
  }

  /// One of the values of an enumeration; a fault suggests the nearest one.
  func choice<Value: RawRepresentable<String> & CaseIterable>(_ key: String, default fallback: Value) -> Value
  {
    let names = Value.allCases.map(\.rawValue)
    guard let value = value(key) else { return fallback }
    if case .string(let text) = value {
      if let choice = Value(rawValue: text) { return choice }
      let near = EditDistance.nearest(to: text, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
      collector.fault(path(of: key), "must be one of \(names.joined(separator: ", "))\(near)")
    } else {
      collector.fault(path(of: key), "must be one of \(names.joined(separator: ", ")), but is \(value.kind)")
    }
    return fallback
  }

  func duration(_ key: String, default fallback: Duration, in range: ClosedRange<Duration>) -> Duration {
    optional(key, default: fallback, mustBe: Self.durationExpectation(range), isText: true) {
      Self.duration($0, in: range)
    }
  }

  /// A list of durations.
  func durations(
    _ key: String, default fallback: [Duration], in range: ClosedRange<Duration>, count: ClosedRange<Int>
  ) -> [Duration] {
    guard let entries = list(value(key), path: path(of: key), count: count, of: "durations") else {
      return fallback
    }
    return entries.compactMap { value, path in
      let duration = Self.duration(value, in: range)
      if duration == nil {
        collector.fault(path, "must be \(Self.durationExpectation(range)), but is \(value.otherKind)")
      }
      return duration
    }
  }

  func size(_ key: String, default fallback: Int, in range: ClosedRange<Int>) -> Int {
    let bounds = "from \(SizeText.text(bytes: range.lowerBound)) to \(SizeText.text(bytes: range.upperBound))"
    return optional(
      key, default: fallback, mustBe: "a size such as \"64KiB\" or \"1MiB\", \(bounds)", isText: true
    ) {
      guard case .string(let text) = $0, let bytes = SizeText.bytes(parsing: text), range.contains(bytes)
      else {
        return nil
      }
      return bytes
    }
  }

  private static func duration(_ value: JSONValue, in range: ClosedRange<Duration>) -> Duration? {
    guard case .string(let text) = value, let duration = DurationText.duration(parsing: text) else {
      return nil
    }
    return range.contains(duration) ? duration : nil
  }

  private static func durationExpectation(_ range: ClosedRange<Duration>) -> String {
    let bounds = [range.lowerBound, range.upperBound].map { DurationText.text($0) }
    return
      "a duration such as \"250ms\", \"30s\", \"5m\", \"72h\" or \"30d\", from \(bounds[0]) to \(bounds[1])"
  }
}

extension ObjectReader {
  /// A string without control characters; nil after a fault.
  func text(_ value: JSONValue?, path: String, mustBe expected: String) -> String? {
    guard let value else { return nil }
    guard case .string(let text) = value else {
      collector.fault(path, "must be \(expected), but is \(value.kind)")
      return nil
    }
    let size = text.utf8.count
    guard size > 0, size <= ConfigurationLimits.textBytesMax,
      !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
    else {
      collector.fault(path, "must be \(expected), but is empty, too long or has a control character in it")
      return nil
    }
    return text
  }

  /// The elements of a list with their paths; nil after a fault.
  func list(
    _ value: JSONValue?, path: String, count: ClosedRange<Int>, of what: String
  ) -> [(value: JSONValue, path: String)]? {
    guard let value else { return nil }
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
  fileprivate var kind: String {
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
  fileprivate var otherKind: String { stringValue == nil ? kind : "another text" }
}
