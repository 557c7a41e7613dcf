// Evaluates conditions without a receiptd, for `receiptctl alerts list` and the pages of the dashboard. One
// thread.

public import Config
public import Domain
internal import Platform
internal import Reports
public import Service
public import Store

/// The default conditions.
public enum AlertPreview {
  /// The conditions in the syntax of the configuration.
  public static var conditions: [String] { standard.map(\.text) }

  /// All but those that need preparation, or a process that observes.
  private static let standard = AlertCondition.forms.filter { condition in
    switch condition {
    case .backupOld, .backlogGrowing, .clock: false
    default: true
    }
  }

  /// The conditions of the configuration, and the default form of each that it does not watch: what is wrong
  /// does not depend on who is notified.
  private static func conditions(of configuration: Configuration) -> [AlertCondition] {
    let watched = configuration.alerts.flatMap(\.on)
    let names = Set(watched.map(\.name))
    return watched + standard.filter { !names.contains($0.name) }
  }

  /// Finds the troubles of all configured apps, the most urgent first.
  /// - Parameters:
  ///   - stored: what the database shows now.
  ///   - health: the last health report of receiptd; nil if it does not run.
  ///   - freeBytes: the free space on the database's disk.
  public static func troubles(
    _ configuration: Configuration, reader: StoreReader, stored: StoredFindings, health: HealthReport?,
    freeBytes: Int64?, now: Timestamp
  ) throws(StoreFault) -> [Finding] {
    var events = EventWatch()
    return try troubles(
      configuration, reader: reader, stored: stored, health: health, freeBytes: freeBytes, events: &events,
      now: now)
  }

  /// - Parameter events: what is known of the silences of the apps.
  static func troubles(
    _ configuration: Configuration, reader: StoreReader, stored: StoredFindings, health: HealthReport?,
    freeBytes: Int64?, events: inout EventWatch, now: Timestamp
  ) throws(StoreFault) -> [Finding] {
    let names = Set(health?.reasons.map(\.name) ?? [])
    let reasons = ReadinessReason.ofDatabase.filter { names.contains($0.name) }
    let found: [Finding]
    do throws(StoreFault) {
      found = try reader.snapshot { () throws(StoreFault) in
        try read(
          configuration, reader: reader, stored: stored, health: health, database: reasons,
          freeBytes: freeBytes, events: &events, now: now)
      }
    } catch {
      // A table cannot be read: because it is damaged, or receiptd may have reported why.
      found = Finding.database(reasons.adding(error), unreadable: [], now: now)
      guard !found.isEmpty else { throw error }
    }
    return Finding.byUrgency(found, now: now)
  }

  /// - Parameter database: what is wrong with the database, as receiptd has reported it.
  private static func read(
    _ configuration: Configuration, reader: StoreReader, stored: StoredFindings, health: HealthReport?,
    database: [ReadinessReason], freeBytes: Int64?, events: inout EventWatch, now: Timestamp
  ) throws(StoreFault) -> [Finding] {
    let apps = configuration.apps
    var alert = Configuration.Alert(
      to: Secret("nobody"), on: conditions(of: configuration), every: RecentCounts.windowMax)
    // Of a file with faults, nobody knows which apps receiptd has: none counts as removed.
    if configuration.isPartial { alert.apps = apps.map(\.slug) }
    var refused: [LabelValues: UInt64] = [:]
    for (place, reasons) in health?.refusedWebhooks ?? [:] {
      for (reason, count) in reasons {
        let key = LabelValues(first: place.app.text, second: reason, third: place.processor.text)
        refused[key] = UInt64(clamping: count)
      }
    }
    var observed = AlertObservations(refusedReload: health?.refusedReload)
    observed.associations = health?.associations ?? []
    observed.silent = try events.unusual(for: [alert], apps: apps.map(\.slug), reader: reader, now: now)
    var joins = JoinWatch()
    observed.unjoined = try joins.unjoined(for: [alert], apps: apps.map(\.slug), reader: reader, now: now)
    observed.certificates[.listener] =
      configuration.listen.tls.map(\.certificatePath).flatMap(ListenerCertificate.expiry)
    if let fault = stored.unread.fault, fault.kind != .corrupt { throw fault }
    observed.unread = stored.unread.found
    observed.identity = stored.identity
    let names = Set(health?.reasons.map(\.name) ?? [])
    let findings = try AlertWatch.findings(
      for: [alert], apps: apps, reader: reader, signatures: { _ in refused },
      clients: { _ in health?.refusedContexts ?? [:] },
      processors: { _ in health?.processorTroubles ?? [:] }, database: database.adding(stored.unread.fault),
      freeBytes: freeBytes,
      isDiskFull: names.contains(ReadinessReason.diskFull.name), observed: observed, now: now)
    return Array(findings.troubles(for: alert, apps: apps).values)
  }
}

extension [ReadinessReason] {
  /// Damage that was met just now is a reason, too, before receiptd has reported it.
  fileprivate func adding(_ fault: StoreFault?) -> Self {
    fault?.kind == .corrupt && !contains(.databaseDamaged) ? self + [.databaseDamaged] : self
  }
}

// MARK: - TroubleFinder

// The troubles of the whole relay, for the pages of the dashboard. Thread-safe.

/// Finds the troubles with the default conditions, and remembers what is usual for each app.
public final class TroubleFinder: Sendable {
  private let events = Monitor(EventWatch())

  public init() {}

  /// The same as `AlertPreview.troubles`.
  public func troubles(
    _ configuration: Configuration, reader: StoreReader, stored: StoredFindings, health: HealthReport,
    now: Timestamp
  ) throws(StoreFault) -> [Finding] {
    var events = events.withLock { $0 }
    let found = try AlertPreview.troubles(
      configuration, reader: reader, stored: stored, health: health, freeBytes: health.freeBytes,
      events: &events, now: now)
    let seen = events
    self.events.withLock { $0 = seen }
    return found
  }
}
