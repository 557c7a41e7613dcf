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
