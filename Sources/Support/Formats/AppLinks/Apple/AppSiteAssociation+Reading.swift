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
