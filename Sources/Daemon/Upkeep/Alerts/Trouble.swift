// A trouble that exists now: its subject, its severity, and what an operator does about it. Values. Nothing
// here names a user, an object or a secret (R7).

internal import Config
internal import Cryptography
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Service
internal import Store

/// One condition that holds, for one app or for the whole relay.
struct Trouble: Sendable, Equatable {
  /// Identifies a trouble.
  struct Key: Hashable, Sendable {
    var condition: AlertCondition
    var app: AppSlug?
  }

  var key: Key
  /// Since when, as far as known.
  var since: Timestamp
  /// The severity in seconds, bytes or a count, depending on the condition.
  var value: Double
  /// One sentence without its full stop.
  var summary: String
  /// What to do: a sentence with a command in it.
  var advice: String
  /// The receipts that are failed now, by reason.
  var reasons: [String: Int64] = [:]
  /// The commands of the advice, ready to paste into a shell.
  var commands: [String] = []
  /// The payment processors that it is about; empty if it is not about one.
  var processors: [ProcessorName] = []
}

extension Trouble {
  /// - Parameters:
  ///   - breakers: of an app, in the order in which an operator should know of them.
  ///   - advice: how to correct the configuration of a destination; nil if it is not configured.
  /// - Returns: nil if deliveries to no destination are stopped.
  static func breakers(
    _ breakers: [(destination: DestinationName, breaker: Breaker)], app: AppSlug, now: Timestamp,
    advice: (DestinationName) -> DestinationAdvice?
  ) -> Trouble? {
    let stopped = breakers.filter { $0.breaker.state != .closed }
    guard let first = stopped.first else { return nil }
    let since = stopped.compactMap(\.breaker.since).min() ?? now
    let summaries = stopped.map { destination, breaker in
      let cause =
        breaker.cause.map { cause in
          " (\(cause.text)\(breaker.detail.map { ": \($0)" } ?? ""))"
        } ?? ""
      return breaker.state == .paused
        ? "\(destination) refuses the configuration of \(app)\(cause); deliveries to it are stopped"
        : "\(destination), a destination of \(app), is down\(cause); deliveries to it wait"
    }
    let corrections = stopped.filter { $0.breaker.state == .paused }.map { destination, _ in
      advice(destination).map { "apps.\(app).\($0.correction)" } ?? "\(destination) of apps.\(app)"
    }
    return Trouble(
      key: Key(condition: .breakerOpen, app: app), since: since, value: Self.seconds(from: since, to: now),
      summary: summaries.joined(separator: "; "),
      advice: first.breaker.state == .paused
        ? "Correct \(corrections.joined(separator: "; correct ")). Nothing is given up."
        : "Nothing, if it recovers: deliveries resume automatically. To watch: receiptctl stats")
  }

  /// - Returns: nil if the deliveries are not paused.
  static func pause(_ pause: AppPause?, app: AppSlug, now: Timestamp) -> Trouble? {
    guard let text = PauseText(pause, app: app.text, now: now), let since = pause?.since else { return nil }
    return Trouble(
      key: Key(condition: .appPaused, app: app), since: since, value: Self.seconds(from: since, to: now),
      summary: "deliveries of \(app) \(text.sentence.dropLast())", advice: text.advice,
      commands: [text.command])
  }

  static func oldest(readyAt: Timestamp, limit: Duration, app: AppSlug, now: Timestamp) -> Trouble {
    let seconds = Self.seconds(from: readyAt, to: now)
    return Trouble(
      key: Key(condition: .oldestPending(over: limit), app: app),
      since: readyAt.advanced(by: limit), value: seconds,
      summary: "a receipt of \(app) has been ready for \(words(seconds: seconds)) and is not delivered",
      advice: "receiptctl receipts list --state pending --app \(app), and receiptctl stats for the breaker")
  }

  /// Receipts of a removed app make no progress, however young they are.
  static func stranded(_ app: UnconfiguredApp, _ condition: AlertCondition, now: Timestamp) -> Trouble {
    Trouble(
      key: Key(condition: condition, app: app.slug), since: now, value: Double(app.waiting + app.pending),
      summary: "the app \(app.slug) \(app.sentence)", advice: app.advice)
  }

  /// - Parameter free: nil if it is not known, as of a server's disk.
  static func disk(free: Int64?, limit: Int, isFull: Bool, now: Timestamp) -> Trouble {
    let left = free.map { "\(HealthReport.size($0)) left" }
    let details = left.map { " (\($0))" } ?? ""
    return Trouble(
      key: Key(condition: .diskLow(underBytes: limit), app: nil), since: now, value: Double(free ?? 0),
      summary: isFull
        ? "the database's disk is full\(details); contexts and events are refused"
        : "the database's disk has \(left ?? "little space left")",
      advice:
        "Free space on it, or shorten retention, then run: receiptctl reload. When it is full, contexts and "
        + "events are refused with 503; deliveries continue")
  }

