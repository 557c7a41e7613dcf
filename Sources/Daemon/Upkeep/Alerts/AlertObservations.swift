// What the alerter knows only from observing for a while, or only of its own process. Values; one thread.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Service
internal import Store

/// What is not in the database.
struct AlertObservations {
  /// Nil unless the last reload was refused.
  var refusedReload: HealthReport.RefusedReload?
  /// Nil if no backups are scheduled.
  var backup: HealthReport.Backup?
  /// The apps whose backlog grows, with its size.
  var growing: [AppSlug: Int64] = [:]
  /// The last event of each app that gets none, although events are usual.
  var silent: [AppSlug: Timestamp] = [:]
  /// The last hours of the apps whose contexts no longer join.
  var unjoined: [AppSlug: JoinTally] = [:]
  /// When certificates expire, as far as known.
  var certificates: [KnownCertificates.Place: Timestamp] = [:]
  /// When the certificate in the listener's file expires: a running listener may still have an older one.
  var listenerFile: Timestamp?
  /// How far the clock is ahead; nil if it is not known.
  var clockAhead: Duration?
  /// The apps with receipts that cannot be read.
  var unreadable: [AppSlug] = []
  /// The events that cannot be read and may report payments, by app.
  var unread: [Finding] = []
  /// Whose the purchases are; nil if no alert is about that.
  var identity: IdentityFindings?
  /// The association files that are not as configured.
  var associations: [BrokenAssociation] = []
}

/// The events that cannot be read, which are looked for now and then.
struct UnreadEventWatch {
  private static let lookInterval: Duration = .seconds(30)

  private var found: [Finding] = []
  private var lookedAt: Timestamp?

  /// Reads nothing if no alert is about them.
  mutating func look(
    for alerts: [Configuration.Alert], _ apps: [AppConfiguration], _ reader: StoreReader, now: Timestamp
  ) throws(StoreFault) -> [Finding] {
    guard alerts.contains(where: { $0.on.contains(.unreadableEvents) }) else { return [] }
    // Also after the clock was set back.
    if let lookedAt, (.zero..<Self.lookInterval).contains(now.duration(since: lookedAt)) { return found }
    let events = UnreadEvents(apps, reader, now: now)
    if let fault = events.fault { throw fault }
    found = events.found
    lookedAt = now
    return found
  }
}

/// Whose the purchases are, which is looked at now and then.
struct IdentityWatch {
  private static let lookInterval: Duration = .seconds(30)

  private var found: IdentityFindings?
  private var lookedAt: Timestamp?

  /// Reads nothing if no alert is about them.
  mutating func look(
    for alerts: [Configuration.Alert], _ apps: [AppConfiguration], _ reader: StoreReader, now: Timestamp
  ) throws(StoreFault) -> IdentityFindings? {
    let isWatched = alerts.contains {
      $0.on.contains(.userConflict) || $0.on.contains(.unmatchedPurchases)
    }
    guard isWatched else { return nil }
    // Also after the clock was set back.
    if let lookedAt, (.zero..<Self.lookInterval).contains(now.duration(since: lookedAt)) { return found }
    let identity = IdentityFindings(apps, reader, now: now)
    if let fault = identity.fault { throw fault }
    (found, lookedAt) = (identity, now)
    return identity
  }
}

/// The apps with receipts that cannot be read.
struct UnreadableReceipts {
  /// A receipt is read again after an hour, and the dispatcher may be late.
  private static let memory: Duration = .hours(2)

  private var last: [LabelValues: UInt64] = [:]
  private var seen: [AppSlug: MonotonicInstant] = [:]

  /// - Parameter counts: how often receipts could not be read, by app.
  mutating func record(_ counts: [LabelValues: UInt64], now: MonotonicInstant) {
    for (key, count) in counts where count > last[key, default: 0] { seen[AppSlug(key.first)] = now }
    last = counts
  }

  func apps(now: MonotonicInstant) -> [AppSlug] {
    seen.filter { now.duration(since: $0.value) < Self.memory }.keys.sorted()
  }
}
