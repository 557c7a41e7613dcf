// The troubles of configuration, backups and stored data. Pure; called from any thread.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Service
internal import Store

extension Trouble {
  static func reload(_ refused: HealthReport.RefusedReload, now: Timestamp) -> Trouble {
    let commands = ["receiptctl config check", "receiptctl reload"]
    return Trouble(
      key: Key(condition: .reloadRefused, app: nil), since: refused.at,
      value: seconds(from: refused.at, to: now),
      summary: "the last reload of the configuration was refused, so the configuration before is in use: "
        + refused.faults.joined(separator: "; "),
      advice: "Correct the file until this finds no fault: \(commands[0]). Then run: \(commands[1])",
      commands: commands)
  }

  /// - Parameter report: about the last backup; nil if none was recorded.
  /// - Returns: nil if it is younger than the limit.
  static func backup(_ report: ServiceReport?, limit: Duration, now: Timestamp) -> Trouble? {
    let age = report.map { now.duration(since: $0.at) }
    if let age, age <= limit { return nil }
    let file = report.flatMap { try? JSONValue(parsing: Array($0.content.utf8)) }?["file"]?.stringValue
    let commands = ["receiptctl db backup FILE", "receiptctl db backup --record NAME"]
    return Trouble(
      key: Key(condition: .backupOld(over: limit), app: nil), since: report?.at.advanced(by: limit) ?? now,
      value: age?.inSeconds ?? 0,
      summary: age.map { age in
        let name = file.map { ", \($0)," } ?? ""
        return "the last backup of the database\(name) is \(words(seconds: age.inSeconds)) old"
      } ?? "no backup of the database was recorded",
      advice:
        "See why the nightly backup did not run. To make one: \(commands[0]). To record one that another "
        + "program made, such as pg_dump: \(commands[1])",
      commands: commands)
  }

  /// - Parameter count: the receipts that are ready and not delivered now.
  static func backlog(_ count: Int64, limit: Int, app: AppSlug, now: Timestamp) -> Trouble {
    Trouble(
      key: Key(condition: .backlogGrowing(over: limit), app: app), since: now - BacklogTrend.span,
      value: Double(count),
      summary:
        "\(CountText.of(count, "receipt")) of \(app) are ready and not delivered, and they have become "
        + "more for \(words(seconds: BacklogTrend.span.inSeconds))",
      advice: "See whether the destination is down or slow, with: receiptctl stats. If it is slow, raise "
        + "apps.\(app).delivery.concurrency, then run: receiptctl reload. Nothing is lost",
      commands: ["receiptctl stats"])
  }

  /// - Parameter since: when the last event came.
  static func silence(since: Timestamp, limit: Duration, app: AppConfiguration, now: Timestamp) -> Trouble {
    let age = seconds(from: since, to: now)
    let processors = app.places.map(\.processor)
    let labels = processors.compactMap { app.webhookAdvice[$0]?.label }
    let names = labels.isEmpty ? "the processor" : labels.joined(separator: " or ")
    // Without a list of events, each payment is fetched when its callback is late.
    let backfill =
      app.listsEvents ? "receiptctl events backfill --app \(app.slug) --since \(since.rfc3339)" : nil
    return Trouble(
      key: Key(condition: .noEvents(over: limit), app: app.slug), since: since.advanced(by: limit),
      value: age,
      summary: "\(app.slug) has had no event for \(words(seconds: age)), at a time at which events are usual",
      advice: "See whether webhooks are refused, with: receiptctl stats. If none is, see in the dashboard of "
        + "\(names) whether the endpoint is enabled and how its last calls ended, and that the relay's "
        + "public address leads to receiptd" + (backfill.map { ". Then fetch what was missed: \($0)" } ?? ""),
      commands: ["receiptctl stats"] + (backfill.map { [$0] } ?? []), processors: processors)
  }

  /// - Parameter tally: the last hours; nil if the contexts join.
  static func unjoined(_ tally: JoinTally?, app: AppSlug, now: Timestamp) -> Trouble? {
    guard let tally else { return nil }
    let commands = JoinText.commands(app: app.text)
    return Trouble(
      key: Key(condition: .contextsUnjoined, app: app), since: now - .hours(JoinHealth.recentHours),
      value: Double(tally[.none]),
      summary: "contexts of \(app) no longer join: \(JoinText.broken(tally))",
      advice:
        "See since which day, with: \(commands[0]). Then compare the user of such a receipt with those of "
        + "the contexts, with: \(commands[1]), and receiptctl receipts show RECEIPT. Usually a release of "
        + "the app posts other user ids than its checkouts have",
      commands: commands)
  }

  /// The troubles of the database itself: they are known without reading it, also while a damaged table
  /// cannot be read.
  static func ofDatabase(_ reasons: [ReadinessReason], unreadable: [AppSlug], now: Timestamp) -> [Trouble] {
    [
      .database(reasons, now: now),
      .corruption(
        isDatabaseDamaged: reasons.contains(.databaseDamaged), unreadable: unreadable, now: now),
    ].compactMap(\.self)
  }

  /// - Returns: nil if nothing is damaged.
  static func corruption(isDatabaseDamaged: Bool, unreadable: [AppSlug], now: Timestamp) -> Trouble? {
    var parts: [String] = isDatabaseDamaged ? [ReadinessReason.databaseDamaged.text] : []
    if !unreadable.isEmpty {
      let apps = unreadable.map(\.text).joined(separator: ", ")
      parts.append("receipts of \(apps) cannot be read, so they are not delivered")
    }
    guard !parts.isEmpty else { return nil }
    let command = "receiptctl db check"
    return Trouble(
      key: Key(condition: .corruption, app: nil), since: now, value: Double(parts.count),
      summary: parts.joined(separator: "; "),
      advice: "To see the damage and what to do: \(command)", commands: [command])
  }
}
