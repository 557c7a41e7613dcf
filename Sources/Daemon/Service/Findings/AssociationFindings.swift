// Association files, and their copies at Apple and Google, that are not as configured. Pure; called from any
// thread.

internal import Config
public import Domain
internal import Formats
internal import Platform
internal import Reports

/// An association file, or a company's copy of it, that receiptd found different from the configuration.
public struct BrokenAssociation: Sendable, Equatable {
  /// A single answer may come from a proxy that restarts.
  static let hostSpan: Duration = .minutes(5)
  /// Companies fetch a changed file within a day or so.
  static let copySpan: Duration = .hours(26)

  /// The address that was asked.
  public var url: String
  public var host: String
  /// Who has the copy; nil for the host's own file.
  public var company: String?
  /// The apps of the host.
  public var apps: [AppSlug]
  /// What is wrong with the file, as parts of a sentence.
  public var faults: [String]
  /// When it was first found, and when last.
  public var since: Timestamp
  public var seenAt: Timestamp

  public init(_ probe: AssociationProbe, _ faults: [String], since: Timestamp, seenAt: Timestamp) {
    (url, host, company, apps) = (probe.url, probe.files.host, probe.company, probe.files.slugs)
    (self.faults, self.since, self.seenAt) = (faults, since, seenAt)
  }

  /// Whether it was found for so long that it does not end without somebody.
  public var isLasting: Bool {
    seenAt.duration(since: since) >= (company == nil ? Self.hostSpan : Self.copySpan)
  }
}

extension BrokenAssociation {
  var json: JSONValue {
    [
      "url": .string(url), "host": .string(host), "company": .optional(company),
      "apps": .array(apps.map { .string($0.text) }), "faults": .array(faults.map(JSONValue.string)),
      "since": .time(since), "seen_at": .time(seenAt),
    ]
  }

  /// - Parameter json: of the property `json`; nil for anything else.
  init?(json: JSONValue) {
    func time(_ name: String) -> Timestamp? {
      json[name]?.stringValue.flatMap(RFC3339.unixMilliseconds(parsing:))
        .map(Timestamp.init(unixMilliseconds:))
    }
    guard let url = json["url"]?.stringValue, let host = json["host"]?.stringValue,
      let since = time("since"), let seenAt = time("seen_at")
    else { return nil }
    (self.url, self.host, company) = (url, host, json["company"]?.stringValue)
    apps = (json["apps"]?.elements ?? []).compactMap(\.stringValue).map { AppSlug($0) }
    faults = (json["faults"]?.elements ?? []).compactMap(\.stringValue)
    (self.since, self.seenAt) = (since, seenAt)
  }
}

extension HealthReport {
  func associationFindings(now: Timestamp) -> [Finding] {
    Set(associations.flatMap(\.apps)).sorted().compactMap {
      Finding.associations(associations, app: $0, now: now)
    }
  }
}

extension Finding {
  /// The files of the hosts of an app.
  /// - Returns: nil if all are as configured, or if none has been different for long.
  public static func associations(_ faults: [BrokenAssociation], app: AppSlug, now: Timestamp) -> Finding? {
    let title = "Links open the browser, not the app"
    let found = faults.filter { $0.isLasting && $0.apps.contains(app) }.map { fault in
      let commands = ["receiptctl links check --fetch"]
      let age = seconds(from: fault.since, to: now)
      guard let company = fault.company else {
        return Finding(
          .failure, .associations, title, .impaired,
          "\(fault.url), which opens \(app) from links, \(fault.faults.joined(separator: "; "))",
          next: "Until it is right, links open the browser on devices that ask now. See: \(commands[0])",
          app: app, since: fault.since, value: age, commands: commands)
      }
      return Finding(
        .warning, .associations, title, .impaired,
        "\(company) has had another file of \(fault.host) than \(app) needs for \(words(seconds: age))",
        next: "New installations use that one. See whether \(company) can fetch the file: \(commands[0])",
        app: app, since: fault.since, value: age, commands: commands)
    }
    return joined(found, alert: .associationFiles)
  }
}
