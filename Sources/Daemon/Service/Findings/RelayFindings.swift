// The relay itself: its readiness, configuration, disk, database, backups, certificates and clock. Pure;
// called from any thread.

public import Config
public import Domain
internal import Formats
public import Platform
public import Reports
public import Store

extension HealthReport {
  func relayFindings(now: Timestamp) -> [Finding] {
    reasons.map(Finding.unready) + (refusedReload.map { [.reload($0, now: now)] } ?? [])
      + (needsRestart.isEmpty ? [] : [.restart(needsRestart)])
      + (backup.map { Finding.scheduled($0, now: now) } ?? [])
      + (fileSystem.map { [Finding.remote(fileSystem: $0)] } ?? [])
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
      line: isReady ? .ok : .failure, .receiptd, "receiptd \(state) (\(about))\(disk); \(configuration)")
    let way = proxy.map { Finding(line: .ok, .destination, "receiptd connects through the proxy \($0)") }
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

extension Finding {
  /// A reason why receiptd is not ready.
  static func unready(_ reason: HealthReport.Reason) -> Finding {
    Finding(.failure, .receiptd, "receiptd is not ready", .down, reason.text, next: reason.advice)
  }

  /// A reload that was refused, if none was applied since.
  public static func reload(_ refused: HealthReport.RefusedReload, now: Timestamp) -> Finding {
    let commands = ["receiptctl config check", "receiptctl reload"]
    return Finding(
      .failure, .applied, "The last reload was refused", .impaired,
      "the last reload was refused \(refused.at.past(to: now)), so the previous configuration is still used: "
        + refused.faults.joined(separator: "; "),
      next: "Correct the file until this finds no fault: \(commands[0]). Then run: \(commands[1])",
      since: refused.at, alert: .reloadRefused, value: seconds(from: refused.at, to: now),
      commands: commands)
  }

  /// Changed keys that only a restart applies.
  static func restart(_ keys: [String]) -> Finding {
    Finding(
      .warning, .applied, "The configuration waits for a restart", .soon,
      "the configuration has changes that only a restart applies (\(keys.joined(separator: ", ")))",
      next: "Run: \(ReloadReport.restartCommand)", commands: [ReloadReport.restartCommand])
  }

  /// - Parameter free: nil if it is not known, as of a server's disk.
  public static func disk(free: Int64?, limit: Int, isFull: Bool, now: Timestamp) -> Finding {
    // A full disk may have space that a quota, or a need for more, keeps from being used.
    let left = free.map { "\(HealthReport.size($0)) left" } ?? "little space left"
    return Finding(
      .failure, .disk, isFull ? "The disk is full" : "The disk is nearly full", .down,
      isFull
        ? "the database's disk is full: contexts and events are refused with 503, and deliveries continue"
        : "the database's disk has \(left); when it is full, contexts and events are refused",
      next: ReadinessReason.diskFull.advice,
      since: now, alert: .diskLow(underBytes: limit), value: Double(free ?? 0))
  }

  /// The findings about the database itself: they are known without reading it, also while a damaged table
  /// cannot be read.
  public static func database(
    _ reasons: [ReadinessReason], unreadable: [AppSlug], now: Timestamp
  ) -> [Finding] {
    [
      database(reasons, now: now),
      corruption(isDatabaseDamaged: reasons.contains(.databaseDamaged), unreadable: unreadable, now: now),
    ].compactMap(\.self)
  }

  /// - Returns: nil if there is no reason.
  public static func database(_ reasons: [ReadinessReason], now: Timestamp) -> Finding? {
    guard !reasons.isEmpty else { return nil }
    return Finding(
      .failure, .database, "The database cannot be used", .down, reasons.map(\.text).joined(separator: "; "),
      next: reasons.map(\.advice).joined(separator: " "), since: now, alert: .database,
      value: Double(reasons.count))
  }

  /// - Returns: nil if nothing is damaged.
  public static func corruption(isDatabaseDamaged: Bool, unreadable: [AppSlug], now: Timestamp) -> Finding? {
    var parts: [String] = isDatabaseDamaged ? [ReadinessReason.databaseDamaged.text] : []
    if !unreadable.isEmpty {
      let apps = unreadable.map(\.text).joined(separator: ", ")
      parts.append("receipts of \(apps) cannot be read, so they are not delivered")
    }
    guard !parts.isEmpty else { return nil }
    let command = "receiptctl db check"
    return Finding(
      .failure, .database, "The database is damaged", .down, parts.joined(separator: "; "),
      next: "To see the damage and what to do: \(command)", since: now, alert: .corruption,
      value: Double(parts.count), commands: [command])
  }

  /// - Parameter report: about the last backup; nil if none was recorded.
  /// - Returns: nil if it is younger than the limit.
  public static func backup(_ report: ServiceReport?, limit: Duration, now: Timestamp) -> Finding? {
    let age = report.map { now.duration(since: $0.at) }
    if let age, age <= limit { return nil }
    let file = report.flatMap { try? JSONValue(parsing: Array($0.content.utf8)) }?["file"]?.stringValue
    let commands = ["receiptctl db backup FILE", "receiptctl db backup --record NAME"]
    return Finding(
      .failure, .backup, age == nil ? "No backup was recorded" : "The last backup is old", .soon,
      age.map { age in
        let name = file.map { ", \($0)," } ?? ""
        return "the last backup of the database\(name) is \(words(seconds: age.inSeconds)) old"
      } ?? "no backup of the database was recorded",
      next: "See why the nightly backup did not run. To make one: \(commands[0]). To record one that another "
        + "program made, such as pg_dump: \(commands[1])",
      since: report?.at.advanced(by: limit) ?? now, alert: .backupOld(over: limit),
      value: age?.inSeconds ?? 0,
      commands: commands)
  }

