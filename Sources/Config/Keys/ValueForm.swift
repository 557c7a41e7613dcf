// The forms that values of the configuration have: how each is read, shown and described. Pure; any thread.

internal import Domain
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
    let number = ValueForm<Int>.integer(in: KeyRanges.ports)
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

// MARK: - Mail

// Addresses of e-mails. Pure; any thread.

extension ValueForm<String> {
  /// An address as RFC 5321 §4.1.2 has it, without quotes and comments: it becomes an argument of a program
  /// and a part of a header.
  static var mailAddress: ValueForm {
    ValueForm(
      shape: ValueShape("an e-mail address", .pattern(MailAddress.pattern)),
      read: { value, path, context in
        let expected = "an e-mail address, such as ops@example.com"
        guard let text = context.text(value, path: path, mustBe: expected) else { return nil }
        if !MailAddress.isValid(text) { context.collector.fault(path, "must be \(expected)") }
        return text
      }, show: JSONValue.string)
  }
}

private enum MailAddress {
  private static let marks = "!#$%&'*+/=?^_`{|}~"

  /// Accepts every valid address, and some others.
  static let pattern = "^[A-Za-z0-9\(marks)][A-Za-z0-9\(marks).-]{0,63}@[A-Za-z0-9][A-Za-z0-9.-]*$"

