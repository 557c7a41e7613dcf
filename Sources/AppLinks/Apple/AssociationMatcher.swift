// What Apple's association file means for a URL: opens it in an app, or stays in the browser, and which rule
// of which entry says so. A value; any thread. Every question has an answer, in bounded time.

internal import JSON

/// The rules of a file, ready to be asked.
public struct AssociationMatcher: Sendable {
  /// Which systems are asked about: they read different parts of a file.
  public enum System: Sendable, CaseIterable {
    /// iOS 13 and later: `components`, and `paths` of an entry that has none.
    case current
    /// iOS 12 and earlier: `appID` and `paths` alone, and those only where `apps` is there and empty.
    case legacy
  }

  /// What a rule says, and where it stands.
  public struct Place: Sendable, Equatable {
    /// The index of the entry in `details`.
    public let entry: Int
    /// `components` or `paths`.
    public let list: String
    /// The index of the rule in that list.
    public let rule: Int
    /// The rule as it stands in the file: JSON, or the path.
    public let text: String
  }

  /// What a device does with a URL.
  public enum Verdict: Sendable, Equatable {
    /// The app opens, because of this rule.
    case opens(Place)
    /// The browser opens, because this rule excludes the URL.
    case excluded(Place)
    /// The browser opens: no rule of the app matches.
    case unmatched
    /// The browser opens: the file says nothing about this app.
    case unlisted

    public var opensApp: Bool {
      guard case .opens = self else { return false }
      return true
    }

    /// The rule that decided.
    public var place: Place? {
      switch self {
      case .opens(let place), .excluded(let place): place
      case .unmatched, .unlisted: nil
      }
    }
  }

  /// The apps that the file names for links, in its order, each once.
  public let apps: [String]
  /// Patterns that can match nothing, and why.
  public let findings: [Finding]

  private var rules: [(apps: Set<String>, rule: CompiledRule?, place: Place)] = []
  private var variables: [[WildcardPattern]] = []

  public init(_ file: AppSiteAssociation, system: System = .current) {
    var apps: [String] = []
    var findings: [Finding] = []
    var compiler = PatternCompiler(custom: file.links?.variables ?? [:])
    let isRead = system == .current || file.links?.apps?.isEmpty == true
    for (index, entry) in (isRead ? file.links?.entries ?? [] : []).enumerated() {
      let named = system == .current ? entry.apps : entry.appID.map { [$0] } ?? []
      apps += named
      for (place, rule) in Self.rules(of: entry, at: index, system) {
        // Defaults came with components; what knows only paths knows none.
        let whole =
          system == .current ? rule.completed(by: entry.defaults).completed(by: file.links?.defaults) : rule
        do throws(PatternFault) {
          rules.append((Set(named), try CompiledRule(whole, &compiler), place))
        } catch {
          rules.append((Set(named), nil, place))
          findings.append(
            .fault(
              "applinks.details[\(index)].\(place.list)[\(place.rule)]",
              "\(error.description); it matches nothing"))
        }
      }
    }
    var seen: Set<String> = []
    self.apps = apps.filter { seen.insert($0).inserted }
    self.findings = findings
    variables = compiler.variables
  }

  private static func rules(
    of entry: AppSiteAssociation.Entry, at index: Int, _ system: System
  ) -> [(Place, AppSiteAssociation.Rule)] {
    if system == .current, let components = entry.components {
      return components.enumerated().map { number, rule in
        (Place(entry: index, list: "components", rule: number, text: rule.json.text), rule)
      }
    }
    return (entry.paths ?? []).enumerated().map { number, path in
      (Place(entry: index, list: "paths", rule: number, text: path), .init(legacy: path))
    }
  }

  /// What a device with an app does with a URL of the file's host.
  ///
  /// The rules are tried in their order, through all entries that name the app; the first that matches
  /// decides, also when it excludes.
  public func verdict(for url: LinkURL, app: String) -> Verdict {
    guard apps.contains(app) else { return .unlisted }
    var parts = ComparedURL(url)
    for (apps, rule, place) in rules where apps.contains(app) {
      guard let rule, rule.matches(&parts, variables: variables) else { continue }
      return rule.isExcluded ? .excluded(place) : .opens(place)
    }
    return .unmatched
  }
}

extension AppSiteAssociation.Rule {
  /// What `NOT ` before a path means.
  static let exclusionMark = "NOT "

  /// A rule of `paths`.
  init(legacy path: String) {
    let isExcluded = path.hasPrefix(Self.exclusionMark)
    let pattern = isExcluded ? String(path.dropFirst(Self.exclusionMark.count).drop { $0 == " " }) : path
    self.init(path: pattern, isExcluded: isExcluded ? true : nil)
  }
}
