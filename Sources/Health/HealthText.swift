// A health report as text: the same lines in receiptctl and on the dashboard. Pure; called from any thread.

public import Domain
public import Platform
public import Presentation

/// One line about the relay's health.
public struct HealthLine: Sendable, Equatable {
  public var text: String
  /// Whether something is wrong.
  public var isBad: Bool

  public init(_ text: String, isBad: Bool) { (self.text, self.isBad) = (text, isBad) }
}

extension HealthReport {
  /// The lines of the report; the first says whether receiptd is ready.
  /// - Parameters:
  ///   - daemon: the holder of the database's lock; nil if the reader is that process.
  ///   - secrets: how a corrected webhook secret of an app takes effect; nil if unknown.
  public func lines(
    daemon: LockHolder?, now: Timestamp, secrets: (_ app: String) -> SecretRefresh? = { _ in nil }
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
    for (app, counts) in refusedWebhooks.sorted(by: { $0.key < $1.key }) {
      lines.append(Self.refusals(of: app, counts, secrets(app)))
    }
    return lines
  }

  private static func refusals(
    of app: String, _ counts: [String: Int64], _ secrets: SecretRefresh?
  ) -> HealthLine {
    let count = counts.values.reduce(0, +)
    let reasons = counts.sorted { $0.key < $1.key }
      .map { "\($0.key) \(CountText.grouped($0.value))" }.joined(separator: ", ")
    return HealthLine(
      "\(CountText.of(count, "webhook")) of \(app) refused for the signature in the last hour "
        + "(\(reasons)): compare apps.\(app).stripe.webhook_secrets with Stripe's dashboard, "
        + SecretRefresh.command(secrets, of: "webhook_secrets"), isBad: true)
  }

  /// `12.3 GiB`, `870 MiB`.
  public static func size(_ bytes: Int64) -> String {
    let mebibytes = max(0, bytes) / (1 << 20)
    guard mebibytes >= 1024 else { return "\(mebibytes) MiB" }
    let tenths = mebibytes * 10 / 1024
    return "\(tenths / 10).\(tenths % 10) GiB"
  }
}
