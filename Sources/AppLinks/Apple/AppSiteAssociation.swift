// Apple's association file, `apple-app-site-association`, as a value. Pure; any thread. What it means for a
// URL is in AssociationMatcher; how it is read and written, in the extensions next to this.

/// Which apps a host hands its links, its passwords and its clips to (Apple, "Supporting associated
/// domains").
public struct AppSiteAssociation: Sendable, Equatable {
  /// The largest file that devices take, in bytes; a larger one counts as none.
  public static let byteCountMax = 131_072

  /// Universal links; nil when the file has none.
  public var links: Links?
  /// Apps that may use passwords saved for the host; nil when the file does not say.
  public var webCredentials: [String]?
  /// App clips that the host starts.
  public var appClips: [String]?
  /// Apps that Handoff hands over to.
  public var activityContinuation: [String]?

  public init(
    links: Links? = nil, webCredentials: [String]? = nil, appClips: [String]? = nil,
    activityContinuation: [String]? = nil
  ) {
    self.links = links
    self.webCredentials = webCredentials
    self.appClips = appClips
    self.activityContinuation = activityContinuation
  }

  /// `applinks`.
  public struct Links: Sendable, Equatable {
    /// `apps`, which systems before iOS 13 want to be there, and empty; nil when it is not there.
    public var apps: [String]?
    /// `details`, in their order.
    public var entries: [Entry]
    /// What holds for every rule that does not say otherwise.
    public var defaults: Rule?
    /// `substitutionVariables`.
    public var variables: [String: [String]]

    public init(
      apps: [String]? = [], entries: [Entry] = [], defaults: Rule? = nil, variables: [String: [String]] = [:]
    ) {
      self.apps = apps
      self.entries = entries
      self.defaults = defaults
      self.variables = variables
    }
  }

  /// One of `details`: some apps and what they open.
  public struct Entry: Sendable, Equatable {
    /// `appID`, the form that every system reads.
    public var appID: String?
    /// `appIDs`, for iOS 13 and later.
    public var appIDs: [String]
    /// `paths`, for iOS 12 and earlier: patterns of paths, `NOT ` before one that stays in the browser.
    public var paths: [String]?
    /// `components`, for iOS 13 and later, which take them instead of `paths`.
    public var components: [Rule]?
    /// What holds for the rules of this entry that do not say otherwise.
    public var defaults: Rule?

    public init(
      appID: String? = nil, appIDs: [String] = [], paths: [String]? = nil, components: [Rule]? = nil,
      defaults: Rule? = nil
    ) {
      self.appID = appID
      self.appIDs = appIDs
      self.paths = paths
      self.components = components
      self.defaults = defaults
    }

    /// The apps that it names, each once.
    public var apps: [String] {
      var seen: Set<String> = []
      return ((appID.map { [$0] } ?? []) + appIDs).filter { seen.insert($0).inserted }
    }
  }

  /// One of `components`, or `defaults`: patterns of which a URL must match all. What is nil says nothing.
  public struct Rule: Sendable, Equatable {
    public var path: String?
    public var query: Query?
    public var fragment: String?
    /// Whether a URL that matches stays in the browser.
    public var isExcluded: Bool?
    public var isCaseSensitive: Bool?
    /// Whether a URL is compared as it is written; otherwise, decoded.
    public var isPercentEncoded: Bool?
    /// For people alone.
    public var comment: String?

    public init(
      path: String? = nil, query: Query? = nil, fragment: String? = nil, isExcluded: Bool? = nil,
      isCaseSensitive: Bool? = nil, isPercentEncoded: Bool? = nil, comment: String? = nil
    ) {
      self.path = path
      self.query = query
      self.fragment = fragment
      self.isExcluded = isExcluded
      self.isCaseSensitive = isCaseSensitive
      self.isPercentEncoded = isPercentEncoded
      self.comment = comment
    }

    /// What this rule says, and where it says nothing, what another says.
    func completed(by other: Rule?) -> Rule {
      guard let other else { return self }
      return Rule(
        path: path ?? other.path, query: query ?? other.query, fragment: fragment ?? other.fragment,
        isExcluded: isExcluded ?? other.isExcluded,
        isCaseSensitive: isCaseSensitive ?? other.isCaseSensitive,
        isPercentEncoded: isPercentEncoded ?? other.isPercentEncoded, comment: comment)
    }
  }

  /// What `?` of a rule may be.
  public enum Query: Sendable, Equatable {
    /// One pattern for the whole query.
    case whole(String)
    /// Patterns for the values of some items; others may be there, too.
    case items([Item])
    /// A dictionary with something in it that is no string: devices then take no notice of all of it.
    case ignored
  }

  /// A pattern for the values of one item of a query.
  public struct Item: Sendable, Equatable {
    public var name: String
    public var pattern: String

    public init(name: String, pattern: String) {
      self.name = name
      self.pattern = pattern
    }
  }
}
