// The forms that values of the configuration have: how each is read, shown and described. Pure; any thread.

internal import Formats
internal import Platform

/// One form of values.
struct ValueForm<Value: Sendable>: Sendable {
  /// What a document says of it.
  var shape: ValueShape { makeShape() }
  /// Converts the file's value, which is at this path; nil after a fault.
  var read: @Sendable (JSONValue, String, ConfigurationReader) -> Value?
  /// The value as a file would write it; of a secret, only its source (R7).
  var show: @Sendable (Value) -> JSONValue
  /// The secrets in a value that is at this path.
  var secrets: @Sendable (Value, String) -> [Configuration.SecretEntry]
  /// Not needed to read a file.
  private var makeShape: @Sendable () -> ValueShape

  init(
    shape: @escaping @autoclosure @Sendable () -> ValueShape,
    read: @escaping @Sendable (JSONValue, String, ConfigurationReader) -> Value?,
    show: @escaping @Sendable (Value) -> JSONValue,
    secrets: @escaping @Sendable (Value, String) -> [Configuration.SecretEntry] = { _, _ in [] }
  ) {
    makeShape = shape
    self.read = read
    self.show = show
    self.secrets = secrets
  }

  /// The same form with another description.
  func described(_ change: @escaping @Sendable (inout ValueShape) -> Void) -> Self {
    var form = self
    form.makeShape = { [makeShape] in
      var shape = makeShape()
      change(&shape)
      return shape
    }
    return form
  }

  /// A form whose faults say what the value must be, and what it is instead.
  /// - Parameters:
  ///   - expected: the end of "must be …"; the words of the shape unless it is given.
  ///   - isText: whether values are strings, so that a string is faulty for its content.
  init(
    _ words: String, mustBe expected: String? = nil, isText: Bool = false,
    schema: @escaping @autoclosure @Sendable () -> JSONValue,
    show: @escaping @Sendable (Value) -> JSONValue, convert: @escaping @Sendable (JSONValue) -> Value?
  ) {
    self.init(
      shape: ValueShape(words, schema()),
      read: { value, path, context in
        if let converted = convert(value) { return converted }
        let kind = isText ? value.otherKind : value.kind
        context.collector.fault(path, "must be \(expected ?? words), but is \(kind)")
        return nil
      }, show: show)
  }
}

extension ValueForm<Bool> {
  static var flag: ValueForm {
    ValueForm("true or false", schema: ["type": "boolean"], show: JSONValue.bool) {
      guard case .bool(let flag) = $0 else { return nil }
      return flag
    }
  }
}

extension ValueForm<Int> {
  static func integer(in range: ClosedRange<Int>) -> ValueForm {
    ValueForm(
      "a whole number from \(range.lowerBound) to \(range.upperBound)",
      schema: [
        "type": "integer", "minimum": .integer(Int64(range.lowerBound)),
        "maximum": .integer(Int64(range.upperBound)),
      ], show: { .integer(Int64($0)) }
    ) {
      guard case .integer(let number) = $0, let number = Int(exactly: number), range.contains(number) else {
        return nil
      }
      return number
    }
  }

  /// A number of bytes.
  static func size(in range: ClosedRange<Int>) -> ValueForm {
    let bounds = "from \(SizeText.text(bytes: range.lowerBound)) to \(SizeText.text(bytes: range.upperBound))"
    return ValueForm(
      "a size \(bounds)", mustBe: "a size such as \"64KiB\" or \"1MiB\", \(bounds)", isText: true,
      schema: ["type": "string", "pattern": "^[0-9]+(B|KiB|MiB|GiB)$"],
      show: { .string(SizeText.text(bytes: $0)) }
    ) {
      guard case .string(let text) = $0, let bytes = SizeText.bytes(parsing: text), range.contains(bytes)
      else { return nil }
      return bytes
    }
  }
}

extension ValueForm<UInt16> {
  static var port: ValueForm {
    let number = ValueForm<Int>.integer(in: ConfigurationLimits.ports)
    return ValueForm(
      shape: number.shape, read: { number.read($0, $1, $2).map(UInt16.init(clamping:)) },
      show: { .integer(Int64($0)) })
  }
}

extension ValueForm<Double> {
  static func number(in range: ClosedRange<Double>) -> ValueForm {
    ValueForm(
      "a number from \(range.lowerBound) to \(range.upperBound)",
      schema: [
        "type": "number", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound),
      ], show: JSONValue.number
    ) {
      switch $0 {
      case .integer(let number): range.contains(Double(number)) ? Double(number) : nil
      case .number(let number): range.contains(number) ? number : nil
      default: nil
      }
    }
  }
}

