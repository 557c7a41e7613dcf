// `receiptctl doctor`: the association files, as devices get them, and as Apple and Google keep them. One
// thread.

internal import Config
internal import Formats
internal import HTTPClient
internal import Service

enum AssociationsCheck: DoctorCheck {
  static let subject = Finding.Check.associations
  private static let check = "receiptctl links check --fetch"

  static func probes(_ scene: DoctorScene) -> [DoctorProbe] {
    AssociationFiles.all(of: scene.configuration.apps).filter { files in
      files.slugs.contains { slug in scene.apps.contains { $0.slug == slug } }
    }.flatMap { files in
      direct(files) + (files.origin.scheme == "https" ? cached(files) : [])
    }
  }

  private static func direct(_ files: AssociationFiles) -> [DoctorProbe] {
    LinkFetch.expected(of: files).map { url, expected in
      DoctorProbe(DoctorScene.request(url, answerBytesMax: AppSiteAssociation.byteCountMax)) { result in
        let (faults, _) = LinkFetch.check(result, expected)
        return .findings([
          faults.isEmpty
            ? ok("\(url) as configured") : failure("\(url) \(faults.joined(separator: "; "))", next: check)
        ])
      }
    }
  }

  /// What an app gets when it is installed comes from these caches; they are refreshed within a day or so.
  private static func cached(_ files: AssociationFiles) -> [DoctorProbe] {
    let apple = AssociationCaches.appleURL(of: files.host)
    let google = AssociationCaches.googleURL(of: files.origin.text)
    var probes: [DoctorProbe] = []
    if files.apple.links?.entries.isEmpty == false {
      probes.append(
        DoctorProbe(DoctorScene.request(apple, answerBytesMax: AppSiteAssociation.byteCountMax)) { result in
          .findings([finding("Apple", files.host, result, AssociationCaches.isApple(result, files.apple))])
        })
    }
    if !files.android.statements.isEmpty {
      probes.append(
        DoctorProbe(DoctorScene.request(google)) { result in
          .findings([finding("Google", files.host, result, AssociationCaches.isGoogle(result, files.android))]
          )
        })
    }
    return probes
  }

  private static func finding(
    _ company: String, _ host: String, _ result: TransferResult, _ isCurrent: Bool?
  ) -> Finding {
    switch isCurrent {
    case true: return ok("\(company) has the file of \(host) as configured")
    case false:
      return warning(
        "\(company) has another file of \(host); new installations use that one for up to a day",
        next: "If it stays so, see whether \(company) can fetch it: \(check)")
    case nil:
      let cause = result.status.map { "status \($0)" } ?? result.failureText ?? ""
      return warning("\(company)'s copy of the file of \(host) is not known (\(cause))", next: again())
    }
  }
}

/// The public caches of association files.
enum AssociationCaches {
  /// https://developer.apple.com/documentation/technotes/tn3155-debugging-universal-links
  static func appleURL(of host: String) -> String {
    "https://app-site-association.cdn-apple.com/a/v1/\(PercentEncoding.encode(host))"
  }

  /// https://developers.google.com/digital-asset-links/reference/rest/v1/statements/list
  static func googleURL(of origin: String) -> String {
    "https://digitalassetlinks.googleapis.com/v1/statements:list?source.web.site="
      + "\(PercentEncoding.encode(origin))&relation=\(PercentEncoding.encode(AssetLinks.handlesAllURLs))"
  }

  /// Whether Apple has the configured file; nil if the answer does not show it.
  static func isApple(_ result: TransferResult, _ expected: AppSiteAssociation) -> Bool? {
    // 404: Apple could not fetch the file, or has not tried yet.
    if result.status == 404 { return false }
    guard result.status == 200, let file = try? JSONValue(parsing: result.body) else { return nil }
    return file == (try? JSONValue(parsing: expected.json.serialized()))
  }

  /// Whether Google has the configured packages with their certificates; nil if the answer does not show it.
  static func isGoogle(_ result: TransferResult, _ expected: AssetLinks) -> Bool? {
    guard result.status == 200, let answer = try? JSONValue(parsing: result.body) else { return nil }
    var found: Set<String> = []
    guard case .array(let statements) = answer["statements"] ?? [] else { return nil }
    for statement in statements {
      guard let app = statement["target"]?["androidApp"], let package = app["packageName"]?.stringValue,
        let fingerprint = app["certificate"]?["sha256Fingerprint"]?.stringValue
      else { continue }
      found.insert("\(package) \(fingerprint)")
    }
    let wanted = expected.statements.flatMap { statement in
      statement.fingerprints.map { "\(statement.package.text) \($0.text)" }
    }
    return found == Set(wanted)
  }
}
