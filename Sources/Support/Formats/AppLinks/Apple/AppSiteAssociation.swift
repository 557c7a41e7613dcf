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

// MARK: - Apps

// Makes Apple's association file from the apps of a host. Pure; thread-safe.

extension AppSiteAssociation {
  /// The file of a host.
  ///
  /// Every app has its own entry with `appID` and `paths`, for iOS 12 and earlier. Of the entries with the
  /// same rules, the first also lists all their apps in `appIDs` and the rules as `components`, so that the
  /// file contains the `components` once.
  /// - Parameter apps: the apps of one host, in the order of the file. An app id may occur in several of
  ///   them; it then has the rules of all, exclusions first.
  public init(apps: [LinkedApp]) {
    var ids: [AppleAppID] = []
    var rules: [AppleAppID: [LinkRule]] = [:]
    var credentials: [String] = []
    for app in apps {
      for id in app.ids {
        if rules[id] == nil { ids.append(id) }
        rules[id] = Self.merged(rules[id] ?? [], app.rules)
        if app.sharesWebCredentials, !credentials.contains(id.text) { credentials.append(id.text) }
      }
    }
    var described: Set<[LinkRule]> = []
    let entries = ids.map { id in
      let own = rules[id] ?? []
      var entry = Entry(appID: id.text, paths: own.map(\.path.text))
      if described.insert(own).inserted {
        entry.appIDs = ids.filter { rules[$0] == own }.map(\.text)
        entry.components = own.map {
          Rule(path: $0.path.pattern, isExcluded: $0.path.isExcluded ? true : nil, comment: $0.comment)
        }
      }
      return entry
    }
    self.init(
      links: Links(apps: [], entries: entries), webCredentials: credentials.isEmpty ? nil : credentials)
  }

  private static func merged(_ first: [LinkRule], _ second: [LinkRule]) -> [LinkRule] {
    let all = first + second.filter { !first.contains($0) }
    return all.filter(\.path.isExcluded) + all.filter { !$0.path.isExcluded }
  }

  /// The bytes to serve.
  /// - Throws: `AssociationFault` when there are more than devices accept.
  public func serialized() throws(AssociationFault) -> [UInt8] {
    let bytes = json.serialized()
    guard bytes.count <= Self.byteCountMax else {
      throw AssociationFault(
        "would be a file of \(bytes.count) bytes, but iOS accepts at most \(Self.byteCountMax); list "
          + "fewer app ids and paths, or give some of the apps another host")
    }
    return bytes
  }
}

// MARK: - Writing

// Writes Apple's association file. Pure; thread-safe.

extension AppSiteAssociation {
  /// The content of the file. Members have a fixed order, so equal values give equal bytes.
  public var json: JSONValue {
    var members: [JSONValue.Member] = []
    if let links { members.append(.init(name: "applinks", value: links.json)) }
    for (name, apps) in [
      ("webcredentials", webCredentials), ("appclips", appClips),
      ("activitycontinuation", activityContinuation),
    ] {
      guard let apps else { continue }
      members.append(.init(name: name, value: ["apps": .array(apps.map(JSONValue.string))]))
    }
    return .object(members)
  }
}

extension AppSiteAssociation.Links {
  fileprivate var json: JSONValue {
    var members: [JSONValue.Member] = []
    if let apps { members.append(.init(name: "apps", value: .array(apps.map(JSONValue.string)))) }
    if let defaults { members.append(.init(name: "defaults", value: defaults.json)) }
    if !variables.isEmpty {
      let sorted = variables.sorted { $0.key < $1.key }.map { name, values in
        JSONValue.Member(name: name, value: .array(values.map(JSONValue.string)))
      }
      members.append(.init(name: "substitutionVariables", value: .object(sorted)))
    }
    members.append(.init(name: "details", value: .array(entries.map(\.json))))
    return .object(members)
  }
}

extension AppSiteAssociation.Entry {
  fileprivate var json: JSONValue {
    var members: [JSONValue.Member] = []
    if let appID { members.append(.init(name: "appID", value: .string(appID))) }
    if let paths { members.append(.init(name: "paths", value: .array(paths.map(JSONValue.string)))) }
    if !appIDs.isEmpty {
      members.append(.init(name: "appIDs", value: .array(appIDs.map(JSONValue.string))))
    }
    if let defaults { members.append(.init(name: "defaults", value: defaults.json)) }
    if let components {
      members.append(.init(name: "components", value: .array(components.map(\.json))))
    }
    return .object(members)
  }
}

