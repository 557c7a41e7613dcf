// The conditions that an alert can watch, as the configuration writes them: a name, and for some a limit.
// Pure; any thread.

internal import Durations
internal import Platform

/// One condition that raises an alert.
public enum AlertCondition: Sendable, Hashable {
  /// Deliveries of an app are paused: its destination is down, or rejects its configuration.
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
  /// A payment processor refused an app's credentials, or more calls of the app to it than this failed.
  case processorFailures(over: Int)
  /// A capture of an app has had no outcome for longer than this, or was given up.
  case captureUnknown(over: Duration)
  /// A payment of an app was found paid, and no callback of its processor had reported it.
  case callbacksMissing
  /// An operator holds an app's deliveries.
  case appPaused
}

extension AlertCondition {
  static let oldestPendingDefault: Duration = .minutes(15)
  static let diskLowDefault = 1 << 30
  /// Not zero: anyone who finds the address can send unsigned requests.
  static let signatureFailuresDefault = 10
  /// Not zero: single calls fail, and are repeated.
  public static let processorFailuresDefault = 10
  static let captureUnknownDefault: Duration = .minutes(15)

  /// The forms that a configuration may contain, with the default limits.
  public static let forms = [
    AlertCondition.breakerOpen, .receiptFailed, .oldestPending(over: oldestPendingDefault),
    .diskLow(underBytes: diskLowDefault), .database, .signatureFailures(over: signatureFailuresDefault),
    .processorFailures(over: processorFailuresDefault), .captureUnknown(over: captureUnknownDefault),
    .callbacksMissing, .appPaused,
  ]

  /// The name without the limit, as notices and metrics use it.
  public var name: String {
    switch self {
    case .breakerOpen: "breaker_open"
    case .receiptFailed: "receipt_failed"
    case .oldestPending: "oldest_pending"
    case .diskLow: "disk_low"
    case .database: "database"
    case .signatureFailures: "signature_failures"
    case .processorFailures: "processor_failures"
    case .captureUnknown: "capture_unknown"
    case .callbacksMissing: "callbacks_missing"
    case .appPaused: "app_paused"
    }
  }

  /// The name with its limit, as the configuration writes it: `oldest_pending>15m`.
  public var text: String {
    switch self {
    case .breakerOpen, .receiptFailed, .database, .callbacksMissing, .appPaused: name
    case .oldestPending(let limit), .captureUnknown(let limit): "\(name)>\(DurationText.text(limit))"
    case .diskLow(let limit): "\(name)<\(SizeText.text(bytes: limit))"
    case .signatureFailures(let limit), .processorFailures(let limit): "\(name)>\(limit)"
    }
  }

  /// Whether it concerns the whole relay, not one app.
  public var isOfRelay: Bool {
    switch self {
    case .diskLow, .database: true
    default: false
    }
  }

  /// Whether it is counted in memory only: a restart loses the count.
  public var isForgottenAtStop: Bool {
    switch self {
    case .signatureFailures, .processorFailures, .callbacksMissing: true
    default: false
    }
  }

  /// - Returns: nil unless the text is a name, with a limit where the name can have one. Spaces are ignored.
  public init?(parsing text: String) {
    let text = text.filter { $0 != " " }
    let name = text.prefix { $0 != ">" && $0 != "<" }
    let sign = text.dropFirst(name.count).first
    let limit = String(text.dropFirst(name.count + 1))
    switch (name, sign) {
    case ("breaker_open", nil): self = .breakerOpen
    case ("receipt_failed", nil): self = .receiptFailed
    case ("oldest_pending", nil): self = .oldestPending(over: Self.oldestPendingDefault)
    case ("oldest_pending", ">"):
      guard let limit = Self.age(limit) else { return nil }
      self = .oldestPending(over: limit)
    case ("capture_unknown", nil): self = .captureUnknown(over: Self.captureUnknownDefault)
    case ("capture_unknown", ">"):
      guard let limit = Self.age(limit) else { return nil }
      self = .captureUnknown(over: limit)
    case ("callbacks_missing", nil): self = .callbacksMissing
    case ("app_paused", nil): self = .appPaused
    case ("disk_low", nil): self = .diskLow(underBytes: Self.diskLowDefault)
    case ("disk_low", "<"):
      guard let limit = SizeText.bytes(parsing: limit), ConfigurationLimits.alertDiskBytes.contains(limit)
      else { return nil }
      self = .diskLow(underBytes: limit)
    case ("database", nil): self = .database
    case ("signature_failures", nil): self = .signatureFailures(over: Self.signatureFailuresDefault)
    case ("signature_failures", ">"):
      guard let limit = Self.count(limit) else { return nil }
      self = .signatureFailures(over: limit)
    case ("processor_failures", nil): self = .processorFailures(over: Self.processorFailuresDefault)
    case ("processor_failures", ">"):
      guard let limit = Self.count(limit) else { return nil }
      self = .processorFailures(over: limit)
    default: return nil
    }
  }

  private static func age(_ text: String) -> Duration? {
    DurationText.duration(parsing: text).flatMap { ConfigurationLimits.alertAge.contains($0) ? $0 : nil }
  }

  private static func count(_ text: String) -> Int? {
    Int(text).flatMap { ConfigurationLimits.alertCount.contains($0) ? $0 : nil }
  }
}