  /// The database file is on a network file system.
  public static func remote(fileSystem: String) -> Finding {
    let command = "receiptctl db copy --to env:DATABASE_URL"
    return Finding(
      .warning, .database, "The database is on a network file system", .soon,
      "the database file is on a network file system (\(fileSystem)): its locks and syncs cannot be relied "
        + "on, so the file can be damaged",
      next: "Move it to a local disk while receiptd is stopped, or to PostgreSQL: \(command)",
      commands: [command])
  }

  /// What is wrong with the scheduled backups.
  /// - Parameter alert: of the alert that reports it.
  public static func scheduled(
    _ backup: HealthReport.Backup, alert: AlertCondition? = nil, now: Timestamp
  ) -> [Finding] {
    let command = "receiptctl db backup FILE"
    let last = backup.lastAt.map { "the last one was made \($0.past(to: now))" } ?? "there is no copy yet"
    let pause = RelativeTime.span(
      seconds: UInt64(clamping: HealthReport.Backup.retryPause(every: backup.every).components.seconds))
    let age = now.duration(since: backup.lastAt ?? backup.since)
    var found: [Finding] = []
    if let fault = backup.fault {
      found.append(
        Finding(
          .failure, .backup, "The scheduled backup fails", .soon,
          "the scheduled backup fails: \(fault.reason); \(last)",
          next: "receiptd tries again every \(pause), and after: receiptctl reload. To make a copy "
            + "elsewhere: \(command)",
          since: fault.since, alert: alert, value: age.inSeconds, commands: [command]))
    } else if age > backup.every * 2 {
      found.append(
        Finding(
          .failure, .backup, "The scheduled backup is late", .soon,
          "the scheduled backup is late: \(last)",
          next: "See receiptd's log, and whether the folder's disk is slow. To make a copy: \(command)",
          since: now - age + backup.every * 2, alert: alert, value: age.inSeconds, commands: [command]))
    }
    if let fault = backup.programFault {
      found.append(
        Finding(
          .failure, .backup, "The program after the backup fails", .soon,
          "the program of backup.then fails: \(fault.reason)",
          next: "The copy is only in its folder. Correct the program, and run it with the copy's path; the "
            + "next backup runs it again",
          since: fault.since, alert: alert))
    }
    return found
  }

  /// - Parameters:
  ///   - expiresAt: of the certificate that the listener uses; nil if it has none.
  ///   - file: when the certificate in its file expires.
  /// - Returns: nil if it expires later than the limit says.
  public static func listenerCertificate(
    _ expiresAt: Timestamp?, file: Timestamp?, limit: Duration, now: Timestamp
  ) -> Finding? {
    guard let expiresAt, expiresAt.duration(since: now) < limit else { return nil }
    let reload = "receiptctl reload"
    let isRenewed = file.map { $0 > expiresAt } ?? false
    return Finding(
      .warning, .certificate, certificateTitle, .soon,
      "the certificate of the public listener \(ends(expiresAt, now))",
      next: isRenewed
        ? "The file of listen.tls.certificate has a newer one, which is used after: \(reload)"
        : "Renew the certificate in the file of listen.tls.certificate, then run: \(reload)",
      since: expiresAt - limit, alert: .certificateExpires(within: limit),
      value: expiresAt.duration(since: now).inSeconds, commands: [reload])
  }

  /// - Parameter certificates: those of all places.
  /// - Returns: nil if those of all destinations of the app expire later than the limit says.
  public static func certificates(
    _ certificates: [KnownCertificates.Place: Timestamp], limit: Duration, app: AppSlug, now: Timestamp
  ) -> Finding? {
    let own = certificates.compactMap { place, expiresAt -> (name: String, expiresAt: Timestamp)? in
      guard case .destination(let destination) = place, destination.app == app,
        expiresAt.duration(since: now) < limit
      else { return nil }
      return (destination.destination.text, expiresAt)
    }.sorted { ($0.expiresAt, $0.name) < ($1.expiresAt, $1.name) }
    guard let first = own.first else { return nil }
    return Finding(
      .warning, .destination, certificateTitle, .soon,
      own.map { "the certificate of \($0.name), a destination of \(app), \(ends($0.expiresAt, now))" }
        .joined(separator: "; "),
      next: "Have it renewed by those who run that server. Until then nothing is lost: when it has expired, "
        + "receipts wait. To watch: receiptctl status",
      app: app, since: first.expiresAt - limit, alert: .certificateExpires(within: limit),
      value: first.expiresAt.duration(since: now).inSeconds, commands: ["receiptctl status"])
  }

  private static let certificateTitle = "A certificate expires soon"

  private static func ends(_ expiresAt: Timestamp, _ now: Timestamp) -> String {
    expiresAt > now
      ? "expires in \(words(seconds: seconds(from: now, to: expiresAt)))"
      : "expired \(words(seconds: seconds(from: expiresAt, to: now))) ago"
  }

  /// - Parameter ahead: negative if the clock is slow.
  /// - Returns: nil if it is right enough.
  public static func clock(ahead: Duration, limit: Duration, now: Timestamp) -> Finding? {
    guard abs(ahead.inSeconds) > limit.inSeconds else { return nil }
    let command = "timedatectl set-ntp true"
    return Finding(
      .failure, .clock, "The clock of this machine is wrong", .impaired,
      "this machine's clock is \(words(seconds: abs(ahead.inSeconds))) "
        + "\(ahead > .zero ? "ahead of" : "behind") those of the destinations",
      next: "Set it by NTP: \(command). Webhooks are refused when the clock differs by more than their "
        + "signatures may be old",
      since: now, alert: .clock(over: limit), value: ahead.inSeconds, commands: [command])
  }
}