extension AppSiteAssociation.Rule {
  /// The rule as JSON.
  public var json: JSONValue {
    var members: [JSONValue.Member] = []
    if let path { members.append(.init(name: "/", value: .string(path))) }
    switch query {
    case .whole(let pattern): members.append(.init(name: "?", value: .string(pattern)))
    case .items(let items):
      let items = items.map { JSONValue.Member(name: $0.name, value: .string($0.pattern)) }
      members.append(.init(name: "?", value: .object(items)))
    case .ignored, nil: break
    }
    if let fragment { members.append(.init(name: "#", value: .string(fragment))) }
    for (name, flag) in [
      ("exclude", isExcluded), ("caseSensitive", isCaseSensitive), ("percentEncoded", isPercentEncoded),
    ] {
      guard let flag else { continue }
      members.append(.init(name: name, value: .bool(flag)))
    }
    if let comment { members.append(.init(name: "comment", value: .string(comment))) }
    return .object(members)
  }
}

// MARK: - Reading

// Reads Apple's association file in all its historical formats. Pure; thread-safe. Ignores unknown members,
// as devices do, and reports faults.

extension AppSiteAssociation {
  /// Parses a file.
  /// - Returns: the file, and what is wrong or unusual in it.
  /// - Throws: `AssociationFault` when the file is larger than devices accept, not JSON, or not an object.
  public static func read(
    _ bytes: [UInt8]
  ) throws(AssociationFault) -> (file: AppSiteAssociation, findings: [LinkFinding]) {
    guard bytes.count <= byteCountMax else {
      throw AssociationFault("has \(bytes.count) bytes; devices accept at most \(byteCountMax)")
    }
    let value: JSONValue
    do throws(JSONSyntaxError) {
      value = try JSONValue(parsing: bytes)
    } catch {
      throw AssociationFault("is not JSON: \(error.description)")
    }
    guard case .object(let members) = value else { throw AssociationFault("is not a JSON object") }
    var reader = AppSiteAssociationReader()
    return (reader.file(members), reader.findings)
  }
}

/// Parses a file and collects the findings.
struct AppSiteAssociationReader {
  private(set) var findings: [LinkFinding] = []

  mutating func file(_ members: [JSONValue.Member]) -> AppSiteAssociation {
    var file = AppSiteAssociation()
    for member in members {
      switch member.name {
      case "applinks": file.links = links(member.value)
      case "webcredentials": file.webCredentials = service(member)
      case "appclips": file.appClips = service(member)
      case "activitycontinuation": file.activityContinuation = service(member)
      default: break
      }
    }
    if file == AppSiteAssociation() {
      findings.append(.fault("", "has none of applinks, webcredentials, appclips and activitycontinuation"))
    }
    return file
  }

  private mutating func service(_ member: JSONValue.Member) -> [String]? {
    guard let apps = strings(member.value["apps"], "\(member.name).apps") else {
      findings.append(.fault(member.name, "has no list of apps"))
      return nil
    }
    return apps
  }

  private mutating func links(_ value: JSONValue) -> AppSiteAssociation.Links? {
    guard case .object = value else {
      findings.append(.fault("applinks", "must be an object"))
      return nil
    }
    var links = AppSiteAssociation.Links(apps: nil)
    links.apps = value["apps"].flatMap { strings($0, "applinks.apps") }
    if links.apps?.isEmpty != true {
      findings.append(.note("applinks.apps", "must be there and empty for iOS 12 and earlier"))
    }
    links.defaults = value["defaults"].flatMap { rule($0, "applinks.defaults") }
    links.variables = variables(value["substitutionVariables"])
    switch value["details"] {
    case .array(let entries):
      links.entries = entries.enumerated().compactMap { entry($1, appID: nil, "applinks.details[\($0)]") }
    // The oldest format: a dictionary of app ids. It is unordered, so the entries are sorted.
    case .object(let entries):
      links.entries = entries.sorted { $0.name < $1.name }.compactMap {
        entry($0.value, appID: $0.name, "applinks.details.\($0.name)")
      }
      findings.append(.note("applinks.details", "is a dictionary, which only the oldest systems accept"))
    default: findings.append(.fault("applinks.details", "must be a list of apps and what they open"))
    }
    return links
  }

