// A rule of Apple's association file, prepared for matching. A value; thread-safe.

/// A rule with compiled patterns and its defaults.
struct CompiledRule: Sendable {
  /// The patterns of the path, of which one must match; nil matches every path.
  private var paths: [WildcardPattern]?
  private var query: Query = .anything
  private var fragment: WildcardPattern?
  private let form: ComparedURL.Form
  let isExcluded: Bool

  private enum Query: Sendable {
    case anything
    case whole(WildcardPattern)
    case items([(name: String, pattern: WildcardPattern)])
  }

  /// - Parameter rule: completed with its defaults.
  init(_ rule: AppSiteAssociation.Rule, _ compiler: inout PatternCompiler) throws(PatternFault) {
    let folds = !(rule.isCaseSensitive ?? true)
    form = ComparedURL.Form(foldsCase: folds, isEncoded: rule.isPercentEncoded ?? true)
    isExcluded = rule.isExcluded ?? false
    if let path = rule.path {
      paths = []
      for text in Self.spellings(ofPath: path) {
        paths?.append(try compiler.pattern(text, foldsCase: folds))
      }
    }
    switch rule.query {
    case nil, .ignored: break
    case .whole(let text): query = .whole(try compiler.pattern(text, foldsCase: folds))
    case .items(let items):
      var patterns: [(name: String, pattern: WildcardPattern)] = []
      for item in items {
        patterns.append((item.name, try compiler.pattern(item.pattern, foldsCase: folds)))
      }
      query = .items(patterns)
    }
    if let text = rule.fragment { fragment = try compiler.pattern(text, foldsCase: folds) }
  }

  /// The patterns to match for a path: without leading and trailing slashes. For a pattern that ends in `/*`
  /// also the part before it, so that `/buy/*` matches `/buy`.
  private static func spellings(ofPath pattern: String) -> [Substring] {
    var text = pattern.drop { $0 == "/" }
    while text.last == "/" { text.removeLast() }
    return text.hasSuffix("/*") ? [text, text.dropLast(2)] : [text]
  }

  /// Whether all patterns of the rule match.
  func matches(_ url: inout ComparedURL, variables: [[WildcardPattern]]) -> Bool {
    if let paths {
      let path = url.path(form)
      guard paths.contains(where: { $0.matches(path, variables: variables) }) else { return false }
    }
    switch query {
    case .anything: break
    case .whole(let pattern):
      guard pattern.matches(url.query(form), variables: variables) else { return false }
    case .items(let items):
      for item in items {
        // Every item of that name must match.
        let values = url.values(of: item.name, form)
        guard values.allSatisfy({ item.pattern.matches($0, variables: variables) }) else { return false }
      }
    }
    return fragment?.matches(url.fragment(form), variables: variables) ?? true
  }
}
