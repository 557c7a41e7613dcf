// The operator's settings for the links of an iOS app, and the rules of the association file. Values;
// thread-safe.

/// A path that opens in the app or is excluded: a pattern in the format of iOS 12.
public struct LinkPath: Sendable, Hashable, CustomStringConvertible {
  /// The maximum length in characters.
  public static let countMax = 1_024

  /// The pattern without `NOT `.
  public let pattern: String
  /// Whether matching URLs open in the browser.
  public let isExcluded: Bool

  /// The text in `paths`.
  public var text: String { (isExcluded ? AppSiteAssociation.Rule.exclusionMark : "") + pattern }

  public var description: String { text }

  /// Parses a pattern, such as `/buy/*` or `NOT /admin/*`.
  /// - Throws: `NameFault` for a pattern that devices interpret differently or reject.
  public init(_ text: String) throws(NameFault) {
    let rule = AppSiteAssociation.Rule(legacy: text)
    let pattern = rule.path ?? ""
    guard pattern.utf8.count <= Self.countMax else {
      throw NameFault("is longer than \(Self.countMax) characters")
    }
    guard pattern.utf8.first == UInt8(ascii: "/") else {
      throw NameFault("must be a path that begins with /, such as /buy/* or NOT /admin/*")
    }
    guard pattern.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"\"<>\\^`{|}#".utf8.contains($0) }) else {
      throw NameFault("has a character that the path of an address cannot have; write it percent-encoded")
    }
    // iOS 12 does not support variables, so the two formats of the file would differ.
    guard !pattern.contains("$(") else { throw NameFault("has a $(…) in it, which iOS 12 does not know") }
    self.pattern = pattern
    isExcluded = rule.isExcluded ?? false
  }

  init(including pattern: String) {
    self.pattern = pattern
    isExcluded = false
  }
}

/// The links of one configured app.
public struct LinkedApp: Sendable, Equatable {
  /// A path that the relay itself needs to open in the app.
  public struct OwnPath: Sendable, Hashable {
    /// The pattern.
    public let pattern: String
    /// A path in use that matches it.
    public let example: String
    /// Whether it is omitted when another path already opens the example.
    public let isOptional: Bool
    /// A note for readers of the file.
    public let comment: String?

    public init(pattern: String, example: String, isOptional: Bool, comment: String? = nil) {
      self.pattern = pattern
      self.example = example
      self.isOptional = isOptional
      self.comment = comment
    }
  }

  public let ids: [AppleAppID]
  /// The operator's paths, in order.
  public let paths: [LinkPath]
  public let ownPaths: [OwnPath]
  /// Whether the apps may use passwords saved for the host.
  public let sharesWebCredentials: Bool

  public init(
    ids: [AppleAppID], paths: [LinkPath], ownPaths: [OwnPath] = [], sharesWebCredentials: Bool = false
  ) {
    self.ids = ids
    self.paths = paths
    self.ownPaths = ownPaths
    self.sharesWebCredentials = sharesWebCredentials
  }

  /// The relay's own path that an exclusion would prevent from opening in the app.
  public func ownPath(shutOutBy path: LinkPath) -> OwnPath? {
    path.isExcluded ? ownPaths.first { path.covers($0.example) } : nil
  }

  /// Whether a path opens the app.
  public func opens(_ path: String) -> Bool {
    rules.first { $0.path.covers(path) }.map { !$0.path.isExcluded } ?? false
  }

  /// The rules: exclusions, then the relay's own paths, then the operator's inclusions.
  var rules: [LinkRule] {
    let exclusions = paths.filter(\.isExcluded)
    let inclusions = paths.filter { !$0.isExcluded }
    let own = ownPaths.filter { own in
      !inclusions.contains { $0.pattern == own.pattern || own.isOptional && $0.covers(own.example) }
    }
    let comments = Dictionary(ownPaths.map { ($0.pattern, $0.comment) }) { first, _ in first }
    return exclusions.map { LinkRule(path: $0, comment: nil) }
      + own.map { LinkRule(path: LinkPath(including: $0.pattern), comment: $0.comment) }
      + inclusions.map { LinkRule(path: $0, comment: comments[$0.pattern] ?? nil) }
  }
}

/// A path and its comment in the file.
struct LinkRule: Hashable {
  let path: LinkPath
  let comment: String?
}

extension LinkPath {
  /// Whether the pattern matches a path.
  func covers(_ path: String) -> Bool {
    let id = "A"
    let entry = AppSiteAssociation.Entry(appIDs: [id], components: [.init(path: pattern)])
    let file = AppSiteAssociation(links: .init(entries: [entry]))
    // A path that is not a valid URL matches nothing.
    guard let url = try? LinkURL(path) else { return false }
    return AssociationMatcher(file).verdict(for: url, app: id).opensApp
  }
}
