// Forms of values that are text: names, addresses, URLs, paths and secrets. As ConfigurationReader: one
// thread, every fault.

internal import Domain
internal import Formats
internal import Platform

extension ValueForm<String> {
  /// - Parameter expected: what the text is, as the end of "must be …".
  static func text(_ expected: String, words: String? = nil, bytesMax: Int? = nil) -> ValueForm {
    let most = bytesMax ?? KeyRanges.textBytesMax
    return ValueForm(
      shape: ValueShape(words ?? expected, .text(bytesMax: most)),
      read: { value, path, context in
        guard let text = context.text(value, path: path, mustBe: expected) else { return nil }
        if text.utf8.count > most { context.collector.fault(path, "is longer than \(most) bytes") }
        return text
      }, show: JSONValue.string)
  }

  /// An address of this machine to listen on.
  static var address: ValueForm {
    let expected = "a numeric address, such as \"127.0.0.1\", \"0.0.0.0\" or \"::1\""
    return ValueForm(
      shape: ValueShape("a numeric address", .text()),
      read: { value, path, context in
        guard let text = context.text(value, path: path, mustBe: expected) else { return nil }
        if IPAddress(text) == nil {
          context.collector.fault(path, "must be \(expected); names are not looked up")
        }
        return text
      }, show: JSONValue.string)
  }

  /// A URL, which is shown without the values in its query.
  /// - Parameter carriesSecret: whether a key is sent to the URL.
  static func endpoint(carriesSecret: Bool, bytesMax: Int? = nil) -> ValueForm {
    ValueForm(
      shape: ValueShape("an https URL", .url(bytesMax: bytesMax)),
      read: { value, path, context in
        guard let url = context.text(value, path: path, mustBe: "an address, https://…") else { return nil }
        if let fault = EndpointURL.fault(in: url, carriesSecret: carriesSecret) {
          context.collector.fault(path, fault)
          return nil
        }
        guard let bytesMax, url.utf8.count > bytesMax else { return url }
        context.collector.fault(path, "is longer than \(bytesMax) bytes")
        return nil
      }, show: { .string(RedactedURL.text($0)) })
  }

  /// The path of a file, resolved against the folder of the configuration file.
  static var file: ValueForm {
    ValueForm(
      shape: ValueShape("the path of a file", .text()),
      read: { value, path, context in context.filePath(value, path: path) }, show: JSONValue.string)
  }

  /// The path of a PEM file, which the daemon can read.
  static var pemFile: ValueForm {
    ValueForm(
      shape: ValueShape("the path of a PEM file", .text()),
      read: { value, path, context in
        let file = context.filePath(value, path: path)
        if let file { context.checkPEM(file, path: path, isWhole: file == value.stringValue) }
        return file
      }, show: JSONValue.string)
  }
}

extension ValueForm<DestinationName> {
  /// The name of a destination that accepts a processor's purchases.
  static func destination(of processor: ProcessorName, label: String) -> ValueForm {
    @Sendable func names(_ registry: DestinationRegistry) -> [String] {
      registry.kinds.filter { $0.accepts(processor) }.map(\.name.text)
    }
    return ValueForm(
      shape: .choice(names(.standard)),
      read: { value, path, context in
        let names = names(context.destinations)
        let quoted = names.map { "\"\($0)\"" }.joined(separator: " or ")
        let expected = "the name of a destination for purchases of \(label): \(quoted)"
        guard let name = context.text(value, path: path, mustBe: expected) else { return nil }
        if !names.contains(name) { context.collector.fault(path, "must be \(expected)") }
        return DestinationName(name)
      }, show: { .string($0.text) })
  }
}

extension ValueForm<AddressPrefix> {
  static var network: ValueForm {
    ValueForm(
      shape: ValueShape("a numeric address or a network", .text()),
      read: { value, path, context in
        let prefix = value.stringValue.flatMap(AddressPrefix.init)
        if prefix == nil {
          context.collector.fault(
            path, "must be a numeric address or a network, such as \"10.0.0.0/8\"")
        }
        return prefix
      }, show: { .string($0.description) })
  }
}

extension ValueForm<WebOrigin> {
  /// Scheme, host and port.
  static var origin: ValueForm {
    .name(
      "an origin, such as https://pay.example.com", mustBe: "an address, https://…",
      pattern: JSONValue.urlPattern, show: \.text, WebOrigin.init(_:))
  }

  /// The origin of a web page, as a browser or a WebView sends it in `Origin`.
  static var pageOrigin: ValueForm {
    .name(
      "an origin, such as https://shop.example.com or capacitor://localhost",
      mustBe: "an address, https://…", pattern: "^[A-Za-z0-9][A-Za-z0-9+.-]*://[^/?#\\s]+/?$", show: \.text
    ) { text throws(NameFault) in
      guard !text.contains("*") else { throw NameFault("must name one origin; list each of them, without *") }
      return try WebOrigin(page: text)
    }
  }
}