  private mutating func entry(
    _ value: JSONValue, appID: String?, _ place: String
  ) -> AppSiteAssociation.Entry? {
    guard case .object = value else {
      findings.append(.fault(place, "must be an object"))
      return nil
    }
    var entry = AppSiteAssociation.Entry(appID: appID ?? string(value["appID"], "\(place).appID"))
    entry.appIDs = strings(value["appIDs"], "\(place).appIDs") ?? []
    entry.paths = strings(value["paths"], "\(place).paths")
    entry.defaults = value["defaults"].flatMap { rule($0, "\(place).defaults") }
    if case .array(let rules)? = value["components"] {
      entry.components = rules.enumerated().compactMap { rule($1, "\(place).components[\($0)]") }
    } else if value["components"] != nil {
      findings.append(.fault("\(place).components", "must be a list"))
    }
    check(entry, place)
    return entry
  }

  private mutating func check(_ entry: AppSiteAssociation.Entry, _ place: String) {
    if entry.apps.isEmpty { findings.append(.fault(place, "names no app: give appID or appIDs")) }
    for app in entry.apps {
      do throws(NameFault) {
        _ = try AppleAppID(app)
      } catch {
        findings.append(.fault(place, "names an app whose id \(error.description)"))
      }
    }
    if let app = entry.appID, !entry.currentApps.contains(app) {
      findings.append(
        .fault(
          place, "has an appID that is not in its appIDs, and iOS 13 and later ignore appID beside appIDs"))
    }
    if entry.components == nil, entry.paths == nil {
      findings.append(.fault(place, "has neither components nor paths, so that it opens nothing"))
    }
    if entry.appID == nil, entry.paths != nil {
      findings.append(.note(place, "has paths without an appID, which iOS 12 and earlier need"))
    }
  }

  private mutating func rule(_ value: JSONValue, _ place: String) -> AppSiteAssociation.Rule? {
    guard case .object = value else {
      findings.append(.fault(place, "must be an object"))
      return nil
    }
    return AppSiteAssociation.Rule(
      path: string(value["/"], "\(place)./"), query: query(value["?"], "\(place).?"),
      fragment: string(value["#"], "\(place).#"), isExcluded: flag(value["exclude"], "\(place).exclude"),
      isCaseSensitive: flag(value["caseSensitive"], "\(place).caseSensitive"),
      isPercentEncoded: flag(value["percentEncoded"], "\(place).percentEncoded"),
      comment: value["comment"]?.stringValue)
  }

  private mutating func query(_ value: JSONValue?, _ place: String) -> AppSiteAssociation.Query? {
    switch value {
    case nil: return nil
    case .string(let pattern): return .whole(pattern)
    case .object(let members):
      let items = members.compactMap { member in
        member.value.stringValue.map { AppSiteAssociation.Item(name: member.name, pattern: $0) }
      }
      guard items.count == members.count else {
        findings.append(
          .fault(place, "has a value that is not a string, so devices ignore all of it"))
        return .ignored
      }
      return .items(items)
    default:
      findings.append(.fault(place, "must be a string or an object, and is ignored"))
      return .ignored
    }
  }

  private mutating func variables(_ value: JSONValue?) -> [String: [String]] {
    guard let value else { return [:] }
    let place = "applinks.substitutionVariables"
    guard case .object(let members) = value else {
      findings.append(.fault(place, "must be an object"))
      return [:]
    }
    var variables: [String: [String]] = [:]
    for member in members {
      if PredefinedVariables.names.contains(member.name) {
        findings.append(
          .note("\(place).\(member.name)", "replaces a predefined variable"))
      }
      if member.name.contains(where: { "$()".contains($0) }) {
        findings.append(.fault(place, "has a name with $, ( or ) in it, which no pattern can refer to"))
      }
      variables[member.name] = strings(member.value, "\(place).\(member.name)")
    }
    return variables
  }

  // MARK: Values

  private mutating func string(_ value: JSONValue?, _ place: String) -> String? {
    guard let value else { return nil }
    guard let text = value.stringValue else {
      findings.append(.fault(place, "must be a string, and is ignored"))
      return nil
    }
    return text
  }

  private mutating func flag(_ value: JSONValue?, _ place: String) -> Bool? {
    guard let value else { return nil }
    guard case .bool(let flag) = value else {
      findings.append(.fault(place, "must be true or false, and is ignored"))
      return nil
    }
    return flag
  }

  private mutating func strings(_ value: JSONValue?, _ place: String) -> [String]? {
    guard let value else { return nil }
    guard case .array(let elements) = value else {
      findings.append(.fault(place, "must be a list of strings"))
      return nil
    }
    let texts = elements.compactMap(\.stringValue)
    if texts.count != elements.count {
      findings.append(.fault(place, "has an element that is not a string"))
    }
    return texts
  }
}
