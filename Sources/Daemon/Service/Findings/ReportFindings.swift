// What is wrong now, as far as receiptd reports it or the database shows it. Pure; called from any thread.

public import Config
public import Domain
public import Platform
internal import Reports

extension Finding {
  /// What stats, top, alerts list, doctor and the dashboard's overview show.
  /// - Parameter report: nil if no receiptd runs, or if it has not reported yet.
  public static func current(
    _ report: HealthReport?, _ unread: UnreadEvents, _ identity: IdentityFindings,
    _ configuration: Configuration, now: Timestamp
  ) -> [Finding] {
    let reported = report?.findings(
      now: now, webhooks: { configuration.webhookAdvice(of: $0) },
      processors: { configuration.processorAdvice(of: $0) })
    return (reported ?? []) + unread.findings + identity.found
  }
}

extension HealthReport {
  private static let time = "in the last hour"

  /// Everything that is reported, in the order in which operators read it.
  /// - Parameters:
  ///   - webhooks: what to do when a processor's webhooks are refused; nil if it is not configured.
  ///   - processors: what to do when a processor refuses the credentials; nil if it is not configured.
  func findings(
    now: Timestamp, webhooks: (AppProcessor) -> WebhookAdvice?,
    processors: (AppProcessor) -> ProcessorAdvice?
  ) -> [Finding] {
    var found = reasons.map(Finding.unready)
    if let refusedReload { found.append(.reload(refusedReload, now: now)) }
    if !needsRestart.isEmpty { found.append(.restart(needsRestart)) }
    for (place, counts) in Self.sorted(refusedWebhooks) {
      let accepted = acceptedWebhooks[place] ?? 0
      found +=
        Finding.webhooks(
          of: place.app, [place.processor: counts], accepted: accepted, Self.time
        ) { webhooks(AppProcessor(place.app, $0)) }.map { [$0] } ?? []
    }
    for (app, counts) in refusedContexts.sorted(by: { $0.key < $1.key }) {
      let accepted = storedContexts[app] ?? 0
      found += Finding.contexts(of: app, counts, accepted: accepted, Self.time).map { [$0] } ?? []
    }
    for (place, counts) in Self.sorted(processorTroubles) {
      let troubles = ProcessorTroubles(counts)
      found += Finding.calls(
        troubles, at: place, limit: AlertCondition.processorFailuresDefault, Self.time,
        advice: processors(place))
      found +=
        Finding.callbacks(
          troubles.unreported, at: place, Self.time, label: webhooks(place)?.label
        ).map { [$0] } ?? []
    }
    for app in Set(associations.flatMap(\.apps)).sorted() {
      found += Finding.associations(associations, app: app, now: now).map { [$0] } ?? []
    }
    return found + contacts.compactMap { Finding.failingAlone($0.contact, at: $0.place) }
  }

  private static func sorted<Value>(
    _ counts: [AppProcessor: Value]
  ) -> [(key: AppProcessor, value: Value)] {
    counts.sorted { ($0.key.app, $0.key.processor) < ($1.key.app, $1.key.processor) }
  }

  /// Whether receiptd is ready, its disk, its configuration, and its proxy, if it has one. The reasons why it
  /// is not are findings.
  /// - Parameter daemon: the holder of the database's lock; nil if the reader is that process, and for a
  ///   database without a lock.
  public func headlines(daemon: LockHolder?, now: Timestamp) -> [Finding] {
    let about = [daemon?.place, "started \(startedAt.past(to: now))"]
      .compactMap { $0 }.joined(separator: ", ")
    let disk = freeBytes.map { "; \(Self.size($0)) free on the database's disk" } ?? ""
    let configuration = "configuration \(generation), applied \(configuredAt.past(to: now))"
    let state =
      isReady ? "is ready" : "is NOT READY: \(reasons.map(\.text).joined(separator: "; "))"
    let head = Finding(
      isReady ? .ok : .failure, .receiptd, "receiptd \(state) (\(about))\(disk); \(configuration)")
    let way = proxy.map { Finding(.ok, .destination, "receiptd connects through the proxy \($0)") }
    return [head] + (way.map { [$0] } ?? [])
  }

  /// `12.3 GiB`, `870 MiB`.
  public static func size(_ bytes: Int64) -> String {
    let mebibytes = max(0, bytes) / (1 << 20)
    guard mebibytes >= 1024 else { return "\(mebibytes) MiB" }
    let tenths = mebibytes * 10 / 1024
    return "\(tenths / 10).\(tenths % 10) GiB"
  }
}
