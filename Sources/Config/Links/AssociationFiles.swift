// The files that connect a host to the apps that open its links, built from the configuration of all apps
// with this host as origin. Pure; any thread.

public import Domain
public import Formats

/// The association files of one host.
public struct AssociationFiles: Sendable, Equatable {
  /// In lower case, without a port.
  public let host: String
  /// Where devices find the files: the first app's origin.
  public let origin: WebOrigin
  /// The apps that have this host, in the order of the configuration.
  public let slugs: [AppSlug]
  public let apple: AppSiteAssociation
  public let android: AssetLinks
  /// What Apple verifies the host with for Apple Pay; nil without a file.
  public let applePay: [UInt8]?
  /// The iOS rules of each app that has iOS apps.
  let linkedApps: [AppSlug: LinkedApp]
  /// App ids and packages by app.
  private let names: [AppSlug: Set<String>]

  /// The files of every configured host, by host.
  public static func all(of apps: [AppConfiguration]) -> [AssociationFiles] {
    let groups = Dictionary(grouping: apps.filter { $0.links != nil }) { $0.links?.origin.host ?? "" }
    return groups.sorted { $0.key < $1.key }.compactMap { AssociationFiles(host: $0.key, apps: $0.value) }
  }

  /// Nil if no app has links.
  private init?(host: String, apps: [AppConfiguration]) {
    guard let origin = apps.first?.links?.origin else { return nil }
    self.host = host
    self.origin = origin
    slugs = apps.map(\.slug)
    let linked = apps.compactMap { app in app.linkedApp.map { (app.slug, $0) } }
    linkedApps = Dictionary(linked) { first, _ in first }
    apple = AppSiteAssociation(apps: linked.map(\.1))
    applePay = apps.lazy.compactMap { $0.links?.applePay?.content }.first
    names = Dictionary(apps.map { ($0.slug, $0.linkedNames) }) { first, _ in first }
    android = AssetLinks(
      apps.compactMap { $0.links?.android }.flatMap { android in
        android.packages.map {
          AssetLinks.Statement(
            package: $0.name, fingerprints: $0.fingerprints,
            getsLoginCredentials: android.getsLoginCredentials)
        }
      })
  }
}

extension AssociationFiles {
  /// The app ids and packages of a configured app; nil, which means all, without a slug.
  public func names(of slug: AppSlug?) -> Set<String>? { slug.map { names[$0] ?? [] } }
}

extension AppConfiguration {
  fileprivate var linkedNames: Set<String> {
    Set(
      (links?.ios?.appIDs.map(\.text) ?? []) + (links?.android?.packages.map(\.name.text) ?? []))
  }

  /// What the iOS apps of this app open; nil when it has none.
  var linkedApp: LinkedApp? { links?.linkedApp(slug: slug) }
}

extension AppConfiguration.Links {
  /// The same for a given slug in the paths.
  func linkedApp(slug: AppSlug) -> LinkedApp? {
    ios.map { ios in
      LinkedApp(
        ids: ios.appIDs, paths: ios.paths, ownPaths: ownPaths(slug: slug),
        sharesWebCredentials: ios.webcredentials)
    }
  }

  /// Whether the return page's URL opens the app on Apple's systems, and not the page.
  public func opensReturnPage(slug: AppSlug) -> Bool {
    linkedApp(slug: slug)?.opens("/v1/\(slug)/return") ?? false
  }

  /// The paths on the way back that must open the app, regardless of other rules.
  private func ownPaths(slug: AppSlug) -> [LinkedApp.OwnPath] {
    var paths: [LinkedApp.OwnPath] = []
    if swedbank != nil {
      let callbacks = "/v1/\(slug)/swedbank/sdk-callback/"
      paths.append(
        LinkedApp.OwnPath(
          pattern: callbacks + "*",
          example: "/v1/\(slug)/swedbank/\(SwedbankHelper.iosUniversalLink.rawValue)",
          isOptional: false, comment: "Pattern for all iOS Universal Links"))
    }
    if returnPage != nil {
      let page = "/v1/\(slug)/return"
      paths.append(LinkedApp.OwnPath(pattern: page, example: page, isOptional: true))
      let claims = "/v1/\(slug)/claim/"
      paths.append(LinkedApp.OwnPath(pattern: claims + "*", example: claims + "clm_", isOptional: true))
    }
    return paths
  }
}

extension AssociationFiles {
  /// Faults that prevent the files from being served or from working.
  static func faults(of apps: [AppConfiguration]) -> [Fault] {
    conflicts(apps) + all(of: apps).flatMap { $0.sizeFaults(apps) + $0.domainFileFaults(apps) }
  }

  /// Apps of one host with different files for it.
  private func domainFileFaults(_ apps: [AppConfiguration]) -> [Fault] {
    let own = apps.filter { slugs.contains($0.slug) && $0.links?.applePay?.content.isEmpty == false }
    return own.dropFirst().filter { $0.links?.applePay?.content != own[0].links?.applePay?.content }.map {
      app in
      Fault(
        path: "apps.\(app.slug).links.apple_pay_file",
        message:
          "differs from apps.\(own[0].slug).links.apple_pay_file, but \(host) has one such file; name the "
          + "same one, or give the app another origin")
    }
  }

  private func sizeFaults(_ apps: [AppConfiguration]) -> [Fault] {
    let own = apps.filter { slugs.contains($0.slug) }
    var faults: [Fault] = []
    do throws(AssociationFault) {
      _ = try apple.serialized()
    } catch {
      let slug = own.first { $0.links?.ios != nil }?.slug ?? ""
      faults.append(Fault(path: "apps.\(slug).links.ios", message: "of \(host): \(error.description)"))
    }
    do throws(AssociationFault) {
      _ = try android.serialized()
    } catch {
      let slug = own.first { $0.links?.android != nil }?.slug ?? ""
      faults.append(Fault(path: "apps.\(slug).links.android", message: "of \(host): \(error.description)"))
    }
    return faults
  }

  /// Exclusions that would stop the return links from opening the app. They affect every app that shares an
  /// app id on the same host.
  private static func conflicts(_ apps: [AppConfiguration]) -> [Fault] {
    apps.flatMap { app -> [Fault] in
      guard let ios = app.links?.ios else { return [] }
      let others = apps.filter { other in
        other.links?.origin.host == app.links?.origin.host
          && other.links?.ios?.appIDs.contains { ios.appIDs.contains($0) } == true
      }
      return ios.paths.enumerated().compactMap { index, path in
        guard let shut = others.lazy.compactMap({ $0.linkedApp?.ownPath(shutOutBy: path) }).first else {
          return nil
        }
        return Fault(
          path: "apps.\(app.slug).links.ios.paths[\(index)]",
          message: "keeps \(shut.pattern) from the app, which the way back to it needs; write a narrower one")
      }
    }
  }
}

// MARK: - Findings

// Warnings about association files: rules that devices ignore, or that have an unintended effect. Pure; any
// thread.

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
