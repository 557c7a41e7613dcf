// Apple's association file, `apple-app-site-association`, as a value. Pure; thread-safe. AssociationMatcher
// evaluates it for a URL; the extensions beside this file read and write it.

/// The apps for a host's links, saved passwords, app clips and Handoff (Apple, "Supporting associated
/// domains").
public struct AppSiteAssociation: Sendable, Equatable {
  /// The maximum size of a file, in bytes; devices ignore a larger one.
  public static let byteCountMax = 131_072

  /// Universal links; nil when the file has none.
  public var links: Links?
  /// Apps that may use passwords saved for the host; nil when the file has no such section.
  public var webCredentials: [String]?
  /// App clips of the host.
  public var appClips: [String]?
  /// Apps that take part in Handoff.
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
    /// `apps`, which must be present and empty for systems before iOS 13; nil when absent.
    public var apps: [String]?
    /// `details`, in order.
    public var entries: [Entry]
    /// Defaults for every rule.
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

  /// An element of `details`: apps and the URLs that they open.
  public struct Entry: Sendable, Equatable {
    /// `appID`, the format that every system reads.
    public var appID: String?
    /// `appIDs`, for iOS 13 and later.
    public var appIDs: [String]
    /// `paths`, for iOS 12 and earlier: path patterns, with `NOT ` before a pattern to exclude.
    public var paths: [String]?
    /// `components`, for iOS 13 and later, which use them instead of `paths`.
    public var components: [Rule]?
    /// Defaults for the rules of this entry.
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

    /// The apps of the entry on iOS 13 and later, which ignore `appID` beside `appIDs`.
    var currentApps: [String] { appIDs.isEmpty ? apps : appIDs }

    /// The apps of the entry, without duplicates.
    public var apps: [String] {
      var seen: Set<String> = []
      return ((appID.map { [$0] } ?? []) + appIDs).filter { seen.insert($0).inserted }
    }
  }

  /// An element of `components`, or `defaults`: a URL must match all its patterns. Nil is a missing key.
  public struct Rule: Sendable, Equatable {
    public var path: String?
    public var query: Query?
    public var fragment: String?
    /// Whether a matching URL opens in the browser.
    public var isExcluded: Bool?
    public var isCaseSensitive: Bool?
    /// Whether a URL is compared in encoded form; otherwise it is decoded first.
    public var isPercentEncoded: Bool?
    /// A note for people; devices ignore it.
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

    /// This rule, with missing keys from another.
    func completed(by other: Rule?) -> Rule {
      guard let other else { return self }
      return Rule(
        path: path ?? other.path, query: query ?? other.query, fragment: fragment ?? other.fragment,
        isExcluded: isExcluded ?? other.isExcluded,
        isCaseSensitive: isCaseSensitive ?? other.isCaseSensitive,
        isPercentEncoded: isPercentEncoded ?? other.isPercentEncoded, comment: comment)
    }
  }

  /// The value of `?` in a rule.
  public enum Query: Sendable, Equatable {
    /// One pattern for the whole query.
    case whole(String)
    /// Patterns for the values of some items; the query may have others.
    case items([Item])
    /// A dictionary with a value that is not a string: devices ignore all of it.
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
