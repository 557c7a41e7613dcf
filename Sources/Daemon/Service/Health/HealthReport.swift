// The health of receiptd: stored once a minute and after a change for receiptctl, and shown by the dashboard.
// A value. It names no user, object or secret (R7).

public import Domain
public import Formats
internal import Platform
internal import Reports

/// The health of one running receiptd.
public struct HealthReport: Sendable, Equatable {
  /// A reason why it is not ready.
  public struct Reason: Sendable, Equatable {
    /// The reason's identifier, such as `disk_full`.
    public var name: String
    public var text: String
    public var advice: String

    public init(name: String, text: String, advice: String) {
      (self.name, self.text, self.advice) = (name, text, advice)
    }

    /// - Parameter json: of the property `json`.
    public init(json: JSONValue) {
      self.init(
        name: json["name"]?.stringValue ?? "", text: json["text"]?.stringValue ?? "",
        advice: json["advice"]?.stringValue ?? "")
    }

    public var json: JSONValue {
      ["name": .string(name), "text": .string(text), "advice": .string(advice)]
    }
  }

  /// Whether notices reach a receiver of alerts.
  public struct Receiver: Sendable, Equatable {
    /// The last one that it accepted; nil if none is known.
    public var sentAt: Timestamp?
    /// The last attempt that failed; nil if none is known.
    public var failedAt: Timestamp?
    /// Why it failed.
    public var failure: String?

    /// Whether the last attempt failed.
    public var isFailing: Bool { failedAt.map { failed in sentAt.map { $0 < failed } ?? true } ?? false }
  }

  /// A refused reload, if none was applied since.
  public struct RefusedReload: Sendable, Equatable {
    public var at: Timestamp
    /// The first faults, each as `key: message`.
    public var faults: [String]

    public init(at: Timestamp, faults: [String]) { (self.at, self.faults) = (at, faults) }
  }

  /// The scheduled backups.
  public struct Backup: Sendable, Equatable {
    /// What fails, until it succeeds.
    public struct Fault: Sendable, Equatable {
      public var since: Timestamp
      public var reason: String

      public init(since: Timestamp, reason: String) { (self.since, self.reason) = (since, reason) }
    }

    public var every: Duration
    /// Since when they are scheduled, as far as known.
    public var since: Timestamp
    /// When the newest copy was made, also one that is no longer in the folder; nil if there is none.
    public var lastAt: Timestamp?
    /// Why no copy is made.
    public var fault: Fault?
    /// Why the program that gets the copies fails.
    public var programFault: Fault?

    public init(every: Duration, since: Timestamp) { (self.every, self.since) = (every, since) }

    /// Between two attempts to make a copy.
    public static func retryPause(every: Duration) -> Duration { min(.seconds(600), every) }
  }

  /// The longest time between two stored reports of a running receiptd.
  static let interval: Duration = .seconds(60)
  /// An older report means that its receiptd does not run, is stuck, or cannot write.
  public static let staleAfter: Duration = .seconds(150)

  public var at: Timestamp
  public var version: String
  public var startedAt: Timestamp
  /// Empty if it is ready.
  public var reasons: [Reason] = []
  /// The free space on the database's disk; nil if it could not be read.
  public var freeBytes: Int64?
  /// Counts the configurations that this process applied, from 1.
  public var generation: Int64 = 1
  public var configuredAt: Timestamp
  /// `Configuration.digest` of the applied configuration; nil in a report of an older version.
  public var configurationDigest: String?
  /// The apps of the applied configuration; nil in a report of an older version.
  public var apps: [AppSlug]?
  public var refusedReload: RefusedReload?
  /// Changed keys that only a restart applies.
  public var needsRestart: [String] = []
  /// The most connections that the public listener serves, if that is less than `limits.connections`, because
  /// the process may open too few files.
  public var loweredConnections: Int64?
  /// Webhooks refused for their signature in the last hour, by processor and reason.
  public var refusedWebhooks: [AppProcessor: [String: Int64]] = [:]
  /// Webhooks that were accepted in the last hour.
  public var acceptedWebhooks: [AppProcessor: Int64] = [:]
  /// Requests of clients that were refused in the last hour, by app and reason.
  public var refusedContexts: [AppSlug: [String: Int64]] = [:]
  /// Contexts that were stored in the last hour.
  public var storedContexts: [AppSlug: Int64] = [:]

