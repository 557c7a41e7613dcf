// The list of everything that is wrong now, as far as receiptd reports it or the database shows it. Each file
// of this folder adds its part. Pure; called from any thread.

public import Config
public import Domain
public import Formats
internal import Reports
public import Store

extension Finding {
  /// What status, alerts list, doctor and the dashboard's overview show, the most urgent first.
  /// - Parameter report: nil if no receiptd runs, or if it has not reported yet.
  public static func current(
    _ report: HealthReport?, _ stored: StoredFindings, _ configuration: Configuration, now: Timestamp
  ) -> [Finding] {
    let reported = report?.findings(
      now: now, webhooks: { configuration.webhookAdvice(of: $0) },
      processors: { configuration.processorAdvice(of: $0) })
    return byUrgency((reported ?? []) + stored.unread.findings + stored.identity.found, now: now)
  }
}

/// What the stored events and purchases show: read once for everything that reports it.
public struct StoredFindings: Sendable {
  /// Events that may be paid purchases and could not be read.
  public let unread: UnreadEvents
  /// Whose the purchases of the last days are.
  public let identity: IdentityFindings

  public init(_ apps: [AppConfiguration], _ reader: StoreReader, now: Timestamp) {
    unread = UnreadEvents(apps, reader, now: now)
    identity = IdentityFindings(apps, reader, now: now)
  }
}

extension HealthReport {
  /// - Parameters:
  ///   - webhooks: what to do when a processor's webhooks are refused; nil if it is not configured.
  ///   - processors: what to do when a processor refuses the credentials; nil if it is not configured.
  func findings(
    now: Timestamp, webhooks: (AppProcessor) -> WebhookAdvice?,
    processors: (AppProcessor) -> ProcessorAdvice?
  ) -> [Finding] {
    relayFindings(now: now) + inputFindings(advice: webhooks)
      + processorFindings(webhooks: webhooks, advice: processors) + associationFindings(now: now)
      + deliveryFindings
  }

  /// The time in which the counts of the report are counted, as the end of a sentence.
  static let time = "in the last hour"

  static func sorted<Value>(_ counts: [AppProcessor: Value]) -> [(key: AppProcessor, value: Value)] {
    counts.sorted { ($0.key.app, $0.key.processor) < ($1.key.app, $1.key.processor) }
  }

  /// The objects `service` and `findings` of `receiptctl --json` and of the API.
  /// - Parameters:
  ///   - report: nil if no receiptd runs, or if it has not reported yet.
  ///   - process: of the receiptd that serves a database file.
  public static func status(
    _ report: HealthReport?, isRunning: Bool, process: Int64? = nil, isReady: Bool, freeBytes: Int64?,
    _ unread: UnreadEvents, _ problems: [Finding]
  ) -> [JSONValue.Member] {
    var service: [JSONValue.Member] = [
      .init(name: "running", value: .bool(isRunning)), .init(name: "process", value: .optional(process)),
      .init(name: "ready", value: .bool(isReady)),
    ]
    if case .object(let members)? = report?.json { service += members.filter { $0.name != "ready" } }
    if report == nil { service.append(.init(name: "disk_free_bytes", value: .optional(freeBytes))) }
    service.append(.init(name: "unread_events_last_day", value: unread.json))
    return [
      .init(name: "service", value: .object(service)),
      .init(name: "findings", value: .array(problems.map(\.json))),
    ]
  }
}