  static func isValid(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    guard parts.count == 2, let name = parts.first, let host = parts.last, name.count <= 64,
      host.count <= 253
    else { return false }
    let dot = UInt8(ascii: ".")
    let words = [name, host].flatMap { $0.split(separator: dot, omittingEmptySubsequences: false) }
    let hyphen = UInt8(ascii: "-")
    // A hyphen at the beginning would make an option of it.
    return words.allSatisfy { !$0.isEmpty } && name.first != hyphen && host.first != hyphen
      && name.allSatisfy { isAlphanumeric($0) || $0 == dot || $0 == hyphen || marks.utf8.contains($0) }
      && host.allSatisfy { isAlphanumeric($0) || $0 == dot || $0 == hyphen }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}

// MARK: - Prices

// Objects with one item for each name of a price. As ConfigurationReader: one thread, every fault.

extension ValueForm {
  /// - Parameters:
  ///   - words: the items, in the plural.
  ///   - schema: the JSON Schema of an item.
  ///   - read: an item at a path, by the name of its price; nil after a fault.
  static func byPrice<Item>(
    _ words: String, schema: JSONValue,
    read: @escaping @Sendable (JSONValue, _ name: String, _ path: String, ConfigurationReader) -> Item?,
    show: @escaping @Sendable (_ name: String, Item) -> JSONValue
  ) -> ValueForm where Value == [PriceID: Item] {
    let range = KeyRanges.prices
    let nameBytesMax = UntrustedText.identifierBytesMax
    return ValueForm(
      shape: ValueShape(
        "an object of up to \(range.upperBound) \(words), by price",
        [
          "type": "object", "minProperties": .integer(Int64(range.lowerBound)),
          "maxProperties": .integer(Int64(range.upperBound)),
          "propertyNames": .text(bytesMax: nameBytesMax), "additionalProperties": schema,
        ]),
      read: { value, path, context in
        let reader = ObjectReader(value, path: path, collector: context.collector)
        if reader.isObject, !range.contains(reader.names.count) {
          context.collector.fault(
            path,
            "must have from \(range.lowerBound) to \(range.upperBound) prices, but has \(reader.names.count)")
        }
        var items: [PriceID: Item] = [:]
        for name in reader.names {
          let path = reader.path(of: name)
          if UntrustedText.identifier(name) == nil {
            context.collector.fault(
              path, "needs a name of 1 to \(nameBytesMax) bytes without control characters")
          } else if let item = reader.value(name) {
            items[PriceID(name)] = read(item, name, path, context)
          }
        }
        return items
      },
      show: { items in
        .object(
          items.sorted { $0.key < $1.key }.map {
            JSONValue.Member(name: $0.key.text, value: show($0.key.text, $0.value))
          })
      })
  }
}

// MARK: - Page

// Forms of values of the return page: colours, its logo, and where customers get help. As
// ConfigurationReader: one thread, every fault.

extension ValueForm<PageColor> {
  /// A colour in which text can be read on the public pages.
  static func color(_ mode: PageMode) -> ValueForm {
    let expected = "a colour, such as \"#0b57b0\""
    return ValueForm(
      shape: ValueShape("a colour (\"#\" and six hexadecimal digits)", .pattern("^#[0-9A-Fa-f]{6}$")),
      read: { value, path, context in
        guard let text = context.text(value, path: path, mustBe: expected) else { return nil }
        guard let color = PageColor(text) else {
          context.collector.fault(path, "must be \(expected)")
          return nil
        }
        let (ratio, background) = mode.leastContrast(of: color)
        if ratio < PageMode.contrastMin {
          // Rounded down: 4.49 must not be shown as 4.5.
          let tenths = Int(ratio * 10)
          context.collector.fault(
            path,
            "has a contrast of \(tenths / 10).\(tenths % 10) to the page's background \(background.text), "
              + "and text needs \(PageMode.contrastMin) (WCAG 2.2, 1.4.3); "
              + "\(mode.readable(color).text) has that")
        }
        return color
      }, show: { .string($0.text) })
  }
}

extension ValueForm<String> {
  /// The address of a page that customers are led to.
  static var customerPage: ValueForm {
    let endpoint = ValueForm.endpoint(carriesSecret: false, bytesMax: KeyRanges.storeURLBytesMax)
    var form = endpoint
    form.read = { value, path, context in
      guard let url = endpoint.read(value, path, context) else { return nil }
      if Link(https: url) == nil {
        context.collector.fault(path, "must begin with https:// and a host's name, and have no @ and no '")
      }
      return url
    }
    return form
  }
}

extension ValueForm<AppConfiguration.Links.Support> {
  static var support: ValueForm {
    let address = ValueForm<String>.mailAddress
    let page = ValueForm<String>.customerPage
    return ValueForm(
      shape: ValueShape(
        "an https URL or an e-mail address",
        .text(bytesMax: KeyRanges.storeURLBytesMax).adding("pattern", "(^[Hh][Tt][Tt][Pp]|@)")),
      read: { value, path, context in
        if let text = value.stringValue, text.contains("@"), !text.contains("/") {
          return address.read(value, path, context).map { .address($0) }
        }
        return page.read(value, path, context).map { .page($0) }
      }, show: { .string($0.text) })
  }
}

extension ValueForm<AppConfiguration.Links.Logo> {
  /// The path of a picture, which the daemon reads when it starts and with each reload.
  static var logo: ValueForm {
    ValueForm(
      shape: ValueShape("the path of an SVG or PNG file", .text()),
      read: { value, path, context in
        context.filePath(value, path: path).flatMap { context.logo($0, path: path) }
      }, show: { .string($0.path) })
  }
}

extension ConfigurationReader {
  fileprivate func logo(_ file: String, path: String) -> AppConfiguration.Links.Logo? {
    // Only the daemon serves it.
    guard secrets.policy == .required else { return .init(path: file, format: .svg, bytes: []) }
    do {
      let bytes = try FileReading.content(of: file, bytesMax: KeyRanges.logoBytesMax).bytes
      if let format = AppConfiguration.Links.Logo.Format(bytes) {
        return .init(path: file, format: format, bytes: bytes)
      }
      collector.fault(path, "is neither an SVG nor a PNG picture: \(file)")
    } catch {
      collector.fault(
        path,
        "cannot read \(file) (\(error.reason)); a picture of up to \(KeyRanges.logoBytesMax) "
          + "bytes that the service's user may read is needed")
    }
    return nil
  }
}