  /// The receivers of alerts that got a notice, by the digest of their address.
  public var receivers: [String: Receiver] = [:]

  /// The calls to processors that failed in the last hour, and the payments that they did not report, by
  /// processor and reason.
  public var processorTroubles: [AppProcessor: [String: Int64]] = [:]

  /// The proxy for requests to other hosts, as text; nil without one.
  public var proxy: String?
  /// The last delivery to each destination.
  public var destinations: [AppDestination: DestinationContact] = [:]

  /// The association files that are not as configured, and the copies of them.
  public var associations: [BrokenAssociation] = []

  /// Nil if none are scheduled.
  public var backup: Backup?
  /// The network file system that the database file is on; nil if its disk is local.
  public var fileSystem: String?

  public init(at: Timestamp, version: String, startedAt: Timestamp, configuredAt: Timestamp) {
    (self.at, self.version, self.startedAt, self.configuredAt) = (at, version, startedAt, configuredAt)
  }

  /// `destinations`, sorted by app and name.
  public var contacts: [(place: AppDestination, contact: DestinationContact)] {
    destinations.sorted { ($0.key.app, $0.key.destination) < ($1.key.app, $1.key.destination) }
      .map { ($0.key, $0.value) }
  }

  public var isReady: Bool { reasons.isEmpty }

  /// Whether this report must be stored at once, because it differs from an older one in what operators act
  /// on.
  func isNews(after older: HealthReport) -> Bool {
    reasons.map(\.name) != older.reasons.map(\.name) || generation != older.generation
      || refusedReload != older.refusedReload
      || Set(refusedWebhooks.keys) != Set(older.refusedWebhooks.keys)
      || receivers.mapValues(\.isFailing) != older.receivers.mapValues(\.isFailing)
      || Set(refusedContexts.keys) != Set(older.refusedContexts.keys)
      || Set(processorTroubles.keys) != Set(older.processorTroubles.keys)
      || troubledDestinations != older.troubledDestinations
      || associations.map(\.url) != older.associations.map(\.url)
      || backup?.fault != older.backup?.fault || backup?.programFault != older.backup?.programFault
  }

  private var troubledDestinations: [AppDestination] {
    contacts.filter { !$0.contact.isAnswered || $0.contact.failingAlone > 0 }.map(\.place)
  }
}

extension HealthReport {
  public var json: JSONValue {
    let refused: JSONValue =
      refusedReload.map {
        ["at": .time($0.at), "faults": .array($0.faults.map(JSONValue.string))]
      } ?? .null
    let apps = Dictionary(grouping: refusedWebhooks, by: \.key.app).sorted { $0.key < $1.key }
    let webhooks = apps.map { app, processors in
      let reasons = processors.reduce(into: [:]) { $0.merge($1.value, uniquingKeysWith: +) }
      return JSONValue.Member(name: app.text, value: Self.json(reasons))
    }
    let troubled = Dictionary(grouping: processorTroubles, by: \.key.app).sorted { $0.key < $1.key }
    let troubles = troubled.map { app, processors in
      JSONValue.Member(
        name: app.text,
        value: .object(
          processors.sorted { $0.key.processor < $1.key.processor }.map {
            .init(name: $0.key.processor.text, value: Self.json($0.value))
          }))
    }
    let report: JSONValue = [
      "reported_at": .time(at), "version": .string(version), "started_at": .time(startedAt),
      "ready": .bool(isReady),
      "reasons": .array(reasons.map(\.json)),
      "disk_free_bytes": .optional(freeBytes),
      "configuration": [
        "generation": .integer(generation), "applied_at": .time(configuredAt),
        "digest": .optional(configurationDigest), "refused_reload": refused,
        "needs_restart": .array(needsRestart.map(JSONValue.string)),
      ],
      "refused_webhooks_last_hour": .object(webhooks),
      "processor_troubles_last_hour": .object(troubles),
      "alert_receivers": .array(
        receivers.sorted { $0.key < $1.key }.map {
          [
            "to": .string($0.key), "sent_at": .optional($0.value.sentAt?.rfc3339),
            "failed_at": .optional($0.value.failedAt?.rfc3339),
            "failure": .optional($0.value.failure),
          ]
        }),
      "refused_contexts_last_hour": .object(
        refusedContexts.sorted { $0.key < $1.key }.map {
          .init(name: $0.key.text, value: Self.json($0.value))
        }),
      "stored_contexts_last_hour": Self.json(
        storedContexts.reduce(into: [:]) { $0[$1.key.text] = $1.value }),
      "proxy": .optional(proxy),
      "destinations": .array(contacts.map { Self.json($0.place, $0.contact) }),
    ]
    return loweredConnections.map { report.adding("lowered_connections", .integer($0)) } ?? report
  }

