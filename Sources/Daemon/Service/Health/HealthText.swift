// A health report as text: the same lines in receiptctl and on the dashboard. Pure; called from any thread.

internal import Config
public import Domain
public import Platform
public import Reports

/// One line about the relay's health.
public struct HealthLine: Sendable, Equatable {
  public var text: String
  /// Whether something is wrong.
  public var isBad: Bool

  public init(_ text: String, isBad: Bool) { (self.text, self.isBad) = (text, isBad) }
}

extension DestinationContact {
  /// That receipts fail which are not the destination's fault; nil without such receipts.
  public func failingAloneText(_ place: AppDestination) -> String? {
    guard failingAlone > 0 else { return nil }
    let (verb, are) = failingAlone == 1 ? ("fails", "is") : ("fail", "are")
    return
      "\(CountText.of(failingAlone, "receipt")) of \(place.app) to \(place.destination) \(verb) while others "
      + "pass, and \(are) retried separately."
  }

  public static func failingAloneCommand(_ place: AppDestination) -> String {
    "receiptctl receipts list --state pending --app \(place.app)"
  }
}

extension HealthReport {
  /// The lines of the report; the first says whether receiptd is ready.
  /// - Parameters:
  ///   - daemon: the holder of the database's lock; nil if the reader is that process, and for a database
  ///     without a lock.
  ///   - webhooks: what to do when a processor's webhooks are refused; nil if it is not configured.
  ///   - processors: what to do when a processor refuses the credentials; nil if it is not configured.
  public func lines(
    daemon: LockHolder?, now: Timestamp, webhooks: (AppProcessor) -> WebhookAdvice? = { _ in nil },
    processors: (AppProcessor) -> ProcessorAdvice? = { _ in nil }
  ) -> [HealthLine] {
    let about = [daemon?.place, "started \(startedAt.past(to: now))"]
      .compactMap { $0 }.joined(separator: ", ")
    let disk = freeBytes.map { "; \(Self.size($0)) free on the database's disk" } ?? ""
    let configuration = "configuration \(generation), applied \(configuredAt.past(to: now))"
    let state =
      isReady ? "is ready" : "is NOT READY: \(reasons.map(\.text).joined(separator: "; "))"
    var lines = [HealthLine("receiptd \(state) (\(about))\(disk); \(configuration).", isBad: !isReady)]
    for reason in reasons { lines.append(HealthLine("  \(reason.advice)", isBad: true)) }
    if let refusedReload {
      let faults = refusedReload.faults.joined(separator: "; ")
      lines.append(
        HealthLine(
          "The last reload was refused \(refusedReload.at.past(to: now)) (\(faults)); the previous "
            + "configuration is still used. Correct it, then run: receiptctl reload", isBad: true))
    }
    if !needsRestart.isEmpty {
      lines.append(
        HealthLine(
          "The configuration has changes that only a restart applies (\(needsRestart.joined(separator: ", "))"
            + "). Run: \(ReloadReport.restartCommand)", isBad: true))
    }
    lines += refusedInput(webhooks).map { HealthLine($0.line, isBad: true) }
    let troubled = processorTroubles.sorted {
      ($0.key.app, $0.key.processor) < ($1.key.app, $1.key.processor)
    }
    for (place, counts) in troubled {
      lines += Self.troubles(of: place, ProcessorTroubles(counts), processors(place))
    }
    if let proxy { lines.append(HealthLine("receiptd connects through the proxy \(proxy).", isBad: false)) }
    for (place, contact) in contacts {
      if let text = contact.failingAloneText(place) {
        lines.append(HealthLine("\(text) See: \(DestinationContact.failingAloneCommand(place))", isBad: true))
      }
    }
    return lines
  }

  private static func troubles(
    of place: AppProcessor, _ troubles: ProcessorTroubles, _ advice: ProcessorAdvice?
  ) -> [HealthLine] {
    var lines: [HealthLine] = []
    if troubles.refused > 0 {
      let remedy =
        advice?.correction(of: place.app)
        ?? "apps.\(place.app).\(place.processor) is not in the configuration"
      lines.append(
        HealthLine(
          "\(place.processor) refused \(CountText.of(troubles.refused, "call")) of \(place.app) in the last "
            + "hour. \(remedy)", isBad: true))
    }
    if troubles.failed > 0 {
      lines.append(
        HealthLine(
          "\(CountText.of(troubles.failed, "call")) of \(place.app) to \(place.processor) failed in the last "
            + "hour (\(troubles.reasons)); lookups and captures are repeated automatically",
          isBad: troubles.failed > AlertCondition.processorFailuresDefault))
    }
    if troubles.unreported > 0 {
      lines.append(
        HealthLine(
          "\(CountText.of(troubles.unreported, "payment")) of \(place.app) "
            + "\(troubles.unreported == 1 ? "was" : "were") found paid in the last hour by a fetch, without "
            + "a callback of \(place.processor)", isBad: true))
    }
    return lines
  }

  /// The webhooks and the contexts that were refused.
  /// - Parameter advice: what to do when a processor's webhooks are refused; nil if it is not configured.
  public func refusedInput(_ advice: (AppProcessor) -> WebhookAdvice?) -> [LostInput] {
    let webhooks = refusedWebhooks.sorted {
      ($0.key.app, $0.key.processor) < ($1.key.app, $1.key.processor)
    }.compactMap { place, counts in
      LostInput.webhooks(
        of: place.app, [place.processor: counts], accepted: acceptedWebhooks[place] ?? 0, "in the last hour"
      ) { advice(AppProcessor(place.app, $0)) }
    }
    return webhooks
      + refusedContexts.sorted { $0.key < $1.key }.compactMap { app, counts in
        LostInput.contexts(of: app, counts, accepted: storedContexts[app] ?? 0, "in the last hour")
      }
  }

  /// `12.3 GiB`, `870 MiB`.
  public static func size(_ bytes: Int64) -> String {
    let mebibytes = max(0, bytes) / (1 << 20)
    guard mebibytes >= 1024 else { return "\(mebibytes) MiB" }
    let tenths = mebibytes * 10 / 1024
    return "\(tenths / 10).\(tenths % 10) GiB"
  }
}