extension ValueForm<String> {
  /// The base URL of an API: scheme, host and port, without a path.
  static var base: ValueForm {
    .name(
      "scheme, host and port", mustBe: "an address, https://…", pattern: JSONValue.urlPattern,
      show: \.self
    ) { text throws(NameFault) in try WebOrigin(text).text }
  }
}

extension ValueForm<RateLimit?> {
  /// A rate, or "off": no limit.
  static var rate: ValueForm {
    ValueForm(
      shape: ValueShape(
        "a rate of up to \(RateLimit.countMax) in a second, a minute or an hour (\"10/s\", \"120/m\", "
          + "\"5000/h\"), or \"off\"",
        ["type": "string", "pattern": "^([0-9]+/[smh]|off)$"]),
      read: { value, path, context in
        if value == "off" { return .some(nil) }
        if let limit = value.stringValue.flatMap(RateLimit.init(parsing:)) { return limit }
        context.collector.fault(
          path,
          "must be a number per time, such as \"10/s\", \"120/m\" or \"5000/h\", up to "
            + "\(RateLimit.countMax), or \"off\"")
        return nil
      }, show: { .string($0?.text ?? "off") })
  }
}

extension ValueForm<Secret> {
  /// A secret, or where it is.
  static var secret: ValueForm {
    ValueForm(
      shape: ValueShape("a secret", .text()),
      read: { value, path, context in context.secrets.secret(value, path: path) },
      show: { .string($0.description) }, secrets: { [.init(path: $1, secret: $0)] })
  }

  /// A URL that may itself be a secret.
  static var secretURL: ValueForm {
    var form = secret.described { $0.words = "an https URL, or a secret that is one" }
    form.read = { [read = form.read] value, path, context in
      guard let secret = read(value, path, context) else { return nil }
      // An unreadable secret was already reported, where it matters.
      if let url = try? secret.reveal(), let fault = EndpointURL.fault(in: url) {
        context.collector.fault(path, fault)
      }
      return secret
    }
    return form
  }

  /// A secret of several lines, which is never in the configuration file.
  static func document(_ words: String, bytesMax: Int) -> ValueForm {
    var form = secret.described {
      $0 = ValueShape(words, ["type": "string", "pattern": "^(file:/|env:)"])
    }
    form.read = { value, path, context in context.secrets.document(value, path: path, bytesMax: bytesMax) }
    return form
  }
}

extension ValueForm<[Secret]> {
  static func secrets(count: ClosedRange<Int>) -> ValueForm {
    .list(
      of: .secret, count: count, "secrets", isSame: { $0.hasValue(of: $1) },
      twin: { "is the same secret as \($0); take one of them out" })
  }
}

extension ValueForm {
  /// A text that is parsed into its own type.
  /// - Parameter pattern: a regular expression that fits every valid text, for the schema.
  static func name(
    _ words: String, mustBe expected: String = "a text", pattern: String,
    show: @escaping @Sendable (Value) -> String,
    _ parse: @escaping @Sendable (String) throws(NameFault) -> Value
  ) -> ValueForm {
    ValueForm(
      shape: ValueShape(words, .pattern(pattern)),
      read: { value, path, context in
        guard let text = context.text(value, path: path, mustBe: expected) else { return nil }
        do throws(NameFault) {
          return try parse(text)
        } catch {
          context.collector.fault(path, error.description)
          return nil
        }
      }, show: { .string(show($0)) })
  }
}

extension JSONValue {
  /// The schema of a text. The reader counts bytes, of which a character has one or more.
  static func text(bytesMax: Int = KeyRanges.textBytesMax) -> JSONValue {
    ["type": "string", "minLength": 1, "maxLength": .integer(Int64(bytesMax))]
  }

  /// The schema of a text that matches a regular expression (ECMA-262).
  static func pattern(_ pattern: String) -> JSONValue { ["type": "string", "pattern": .string(pattern)] }

  /// Schemes and host names have no case (RFC 3986 §3.1, §3.2.2).
  static let urlPattern =
    "^[Hh][Tt][Tt][Pp]([Ss]://|://([Ll][Oo][Cc][Aa][Ll][Hh][Oo][Ss][Tt]|127\\.|\\[))"

  /// The schema of a URL that `EndpointURL` accepts.
  static func url(bytesMax: Int? = nil) -> JSONValue {
    text(bytesMax: bytesMax ?? KeyRanges.textBytesMax)
      .adding("pattern", .string(urlPattern))
  }
}
