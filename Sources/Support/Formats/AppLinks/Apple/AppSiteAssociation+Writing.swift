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
