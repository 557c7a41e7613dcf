// Warnings about association files: rules that devices ignore, or that have an unintended effect. Pure; any
// thread.

public import Formats

extension AssociationFiles {
  /// Reports rules that open nothing, and apps that open each other's return links. Findings name keys of the
  /// configuration.
  public var findings: [LinkFinding] {
    let matcher = AssociationMatcher(apple)
    let linked = linkedApps.sorted { $0.key < $1.key }
    return linked.flatMap { slug, app -> [LinkFinding] in
      var findings: [LinkFinding] = []
      if !app.ids.contains(where: { opensAnything($0) }) {
        findings.append(
          .note("apps.\(slug).links.ios.paths", "lets nothing in, so that no link opens the app"))
      }
      for (other, needing) in linked where other != slug {
        let ids = app.ids.filter { !needing.ids.contains($0) }
        for own in needing.ownPaths where opens(own, ids, matcher) {
          findings.append(
            .note(
              "apps.\(slug).links.ios.paths",
              "also opens \(own.pattern), which is the way back to \(other): devices with both apps choose "
                + "one; add \"NOT /v1/\(other)/*\""))
        }
      }
      return findings
    }
  }

  private func opensAnything(_ id: AppleAppID) -> Bool {
    apple.links?.entries.contains { entry in
      entry.appID == id.text && entry.paths?.contains { !$0.hasPrefix("NOT ") } == true
    } == true
  }

  private func opens(_ own: LinkedApp.OwnPath, _ ids: [AppleAppID], _ matcher: AssociationMatcher) -> Bool {
    // A path that is not a valid URL opens nothing.
    guard let url = try? LinkURL(own.example) else { return false }
    return ids.contains { matcher.verdict(for: url, app: $0.text).opensApp }
  }
}