  /// - Returns: nil if there is no reason.
  static func database(_ reasons: [ReadinessReason], now: Timestamp) -> Trouble? {
    guard !reasons.isEmpty else { return nil }
    return Trouble(
      key: Key(condition: .database, app: nil), since: now, value: Double(reasons.count),
      summary: reasons.map(\.text).joined(separator: "; "),
      advice: reasons.map(\.advice).joined(separator: " "))
  }

  /// - Parameter advice: what to do for each configured processor of the app.
  static func signatures(
    _ growth: [LabelValues: UInt64], limit: Int, app: AppSlug, window: Duration, now: Timestamp,
    advice: [ProcessorName: WebhookAdvice]
  ) -> Trouble {
    let refusals = Metrics.refusals(growth).reduce(into: [:]) { $0[$1.key.processor] = $1.value }
    let lost = LostInput.webhooks(of: app, refusals, accepted: nil, within(window)) { advice[$0] }
    let processors = refusals.keys.sorted()
    let labels = processors.compactMap { advice[$0]?.label }
    return Trouble(
      key: Key(condition: .signatureFailures(over: limit), app: app), since: now,
      value: Double(lost?.count ?? 0), summary: lost?.what ?? "",
      advice: "\(lost?.next.capitalizedFirst ?? ""). Requests that did not come from "
        + (labels.isEmpty ? "the processor" : labels.joined(separator: " or "))
        + " cause this, too",
      reasons: lost?.reasons ?? [:], processors: processors)
  }

  /// - Returns: nil up to the limit.
  static func clients(
    _ reasons: [String: Int64], limit: Int, app: AppSlug, window: Duration, now: Timestamp
  ) -> Trouble? {
    guard let lost = LostInput.contexts(of: app, reasons, accepted: nil, within(window)),
      lost.count > Int64(limit)
    else { return nil }
    return Trouble(
      key: Key(condition: .contextsRefused(over: limit), app: app), since: now, value: Double(lost.count),
      summary: lost.what,
      advice: "\(lost.next.capitalizedFirst). Requests that did not come from your apps cause this, too",
      reasons: lost.reasons)
  }

  /// - Returns: nil if every event could be read.
  static func unread(_ lost: LostInput?, now: Timestamp) -> Trouble? {
    lost.map { lost in
      Trouble(
        key: Key(condition: .eventsUnparsed, app: lost.app), since: lost.since ?? now,
        value: Double(lost.count), summary: lost.what, advice: lost.next.capitalizedFirst,
        reasons: lost.reasons)
    }
  }

  private static func within(_ window: Duration) -> String { "within \(words(seconds: window.inSeconds))" }

  static func seconds(from start: Timestamp, to end: Timestamp) -> Double {
    max(.zero, end.duration(since: start)).inSeconds
  }

  /// `45s`, `12m`, `5h`, `3d`: in the largest unit with a value of at least 2.
  static func words(seconds: Double) -> String {
    let seconds = Int64(exactly: max(0, seconds).rounded()) ?? .max
    for (unit, size) in [("d", Int64(86_400)), ("h", 3600), ("m", 60)] where seconds >= 2 * size {
      return "\(seconds / size)\(unit)"
    }
    return "\(seconds)s"
  }
}

// MARK: - Failures

// The trouble of failed receipts: which, why, and the commands that replay exactly those. Pure; called from
// any thread.

extension Trouble {
  /// The most commands in one notice, which must stay readable on a phone.
  static let commandsMax = 3
  /// - Parameters:
  ///   - recent: the receipts that failed within the window.
  ///   - standing: all receipts that are failed now.
  static func failures(
    _ count: Int64, app: AppSlug, now: Timestamp, recent: [FailureCount], standing: [FailureCount]
  ) -> Trouble {
    let text = words(standing)
    let commands = replays(of: recent, app: app)
    let list = "receiptctl receipts list --state failed --app \(app)"
    return Trouble(
      key: Key(condition: .receiptFailed, app: app), since: now, value: Double(count),
      summary: "\(CountText.of(count, "receipt")) of \(app) failed"
        + (text.isEmpty ? "" : " (failed now: \(text))"),
      advice: commands.isEmpty
        ? "See why: \(list)" : "Fix the cause, then: \(commands.joined(separator: "; then "))",
      reasons: standing.reduce(into: [:]) { $0[$1.reason, default: 0] += $1.count },
      commands: commands.isEmpty ? [list] : commands)
  }

  /// `gave_up 10 (timeout 8, http_503 2), http_422 1`: the most frequent first.
  private static func words(_ counts: [FailureCount]) -> String {
    Dictionary(grouping: counts, by: \.reason).map { reason, counts in
      let total = counts.reduce(0) { $0 + $1.count }
      let causes = counts.filter { !$0.cause.isEmpty && $0.cause != reason }
        .sorted { ($1.count, $0.cause) < ($0.count, $1.cause) }
        .map { "\($0.cause) \(CountText.grouped($0.count))" }
      let why = causes.isEmpty ? "" : " (\(causes.joined(separator: ", ")))"
      return (total, reason, "\(reason) \(CountText.grouped(total))\(why)")
    }.sorted { ($1.0, $0.1) < ($0.0, $1.1) }.map(\.2).joined(separator: ", ")
  }

