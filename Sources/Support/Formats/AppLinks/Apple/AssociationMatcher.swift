// Evaluates Apple's association file for a URL: whether it opens in an app or the browser, and which rule of
// which entry decides. A value; thread-safe. Total, in bounded time.

/// The compiled rules of a file.
public struct AssociationMatcher: Sendable {
  /// The version of the system: versions read different parts of a file.
  public enum System: Sendable, CaseIterable {
    /// iOS 13 and later: `components`, and `paths` of an entry without `components`.
    case current
    /// iOS 12 and earlier: only `appID` and `paths`, and only if `apps` is present and empty.
    case legacy
  }

  /// A rule and its position.
  public struct Place: Sendable, Equatable {
    /// The index of the entry in `details`.
    public let entry: Int
    /// `components` or `paths`.
    public let list: String
    /// The index of the rule in that list.
    public let rule: Int
    /// The rule's text in the file: JSON, or the path.
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
    /// The browser opens: the file does not list this app.
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

  /// The apps that the file lists for links, in order, without duplicates.
  public let apps: [String]
  /// Patterns that cannot match, and why.
  public let findings: [LinkFinding]

  private var rules: [(apps: Set<String>, rule: CompiledRule?, place: Place)] = []
  private var variables: [[WildcardPattern]] = []

  public init(_ file: AppSiteAssociation, system: System = .current) {
    var apps: [String] = []
    var findings: [LinkFinding] = []
    var compiler = PatternCompiler(custom: file.links?.variables ?? [:])
    let isRead = system == .current || file.links?.apps?.isEmpty == true
    for (index, entry) in (isRead ? file.links?.entries ?? [] : []).enumerated() {
      let named = system == .current ? entry.currentApps : entry.appID.map { [$0] } ?? []
      apps += named
      for (place, rule) in Self.rules(of: entry, at: index, system) {
        // Defaults exist only with components; systems that read paths ignore them.
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
  /// Tries the rules in order, in all entries that list the app. The first match decides, even if it excludes
  /// the URL.
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
  /// The prefix of a path to exclude.
  static let exclusionMark = "NOT "

  /// A rule of `paths`.
  init(legacy path: String) {
    let isExcluded = path.hasPrefix(Self.exclusionMark)
    let pattern = isExcluded ? String(path.dropFirst(Self.exclusionMark.count).drop { $0 == " " }) : path
    self.init(path: pattern, isExcluded: isExcluded ? true : nil)
  }
}
