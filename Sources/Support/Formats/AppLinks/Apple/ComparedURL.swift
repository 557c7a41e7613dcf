// The parts of one URL in the form that rules compare, each computed once for all rules. A value with a
// cache; one thread.

/// The texts of a URL that are matched against patterns.
struct ComparedURL {
  /// The form in which a rule compares them.
  struct Form: Hashable {
    /// Whether the comparison ignores case.
    let foldsCase: Bool
    /// Whether the URL is compared in encoded form; otherwise it is decoded first.
    let isEncoded: Bool
  }

  private let url: LinkURL
  private var paths: [Form: PatternText] = [:]
  private var queries: [Form: PatternText] = [:]
  private var fragments: [Form: PatternText] = [:]
  private var items: [Form: [String: [PatternText]]] = [:]

  init(_ url: LinkURL) { self.url = url }

  /// The path without its leading slash and its trailing slashes.
  mutating func path(_ form: Form) -> PatternText {
    if let text = paths[form] { return text }
    var path = Self.part(url.path[...], form)[...]
    if path.first == "/" { path.removeFirst() }
    while path.last == "/" { path.removeLast() }
    let text = PatternText(path, foldsCase: form.foldsCase)
    paths[form] = text
    return text
  }

  /// The whole query.
  mutating func query(_ form: Form) -> PatternText {
    if let text = queries[form] { return text }
    let text = PatternText(Self.part(url.query[...], form), foldsCase: form.foldsCase)
    queries[form] = text
    return text
  }

  mutating func fragment(_ form: Form) -> PatternText {
    if let text = fragments[form] { return text }
    let text = PatternText(Self.part(url.fragment[...], form), foldsCase: form.foldsCase)
    fragments[form] = text
    return text
  }

  /// The values of the query items with this name. A missing item counts as an empty value, and so does an
  /// item without `=`.
  mutating func values(of name: String, _ form: Form) -> [PatternText] {
    let key = Self.key(name, form)
    if let items = items[form] { return items[key] ?? [PatternText("", foldsCase: false)] }
    var found: [String: [PatternText]] = [:]
    for item in url.query.split(separator: "&") {
      let equals = item.firstIndex(of: "=")
      let name = Self.part(equals.map { item[..<$0] } ?? item, form)
      let value = Self.part(equals.map { item[item.index(after: $0)...] } ?? "", form)
      found[Self.key(name, form), default: []].append(PatternText(value, foldsCase: form.foldsCase))
    }
    items[form] = found
    return found[key] ?? [PatternText("", foldsCase: false)]
  }

  private static func part(_ text: Substring, _ form: Form) -> String {
    guard !form.isEncoded else { return String(text) }
    // A text that encodes no UTF-8 is compared as it is.
    return String(validating: PercentEncoding.decodeBytes(text.utf8.span).bytes, as: UTF8.self)
      ?? String(text)
  }

  private static func key(_ name: String, _ form: Form) -> String {
    guard form.foldsCase else { return name }
    var folded = String.UnicodeScalarView()
    folded.append(contentsOf: name.unicodeScalars.map(PatternText.folded))
    return String(folded)
  }
}
