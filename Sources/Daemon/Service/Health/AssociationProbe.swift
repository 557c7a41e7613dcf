// Asks for an association file, or for a company's copy of it, and judges the answer. Pure; any thread.

public import Config
internal import Formats
public import HTTPClient
internal import Terminal

/// One place that has an association file of a host.
public struct AssociationProbe: Sendable, Equatable {
  /// Whose file it is. An app gets the copy of its system's company when it is installed.
  public enum Place: Sendable, CaseIterable {
    case appleFile, androidFile, appleCopy, googleCopy
  }

  /// What an answer shows.
  public enum Verdict: Sendable, Equatable {
    /// The file is as configured.
    case current
    /// What devices reject, and how the file differs; of a copy: nothing more than that it is another file.
    case faulty([String])
    /// Nothing, for this cause.
    case unanswered(String)

    /// What is wrong with the host's own file; empty if nothing is.
    public var faults: [String] {
      switch self {
      case .current: []
      case .faulty(let faults): faults
      case .unanswered(let cause): ["does not answer (\(cause)): devices need it over https"]
      }
    }
  }

  public let files: AssociationFiles
  public let place: Place

  public init(_ files: AssociationFiles, _ place: Place) { (self.files, self.place) = (files, place) }

  /// The host's own files, and the copies that companies need. They fetch over https only.
  public static func all(of files: AssociationFiles) -> [AssociationProbe] {
    let isPublic = files.origin.scheme == "https"
    return Place.allCases.filter { place in
      switch place {
      case .appleFile, .androidFile: true
      case .appleCopy: isPublic && files.apple.links?.entries.isEmpty == false
      case .googleCopy: isPublic && !files.android.statements.isEmpty
      }
    }.map { AssociationProbe(files, $0) }
  }

  /// Who has the copy; nil for the host itself.
  public var company: String? {
    switch place {
    case .appleFile, .androidFile: nil
    case .appleCopy: "Apple"
    case .googleCopy: "Google"
    }
  }

  public var url: String {
    switch place {
    case .appleFile: files.origin.text + "/.well-known/apple-app-site-association"
    case .androidFile: files.origin.text + "/.well-known/assetlinks.json"
    case .appleCopy: AssociationCaches.appleURL(of: files.host)
    case .googleCopy: AssociationCaches.googleURL(of: files.origin.text)
    }
  }

  /// As Apple's and Google's servers ask: without following a redirect.
  public func request(userAgent: String, timeout: Duration) -> TransferRequest {
    TransferRequest(
      method: .get, url: url, headers: [TransferHeader("User-Agent", userAgent)], timeout: timeout,
      // Google's list has more words than the file.
      answerBytesMax: place == .googleCopy ? 1 << 20 : AppSiteAssociation.byteCountMax)
  }

  public func judge(_ result: TransferResult) -> Verdict {
    switch place {
    case .appleFile: Self.judge(result, files.apple.json)
    case .androidFile: Self.judge(result, files.android.json)
    case .appleCopy: Self.judge(AssociationCaches.isApple(result, files.apple), result)
    case .googleCopy: Self.judge(AssociationCaches.isGoogle(result, files.android), result)
    }
  }

  private static func judge(_ isCurrent: Bool?, _ result: TransferResult) -> Verdict {
    switch isCurrent {
    case true?: .current
    case false?: .faulty(["is another file"])
    case nil: .unanswered(result.status.map { "status \($0)" } ?? result.failureText ?? "")
    }
  }

  /// Finds what devices would reject, and differences from the configuration.
  private static func judge(_ result: TransferResult, _ expected: JSONValue) -> Verdict {
    guard let status = result.status else { return .unanswered(result.failureText ?? "") }
    var faults: [String] = []
    if (300...399).contains(status) {
      let target = result.header("Location").map { " to \(DisplayText.clean($0))" } ?? ""
      faults.append("answers with a redirect (\(status)\(target)), which devices do not follow")
    } else if status != 200 {
      faults.append("answers with status \(status) instead of 200")
    } else {
      if result.failure == .answerTooLarge {
        faults.append("is larger than \(AppSiteAssociation.byteCountMax) bytes, which devices do not accept")
      } else if !says(result.body, expected) {
        faults.append("differs from the configuration: run receiptctl reload, or check which proxy answers")
      }
      let type = result.header("Content-Type")?.lowercased().prefix { $0 != ";" } ?? ""
      if type != "application/json" { faults.append("is not sent as application/json") }
    }
    return faults.isEmpty ? .current : .faulty(faults)
  }

  /// Whether two files are equal, ignoring the order of members.
  private static func says(_ bytes: [UInt8], _ expected: JSONValue) -> Bool {
    // Invalid JSON is different.
    guard let file = try? JSONValue(parsing: bytes) else { return false }
    return file == (try? JSONValue(parsing: expected.serialized()))
  }
}

// MARK: - AssociationCaches

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