extension ValueForm<Duration> {
  static func duration(in range: ClosedRange<Duration>) -> ValueForm {
    let bounds = [range.lowerBound, range.upperBound].map { DurationText.text($0) }
    return ValueForm(
      "a duration from \(bounds[0]) to \(bounds[1])",
      mustBe: "a duration such as \"250ms\", \"30s\", \"5m\", \"72h\" or \"30d\", from \(bounds[0]) to "
        + bounds[1], isText: true,
      schema: ["type": "string", "pattern": "^[0-9]+(ms|s|m|h|d)$"],
      show: { .string(DurationText.text($0)) }
    ) {
      guard case .string(let text) = $0, let duration = DurationText.duration(parsing: text) else {
        return nil
      }
      return range.contains(duration) ? duration : nil
    }
  }
}

extension ValueForm where Value: RawRepresentable<String> & CaseIterable {
  /// One of the values of an enumeration; a fault suggests the nearest one.
  static var choice: ValueForm {
    let names = Value.allCases.map(\.rawValue)
    return ValueForm(
      shape: .choice(names),
      read: { value, path, context in
        let expected = "must be one of \(names.joined(separator: ", "))"
        guard case .string(let text) = value else {
          context.collector.fault(path, "\(expected), but is \(value.kind)")
          return nil
        }
        if let choice = Value(rawValue: text) { return choice }
        let near = EditDistance.nearest(to: text, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
        context.collector.fault(path, "\(expected)\(near)")
        return nil
      }, show: { .string($0.rawValue) })
  }
}

extension ValueShape {
  /// One of these strings.
  static func choice(_ names: [String]) -> ValueShape {
    let quoted = names.map { "\"\($0)\"" }
    let words = [quoted.dropLast().joined(separator: ", "), quoted.last ?? ""].filter { !$0.isEmpty }
    return ValueShape(
      words.joined(separator: " or "), ["type": "string", "enum": .array(names.map(JSONValue.string))])
  }
}

extension ValueShape {
  /// A list of values of another shape.
  fileprivate static func list(of element: ValueShape, count: ClosedRange<Int>, _ what: String) -> Self {
    let least = count.lowerBound == 0 ? "up to" : "\(count.lowerBound) to"
    var shape = ValueShape(
      "a list of \(least) \(count.upperBound) \(what)",
      [
        "type": "array", "items": element.schema, "minItems": .integer(Int64(count.lowerBound)),
        "maxItems": .integer(Int64(count.upperBound)),
      ])
    shape.members = element.members
    shape.infix = element.members.isEmpty ? "" : "[]"
    return shape
  }
}

extension ValueForm {
  /// A list. Elements that are the same are a fault if `twin` says what to do about it.
  /// - Parameters:
  ///   - what: the elements, in the plural.
  ///   - isSame: whether two elements are the same.
  ///   - twin: the fault of an element, given the path of the same one before it.
  static func list<Element>(
    of form: ValueForm<Element>, count: ClosedRange<Int>, _ what: String,
    isSame: @escaping @Sendable (Element, Element) -> Bool = { _, _ in false },
    twin: @escaping @Sendable (String) -> String = { _ in "is in the list already; take it out" }
  ) -> ValueForm where Value == [Element] {
    ValueForm(
      shape: .list(of: form.shape, count: count, what),
      read: { value, path, context in
        guard let entries = context.list(value, path: path, count: count, of: what) else { return nil }
        var found: [(element: Element, path: String)] = []
        for (value, path) in entries {
          guard let element = form.read(value, path, context) else { continue }
          if let first = found.first(where: { isSame($0.element, element) }) {
            context.collector.fault(path, twin(first.path))
          }
          found.append((element, path))
        }
        return found.map(\.element)
      },
      show: { .array($0.map(form.show)) },
      secrets: { elements, path in
        elements.enumerated().flatMap { form.secrets($0.element, "\(path)[\($0.offset)]") }
      })
  }

  /// A list of different values.
  static func set<Element: Equatable>(
    of form: ValueForm<Element>, count: ClosedRange<Int>, _ what: String
  ) -> ValueForm where Value == [Element] {
    list(of: form, count: count, what, isSame: ==)
  }
}
