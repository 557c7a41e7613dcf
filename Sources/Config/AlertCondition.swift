// The conditions that an alert can watch, as the configuration writes them: a name, and for some a limit.
// Pure; any thread.

internal import Formats
internal import Platform

/// One condition that raises an alert.
public enum AlertCondition: Sendable, Hashable {
  /// Deliveries of an app are stopped: its destination is down, or rejects its configuration.
  case breakerOpen
  /// Receipts of an app failed.
  case receiptFailed
  /// A receipt of an app has been ready for longer than this and is not delivered.
  case oldestPending(over: Duration)
  /// The database's disk has fewer free bytes than this.
  case diskLow(underBytes: Int)
  /// The database file was moved or removed, or is damaged.
  case database
  /// More webhooks of an app than this failed the signature check.
  case signatureFailures(over: Int)
  /// More requests of an app's clients than this were refused.
  case contextsRefused(over: Int)
  /// Events of an app that may report payments could not be read.
  case unreadableEvents
  /// Sources name different users for receipts of an app.
  case userConflict
  /// Purchases that may be an app's are paid, and name no user.
  case unmatchedPurchases
  /// A payment processor refused an app's credentials, or more calls of the app to it than this failed.
  case processorFailures(over: Int)
  /// A capture of an app has had no outcome for longer than this, or was given up.
  case captureUnknown(over: Duration)
  /// A payment of an app was found paid, and no callback of its processor had reported it.
  case callbacksMissing
  /// An operator holds an app's deliveries.
  case appPaused
  /// The last reload of the configuration was refused.
  case reloadRefused
  /// The last recorded backup of the database is older than this, or there is none.
  case backupOld(over: Duration)
  /// More receipts of an app than this are ready and not delivered, and the number grows.
  case backlogGrowing(over: Int)
  /// The database is damaged, or a part of what it stores cannot be read.
  case corruption
  /// An app got no event for longer than this, at a time at which events are usual.
  case noEvents(over: Duration)
  /// The certificate of the listener, or of a destination's server, expires within this time.
  case certificateExpires(within: Duration)
  /// Contexts of an app no longer join: receipts lack theirs, and no purchase claims those that are posted.
  case contextsUnjoined
  /// This machine's clock differs from those of the destinations by more than this.
  case clock(over: Duration)
  /// An association file of an app's host, or Apple's or Google's copy of it, is not as configured.
  case associationFiles
  /// One that this version does not have: only in the database of another version, whose alert must end.
  case unknown(text: String)
}

extension AlertCondition {
  /// Not zero: anyone who finds the address can send unsigned requests.
  static let signatureFailuresDefault = 10
  /// Not zero: single calls fail, and are repeated.
  public static let processorFailuresDefault = 10

  /// The dates of answers have whole seconds.
  private static let clockMin: Duration = .seconds(2)

  /// The forms that a configuration may contain, with the default limits.
  public static let forms = [
    AlertCondition.breakerOpen, .receiptFailed, .oldestPending(over: .minutes(15)),
    .diskLow(underBytes: 1 << 30), .database, .signatureFailures(over: signatureFailuresDefault),
    .contextsRefused(over: signatureFailuresDefault), .unreadableEvents,
    .processorFailures(over: processorFailuresDefault), .captureUnknown(over: .minutes(15)),
    .callbacksMissing, .appPaused, .reloadRefused, .backupOld(over: .hours(26)),
    .backlogGrowing(over: 1000), .corruption,
    .noEvents(over: .minutes(30)), .certificateExpires(within: .days(14)), .clock(over: .seconds(5)),
    .contextsUnjoined, .userConflict, .unmatchedPurchases, .associationFiles,
  ]

  /// Names that conditions had, which a configuration may still have.
  static let formerNames = ["events_unparsed": AlertCondition.unreadableEvents.name]

  /// The name without the limit, as notices and metrics use it.
  public var name: String {
    switch self {
    case .breakerOpen: "breaker_open"
    case .receiptFailed: "receipt_failed"
    case .oldestPending: "oldest_pending"
    case .diskLow: "disk_low"
    case .database: "database"
    case .signatureFailures: "signature_failures"
    case .contextsRefused: "contexts_refused"
    case .unreadableEvents: "unreadable_events"
    case .userConflict: "user_conflict"
    case .unmatchedPurchases: "unmatched_purchases"
    case .processorFailures: "processor_failures"
    case .captureUnknown: "capture_unknown"
    case .callbacksMissing: "callbacks_missing"
    case .appPaused: "app_paused"
    case .reloadRefused: "reload_refused"
    case .backupOld: "backup_old"
    case .backlogGrowing: "backlog_growing"
    case .corruption: "corruption"
    case .noEvents: "no_events"
    case .certificateExpires: "certificate_expires"
    case .clock: "clock"
    case .contextsUnjoined: "contexts_unjoined"
    case .associationFiles: "association_files"
    case .unknown(let text): String(text.prefix { $0 != ">" && $0 != "<" })
    }
  }

