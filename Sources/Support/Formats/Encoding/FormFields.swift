// Forms and queries: application/x-www-form-urlencoded (WHATWG URL §5.1), but a broken escape is an error.
// Pure; thread-safe.

/// Decodes forms.
public enum FormFields {
  /// A decoded field.
  public typealias Field = (name: String, value: String)

  /// A `%` without two hexadecimal digits, or bytes that are not UTF-8.
  public struct Broken: Error {}

  /// All fields, in order. A field without `=` has an empty value.
  public static func all(in form: Span<UInt8>) throws(Broken) -> [Field] {
    var fields: [Field] = []
    var index = 0
    while let field = try next(in: form, from: &index) { fields.append(field) }
    return fields
  }

  /// The value of the first field with this name; nil when there is none.
  /// - Throws: when this field or one before it is broken.
  public static func value(of name: String, in form: Span<UInt8>) throws(Broken) -> String? {
    var index = 0
    while let field = try next(in: form, from: &index) {
      if field.name == name { return field.value }
    }
    return nil
  }

  private static func next(in form: Span<UInt8>, from index: inout Int) throws(Broken) -> Field? {
    while index < form.count, form[index] == UInt8(ascii: "&") { index += 1 }
    guard index < form.count else { return nil }
    let start = index
    var equals: Int?
    while index < form.count, form[index] != UInt8(ascii: "&") {
      if equals == nil, form[index] == UInt8(ascii: "=") { equals = index }
      index += 1
    }
    let end = equals ?? index
    return (
      try decode(form.extracting(start..<end)), try decode(form.extracting(min(end + 1, index)..<index))
    )
  }

  private static func decode(_ part: Span<UInt8>) throws(Broken) -> String {
    let (bytes, isBroken) = PercentEncoding.decodeBytes(part, plusIsSpace: true)
    guard !isBroken, let text = String(validating: bytes, as: UTF8.self) else { throw Broken() }
    return text
  }
}
