// The relay's own health, which status and alerts show first: from the lock, receiptd's last report and the
// disk. One thread.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Service
internal import Store
internal import Terminal

struct ServiceHealth {
  /// Whether a receiptd serves the database.
  let isRunning: Bool
  /// The receiptd that serves a database file; nil when none does, and for a server.
  let daemon: LockHolder?
  /// Its last report; nil when there is none, or when no receiptd runs.
  let report: HealthReport?
  /// The time of the last report, whether receiptd runs or not.
  let lastReport: Timestamp?
  /// Free bytes on the disk of a database file.
  let freeBytes: Int64?
  /// What the database shows.
  let stored: StoredFindings
  let now: Timestamp
  private let configuration: Configuration

  init(_ reader: StoreReader, _ configuration: Configuration, _ session: Session) throws(StoreFault) {
    self.configuration = configuration
    now = session.now
    daemon = session.daemon(configuration)
    isRunning = try session.isServed(configuration, reader)
    stored = StoredFindings(configuration.apps, reader, now: now)
    freeBytes = configuration.database.filePath.flatMap { DiskSpace.availableBytes(at: $0) }
    let last = try reader.serviceReport(.health)
    lastReport = last?.at
    guard isRunning, let last, var report = HealthReport(stored: last.content) else {
      self.report = nil
      return
    }
    // The report may be a minute old, and a full disk cannot store one: receiptd itself knows better.
    report.freeBytes = freeBytes ?? report.freeBytes
    if let current = session.dependencies.readiness(configuration.admin) { report.reasons = current.reasons }
    self.report = report
  }

  /// Whether the last report is too old for a working receiptd.
  var isSilent: Bool {
    guard let lastReport else { return false }
    return now.duration(since: lastReport) > HealthReport.staleAfter
  }

  /// What receiptd has reported, and the unreadable events.
  var findings: [Finding] { Finding.current(report, stored, configuration, now: now) }

  var lines: [String] { (state + findings).map(\.line) }

  /// What is wrong, the most urgent first.
  var problems: [Finding] {
    // The reasons why receiptd is not ready are findings; the first line only sums them up.
    let isSummed = report?.isReady == false && !isSilent
    let own = isSummed ? [] : Array(state.prefix(1))
    return Finding.byUrgency((own + findings).filter { $0.level != .ok }, now: now)
  }

  /// Whether a receiptd runs, and is ready.
  private var state: [Finding] {
    let disk = freeBytes.map { " \(HealthReport.size($0)) free on the database's disk." } ?? ""
    let place = daemon.map { " (\($0.place))" } ?? ""
    guard isRunning else {
      guard configuration.database.filePath != nil else { return [noInstance] }
      let last = lastReport.map { " It last reported \($0.past(to: now))." } ?? ""
      return [
        Finding(
          .failure, .receiptd, "receiptd is not running", .down,
          "receiptd is NOT RUNNING: nothing is accepted and nothing is delivered",
          next: "Start it with: systemctl start receiptd.\(last)\(disk)", since: lastReport)
      ]
    }
    guard let report else {
      return [Finding(line: .ok, .receiptd, "receiptd runs\(place) and has not reported yet.\(disk)")]
    }
    let headlines = report.headlines(daemon: daemon, now: now)
    guard isSilent, let lastReport else { return headlines }
    let silent = Finding(
      .failure, .receiptd, "receiptd no longer reports", .down,
      "receiptd\(place) last reported \(lastReport.past(to: now)): it is stuck, or cannot write to the "
        + "database",
      next: "See its log and the disk. Its last report:", since: lastReport)
    return [silent] + headlines
  }

  /// No instance reports to the database of a server.
  private var noInstance: Finding {
    let last = lastReport.map { "; the last report came \($0.past(to: now))" } ?? ""
    return Finding(
      .failure, .receiptd, "No receiptd reports", .down,
      "NO receiptd reports to this database\(last): none runs, or none reaches it, so nothing is accepted "
        + "and nothing is delivered",
      next: "On the machine of each: systemctl start receiptd; its log says what is wrong.",
      since: lastReport)
  }

  /// Whether a receiptd runs and is ready.
  var isWell: Bool { report?.isReady == true && !isSilent }

  var json: JSONValue { json(problems) }

  /// The objects `service` and `findings` of `--json`, in one.
  func json(_ problems: [Finding]) -> JSONValue {
    .object(
      HealthReport.status(
        report, isRunning: isRunning, process: daemon?.process.map(Int64.init), isReady: isWell,
        freeBytes: freeBytes, stored.unread, problems))
  }

  func show(_ session: Session) {
    if session.isJSON { return session.output.json(json) }
    for line in lines { session.output.line(DisplayText.clean(line)) }
  }
}