  /// The name with its limit, as the configuration writes it: `oldest_pending>15m`.
  public var text: String {
    switch self {
    case .breakerOpen, .receiptFailed, .database, .unreadableEvents, .callbacksMissing, .appPaused,
      .reloadRefused, .corruption, .contextsUnjoined, .userConflict, .unmatchedPurchases,
      .associationFiles:
      name
    case .oldestPending(let limit), .captureUnknown(let limit), .backupOld(let limit),
      .noEvents(let limit), .clock(let limit):
      "\(name)>\(DurationText.text(limit))"
    case .certificateExpires(let limit): "\(name)<\(DurationText.text(limit))"
    case .diskLow(let limit): "\(name)<\(SizeText.text(bytes: limit))"
    case .signatureFailures(let limit), .contextsRefused(let limit), .processorFailures(let limit),
      .backlogGrowing(let limit):
      "\(name)>\(limit)"
    case .unknown(let text): text
    }
  }

  /// Whether it can concern the whole relay, not one app.
  public var isOfRelay: Bool {
    switch self {
    case .diskLow, .database, .reloadRefused, .backupOld, .corruption, .clock, .certificateExpires: true
    default: false
    }
  }

  /// Whether it can concern one app.
  public var isOfApps: Bool { if case .certificateExpires = self { true } else { !isOfRelay } }

  /// For how long a new process observes before it knows that the condition does not hold, because a restart
  /// loses what was counted in memory; nil if nothing is lost.
  /// - Parameters:
  ///   - window: the time over which the alert counts.
  ///   - isOfApp: whether it is about one app.
  public func observation(window: Duration, isOfApp: Bool) -> Duration? {
    switch self {
    // The certificate of a destination is known after the first delivery to it.
    case .certificateExpires where isOfApp: .days(1)
    case .clock: .hours(1)
    case .signatureFailures, .contextsRefused, .processorFailures, .callbacksMissing: window
    // Files are asked for soon after the start, and twice before one is reported.
    case .backlogGrowing, .associationFiles: .minutes(15)
    case .corruption: .hours(2)
    default: nil
    }
  }

  /// - Returns: nil unless the text is a name, with a limit where the name can have one. Spaces are ignored.
  public init?(parsing text: String) {
    let text = text.filter { $0 != " " }
    let name = text.prefix { $0 != ">" && $0 != "<" }
    let present = Self.formerNames[String(name)] ?? String(name)
    guard let standard = Self.forms.first(where: { $0.name == present }) else { return nil }
    guard let sign = text.dropFirst(name.count).first else {
      self = standard
      return
    }
    // The sign is that of the standard form, after its name.
    guard standard.text.dropFirst(name.count).first == sign,
      let condition = standard.with(limit: String(text.dropFirst(name.count + 1)))
    else { return nil }
    self = condition
  }

  /// The same condition with another limit; nil if the text is not one.
  private func with(limit text: String) -> AlertCondition? {
    switch self {
    case .breakerOpen, .receiptFailed, .database, .unreadableEvents, .callbacksMissing, .appPaused,
      .reloadRefused, .corruption, .contextsUnjoined, .userConflict, .unmatchedPurchases,
      .associationFiles, .unknown:
      nil
    case .oldestPending: Self.age(text).map { .oldestPending(over: $0) }
    case .captureUnknown: Self.age(text).map { .captureUnknown(over: $0) }
    case .certificateExpires: Self.age(text).map { .certificateExpires(within: $0) }
    case .clock: Self.age(text).flatMap { $0 < Self.clockMin ? nil : .clock(over: $0) }
    case .noEvents: Self.age(text).map { .noEvents(over: $0) }
    case .backupOld: Self.age(text).map { .backupOld(over: $0) }
    case .diskLow: Self.size(text).map { .diskLow(underBytes: $0) }
    case .signatureFailures: Self.count(text).map { .signatureFailures(over: $0) }
    case .contextsRefused: Self.count(text).map { .contextsRefused(over: $0) }
    case .processorFailures: Self.count(text).map { .processorFailures(over: $0) }
    case .backlogGrowing: Self.count(text).map { .backlogGrowing(over: $0) }
    }
  }

  private static func age(_ text: String) -> Duration? {
    DurationText.duration(parsing: text).flatMap { KeyRanges.alertAge.contains($0) ? $0 : nil }
  }

  private static func count(_ text: String) -> Int? {
    Int(text).flatMap { KeyRanges.alertCount.contains($0) ? $0 : nil }
  }

  private static func size(_ text: String) -> Int? {
    SizeText.bytes(parsing: text).flatMap { KeyRanges.alertDiskBytes.contains($0) ? $0 : nil }
  }
}