  /// The report as it is stored, which names the apps, the processors and the association files, too.
  public var stored: JSONValue {
    let refused = refusedWebhooks.map { place, reasons -> JSONValue in
      [
        "app": .string(place.app.text), "processor": .string(place.processor.text),
        "reasons": Self.json(reasons),
      ]
    }
    let accepted = acceptedWebhooks.map { place, count -> JSONValue in
      [
        "app": .string(place.app.text), "processor": .string(place.processor.text), "count": .integer(count),
      ]
    }
    return json.adding("refused_webhooks", .array(refused)).adding("accepted_webhooks", .array(accepted))
      .adding("apps", apps.map { .array($0.map { .string($0.text) }) } ?? .null)
      .adding("association_faults", .array(associations.map(\.json)))
      .adding("backup", backup?.json ?? .null).adding("file_system", .optional(fileSystem))
  }

  private static func json(_ reasons: [String: Int64]) -> JSONValue {
    .object(reasons.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: .integer($0.value)) })
  }

  /// Parses the text of `stored`; nil for anything else.
  public init?(stored text: String) {
    guard let value = try? JSONValue(parsing: Array(text.utf8)),
      let at = Self.time(value["reported_at"]), let startedAt = Self.time(value["started_at"]),
      let configuration = value["configuration"], let configuredAt = Self.time(configuration["applied_at"])
    else { return nil }
    self.init(
      at: at, version: value["version"]?.stringValue ?? "", startedAt: startedAt, configuredAt: configuredAt)
    reasons = (value["reasons"]?.elements ?? []).map(Reason.init(json:))
    for receiver in value["alert_receivers"]?.elements ?? [] {
      guard let digest = receiver["to"]?.stringValue else { continue }
      receivers[digest] = Receiver(
        sentAt: Self.time(receiver["sent_at"]), failedAt: Self.time(receiver["failed_at"]),
        failure: receiver["failure"]?.stringValue)
    }
    if case .integer(let bytes)? = value["disk_free_bytes"] { freeBytes = bytes }
    if case .integer(let number)? = configuration["generation"] { generation = number }
    if case .integer(let count)? = value["lowered_connections"] { loweredConnections = count }
    configurationDigest = configuration["digest"]?.stringValue
    if case .array(let slugs)? = value["apps"] { apps = slugs.compactMap(\.stringValue).map { AppSlug($0) } }
    if let refused = configuration["refused_reload"], let at = Self.time(refused["at"]) {
      let faults = (refused["faults"]?.elements ?? []).compactMap(\.stringValue)
      refusedReload = RefusedReload(at: at, faults: faults)
    }
    needsRestart = (configuration["needs_restart"]?.elements ?? []).compactMap(\.stringValue)
    processorTroubles = Self.troubles(value["processor_troubles_last_hour"])
    proxy = value["proxy"]?.stringValue
    for contact in value["destinations"]?.elements ?? [] { add(contact) }
    backup = Backup(json: value["backup"])
    fileSystem = value["file_system"]?.stringValue
    associations = (value["association_faults"]?.elements ?? []).compactMap(BrokenAssociation.init(json:))
    if case .object(let apps)? = value["refused_contexts_last_hour"] {
      for app in apps { refusedContexts[AppSlug(app.name)] = Self.counts(app.value) }
    }
    for (app, count) in Self.counts(value["stored_contexts_last_hour"]) {
      storedContexts[AppSlug(app)] = count
    }
    for accepted in value["accepted_webhooks"]?.elements ?? [] {
      guard let app = accepted["app"]?.stringValue, let processor = accepted["processor"]?.stringValue,
        case .integer(let count)? = accepted["count"]
      else { continue }
      acceptedWebhooks[AppProcessor(AppSlug(app), ProcessorName(processor))] = count
    }
    for refused in value["refused_webhooks"]?.elements ?? [] {
      guard let app = refused["app"]?.stringValue, let processor = refused["processor"]?.stringValue
      else { continue }
      refusedWebhooks[AppProcessor(AppSlug(app), ProcessorName(processor))] = Self.counts(refused["reasons"])
    }
  }

  private static func json(_ place: AppDestination, _ contact: DestinationContact) -> JSONValue {
    [
      "app": .string(place.app.text), "destination": .string(place.destination.text),
      "at": .time(contact.at), "answered": .bool(contact.isAnswered),
      "outcome": .string(contact.outcome), "route": .optional(contact.route),
      "failing_alone": .integer(contact.failingAlone), "failing_alone_next_at": .time(contact.aloneAt),
    ]
  }

  private mutating func add(_ contact: JSONValue) {
    guard let app = contact["app"]?.stringValue, let destination = contact["destination"]?.stringValue,
      let at = Self.time(contact["at"])
    else { return }
    var failingAlone: Int64 = 0
    if case .integer(let count)? = contact["failing_alone"] { failingAlone = count }
    destinations[AppDestination(AppSlug(app), DestinationName(destination))] = DestinationContact(
      at: at, isAnswered: contact["answered"] == true, outcome: contact["outcome"]?.stringValue ?? "",
      route: contact["route"]?.stringValue, failingAlone: failingAlone,
      aloneAt: Self.time(contact["failing_alone_next_at"]))
  }

  private static func troubles(_ value: JSONValue?) -> [AppProcessor: [String: Int64]] {
    guard case .object(let apps)? = value else { return [:] }
    var troubles: [AppProcessor: [String: Int64]] = [:]
    for app in apps {
      guard case .object(let processors) = app.value else { continue }
      for processor in processors {
        troubles[AppProcessor(AppSlug(app.name), ProcessorName(processor.name))] = counts(processor.value)
      }
    }
    return troubles
  }

  /// The numbers of an object's members.
  private static func counts(_ value: JSONValue?) -> [String: Int64] {
    guard case .object(let members)? = value else { return [:] }
    return members.reduce(into: [:]) { counts, member in
      if case .integer(let count) = member.value { counts[member.name] = count }
    }
  }

  fileprivate static func time(_ value: JSONValue?) -> Timestamp? {
    value?.stringValue.flatMap(RFC3339.unixMilliseconds(parsing:)).map(Timestamp.init(unixMilliseconds:))
  }
}

extension HealthReport.Backup {
  fileprivate var json: JSONValue {
    func shown(_ fault: Fault?) -> JSONValue {
      fault.map { ["since": .time($0.since), "reason": .string($0.reason)] } ?? .null
    }
    return [
      "every_ms": .integer(every.milliseconds), "since": .time(since),
      "last_at": .optional(lastAt?.rfc3339), "fault": shown(fault), "program_fault": shown(programFault),
    ]
  }

  fileprivate init?(json: JSONValue?) {
    guard let json, case .integer(let every)? = json["every_ms"],
      let since = HealthReport.time(json["since"])
    else { return nil }
    self.init(every: .milliseconds(every), since: since)
    func fault(_ value: JSONValue?) -> Fault? {
      guard let since = HealthReport.time(value?["since"]) else { return nil }
      return Fault(since: since, reason: value?["reason"]?.stringValue ?? "")
    }
    lastAt = HealthReport.time(json["last_at"])
    (self.fault, programFault) = (fault(json["fault"]), fault(json["program_fault"]))
  }
}
