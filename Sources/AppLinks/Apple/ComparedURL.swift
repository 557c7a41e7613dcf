// The parts of one URL as rules compare them, made once each however many rules there are. A value that
// grows as it is asked; one thread.

/// The texts of a URL that patterns are compared with.
struct ComparedURL {
  /// How a rule wants to have them.
  struct Form: Hashable {
    /// Whether upper and lower case are the same.
    let foldsCase: Bool
    /// Whether the URL is compared as it is written; otherwise, decoded.
    let isEncoded: Bool
  }

  private let url: LinkURL
  private var paths: [Form: PatternText] = [:]
  private var queries: [Form: PatternText] = [:]
  private var fragments: [Form: PatternText] = [:]
  private var items: [Form: [String: [PatternText]]] = [:]

  init(_ url: LinkURL) { self.url = url }

  /// The path without the slash that it begins with and those that it ends with.
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

  /// The values of the items of the query that have a name. An item that is not there counts as one that is
  /// empty, and so does one without `=`.
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
    form.isEncoded ? String(text) : URLEscapes.decoded(text)
  }

  private static func key(_ name: String, _ form: Form) -> String {
    guard form.foldsCase else { return name }
    var folded = String.UnicodeScalarView()
    folded.append(contentsOf: name.unicodeScalars.map(PatternText.folded))
    return String(folded)
  }
}