  /// One command for each reason that permits a replay, the most frequent first. `since` is the creation time
  /// of the oldest of the receipts, which --since compares.
  static func replays(of recent: [FailureCount], app: AppSlug) -> [String] {
    Dictionary(grouping: recent, by: \.reason).compactMap { reason, counts -> (Int64, String, String)? in
      guard !Reason(reason).forbidsReplay, let since = counts.compactMap(\.madeSince).min() else {
        return nil
      }
      let command = SuggestedReplay.text(app: app, reason: reason, since: since)
      return (counts.reduce(0) { $0 + $1.count }, reason, command)
    }.sorted { ($1.0, $0.1) < ($0.0, $1.1) }.prefix(commandsMax).map(\.2)
  }
}

// MARK: - Certificates

// The troubles of certificates and of the clock. Pure, except for the reading of a certificate's file; called
// from any thread.

/// Reads the certificate of the public listener.
enum ListenerCertificate {
  /// When the certificate in a PEM file expires; nil if it cannot be read.
  static func expiry(_ path: String) -> Timestamp? {
    guard let content = try? FileReading.content(of: path, bytesMax: ConfigurationLimits.pemFileBytesMax),
      let certificate = try? Certificate(pem: content.bytes)
    else { return nil }
    return Timestamp(unixMilliseconds: certificate.expiresAt)
  }
}

extension Trouble {
  /// - Parameters:
  ///   - expiresAt: of the certificate that the listener uses; nil if it has none.
  ///   - file: when the certificate in its file expires.
  /// - Returns: nil if it expires later than the limit says.
  static func listenerCertificate(
    _ expiresAt: Timestamp?, file: Timestamp?, limit: Duration, now: Timestamp
  ) -> Trouble? {
    guard let expiresAt, expiresAt.duration(since: now) < limit else { return nil }
    let restart = "systemctl restart receiptd"
    let isRenewed = file.map { $0 > expiresAt } ?? false
    return Trouble(
      key: Key(condition: .certificateExpires(within: limit), app: nil), since: expiresAt - limit,
      value: expiresAt.duration(since: now).inSeconds,
      summary: "the certificate of the public listener \(ends(expiresAt, now))",
      advice: isRenewed
        ? "The file of listen.tls.certificate has a newer one, which is used after: \(restart)"
        : "Renew the certificate in the file of listen.tls.certificate, then run: \(restart)",
      commands: [restart])
  }

  /// - Parameter certificates: those of all places.
  /// - Returns: nil if those of all destinations of the app expire later than the limit says.
  static func certificates(
    _ certificates: [KnownCertificates.Place: Timestamp], limit: Duration, app: AppSlug, now: Timestamp
  ) -> Trouble? {
    let own = certificates.compactMap { place, expiresAt -> (name: String, expiresAt: Timestamp)? in
      guard case .destination(let destination) = place, destination.app == app,
        expiresAt.duration(since: now) < limit
      else { return nil }
      return (destination.destination.text, expiresAt)
    }.sorted { ($0.expiresAt, $0.name) < ($1.expiresAt, $1.name) }
    guard let first = own.first else { return nil }
    return Trouble(
      key: Key(condition: .certificateExpires(within: limit), app: app), since: first.expiresAt - limit,
      value: first.expiresAt.duration(since: now).inSeconds,
      summary: own.map {
        "the certificate of \($0.name), a destination of \(app), \(ends($0.expiresAt, now))"
      }
      .joined(separator: "; "),
      advice:
        "Have it renewed by those who run that server. Until then nothing is lost: when it has expired, "
        + "receipts wait. To watch: receiptctl stats",
      commands: ["receiptctl stats"])
  }

  private static func ends(_ expiresAt: Timestamp, _ now: Timestamp) -> String {
    expiresAt > now
      ? "expires in \(words(seconds: seconds(from: now, to: expiresAt)))"
      : "expired \(words(seconds: seconds(from: expiresAt, to: now))) ago"
  }

  /// - Parameter ahead: negative if the clock is slow.
  /// - Returns: nil if it is right enough.
  static func clock(ahead: Duration, limit: Duration, now: Timestamp) -> Trouble? {
    guard abs(ahead.inSeconds) > limit.inSeconds else { return nil }
    let command = "timedatectl set-ntp true"
    return Trouble(
      key: Key(condition: .clock(over: limit), app: nil), since: now, value: ahead.inSeconds,
      summary: "this machine's clock is \(words(seconds: abs(ahead.inSeconds))) "
        + "\(ahead > .zero ? "ahead of" : "behind") those of the destinations",
      advice: "Set it by NTP: \(command). Webhooks are refused when the clock differs by more than their "
        + "signatures may be old",
      commands: [command])
  }
}

// MARK: - Relay

// The troubles of configuration, backups and stored data. Pure; called from any thread.

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
