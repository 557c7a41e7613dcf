// What devices do with one URL, as `receiptctl links check` shows it.

internal import Domain
internal import Formats
internal import Terminal

/// The files of one host, to evaluate a URL with.
struct LinkVerdicts {
  let apple: AppSiteAssociation
  let android: AssetLinks
  /// App ids and packages; nil means all.
  let only: Set<String>?

  /// One app and what it does with a URL.
  private struct Line {
    let system: String
    let app: String
    let opens: Bool
    /// `opens`, `excluded`, `unmatched` or `unlisted`.
    let outcome: String
    let place: AssociationMatcher.Place?
    /// What iOS 12 does, if it knows the app.
    var opensBeforeIOS13: Bool?
    let reason: String
  }

  /// Shows a line for each app.
  func show(_ url: LinkURL, _ session: Session) {
    let lines = appleLines(url) + androidLines()
    if session.isJSON {
      for line in lines { session.output.json(json(line)) }
      return
    }
    var table = Table(
      [.init("SYSTEM"), .init("APP"), .init("OPENS"), .init("BECAUSE")],
      emptyMessage: "In the browser: no app is named.")
    for line in lines {
      table.add([
        Table.Cell(line.system), Table.Cell(line.app),
        Table.Cell(line.opens ? "app" : "browser", line.opens ? .green : .plain), Table.Cell(line.reason),
      ])
    }
    session.output.table(table)
    for line in lines where line.opensBeforeIOS13 == !line.opens {
      session.output.note(
        "iOS 12 and earlier read paths alone, and open \(DisplayText.clean(line.app)) "
          + (line.opens ? "not" : "all the same"))
    }
  }

  private func appleLines(_ url: LinkURL) -> [Line] {
    let current = AssociationMatcher(apple)
    let legacy = AssociationMatcher(apple, system: .legacy)
    var apps = current.apps
    // An app that is requested by name gets a line even if the file does not name it.
    for app in (only ?? []).sorted() where !apps.contains(app) && isAppleID(app) { apps.append(app) }
    return apps.filter { only?.contains($0) ?? true }.map { app in
      let verdict = current.verdict(for: url, app: app)
      let (outcome, reason) = Self.words(verdict)
      return Line(
        system: "iOS", app: app, opens: verdict.opensApp, outcome: outcome, place: verdict.place,
        opensBeforeIOS13: legacy.apps.contains(app) ? legacy.verdict(for: url, app: app).opensApp : nil,
        reason: reason)
    }
  }

  private func isAppleID(_ text: String) -> Bool {
    // Only the check matters; the parsed id is not used.
    (try? AppleAppID(text)) != nil
  }

  private static func words(_ verdict: AssociationMatcher.Verdict) -> (outcome: String, reason: String) {
    switch verdict {
    case .opens(let place): ("opens", "\(place.path) matches: \(place.text)")
    case .excluded(let place): ("excluded", "\(place.path) excludes it: \(place.text)")
    case .unmatched: ("unmatched", "no rule of the app matches")
    case .unlisted: ("unlisted", "the file does not name the app")
    }
  }

  private func androidLines() -> [Line] {
    android.statements.filter { only?.contains($0.package.text) ?? true }.map { statement in
      let count = statement.fingerprints.count
      return Line(
        system: "Android", app: statement.package.text, opens: true, outcome: "opens", place: nil,
        reason: "assetlinks.json lists it with \(count) certificate\(count == 1 ? "" : "s")")
    }
  }

  private func json(_ line: Line) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init(name: "system", value: .string(line.system.lowercased())),
      .init(name: "app", value: .string(line.app)),
      .init(name: "opens", value: .string(line.opens ? "app" : "browser")),
      .init(name: "outcome", value: .string(line.outcome)),
    ]
    if let place = line.place {
      members += [
        .init(name: "entry", value: .integer(Int64(place.entry))),
        .init(name: "list", value: .string(place.list)),
        .init(name: "rule", value: .integer(Int64(place.rule))),
        .init(name: "text", value: .string(place.text)),
      ]
    }
    if let legacy = line.opensBeforeIOS13 {
      members.append(.init(name: "ios12", value: .string(legacy ? "app" : "browser")))
    }
    return .object(members)
  }
}

extension AssociationMatcher.Place {
  /// The rule's path in the file.
  var path: String { "details[\(entry)].\(list)[\(rule)]" }
}
