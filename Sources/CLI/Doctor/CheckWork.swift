// `receiptctl doctor`: what waits, and what stopped. One thread.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Service
internal import Store
internal import Terminal

enum WorkCheck: DoctorCheck {
  static let subject = Finding.Check.work
  private static let waitGood: Duration = .minutes(1)
  private static let failuresWithin: Duration = .days(1)

  static func findings(_ scene: DoctorScene) throws -> [Finding] {
    guard let reader = scene.reader else { return [] }
    let stats = try scene.session.stats(reader, scene.configuration, only: scene.only)
    let since = scene.now - failuresWithin
    let recent = try reader.recentFailures(since: since)
    let open = OpenFailures(try reader.failureGroups())
    let standing = try reader.failedNow()
    var findings: [Finding] = []
    for app in stats {
      findings += stoppages(of: app, scene.configuration)
      let oldest = app.unconfigured == nil ? app.oldestPending : nil
      if let oldest, scene.now.duration(since: oldest) > waitGood {
        findings.append(.oldest(readyAt: oldest, limit: waitGood, app: app.slug, now: scene.now))
      }
      if let failures = Finding.failures(
        open.among(recent[app.slug] ?? [], app: app.slug), standing: standing[app.slug] ?? [],
        app: app.slug, now: scene.now)
      {
        findings.append(failures)
      }
      findings += app.unfinished.filter(\.isBad).map { warning($0.sentence, next: UnfinishedText.command) }
    }
    findings += try pausedJobs(reader) + reader.sharedPayers().map(shared)
    return findings.isEmpty
      ? [ok("nothing that is ready waits longer than a minute, and no failure of the last 24 h is open")]
      : findings
  }

  /// Without a receiptd nothing is delivered anyway, which the receiptd check says.
  private static func stoppages(of app: AppStats, _ configuration: Configuration) -> [Finding] {
    let isFailure = app.unconfigured != nil || app.breakers.contains { $0.breaker.state == .paused }
    return app.stoppages(configuration).map { stoppage in
      let next = "\(stoppage.advice.trimmed). To watch: receiptctl status --app \(app.slug)"
      return isFailure ? failure(stoppage.what, next: next) : warning(stoppage.what, next: next)
    }
  }

  private static func shared(_ payer: SharedPayer) -> Finding {
    let users = payer.users.map { DisplayText.clean($0.text) }.joined(separator: ", ")
    return warning(
      "payer \(DisplayText.clean(payer.customer.text)) of \(payer.processor) belongs to several users "
        + "(\(users)), so none of them gets its stored cards",
      next: "Name another payer for each of them, and delete the stored cards at the processor: "
        + "\(DisplayText.clean(payer.account.text))")
  }

  private static func pausedJobs(_ reader: StoreReader) throws -> [Finding] {
    var filter = JobFilter()
    filter.state = .paused
    let paused = try reader.jobs(filter, limit: 100)
    guard !paused.isEmpty else { return [] }
    return [
      warning(
        "\(CountText.of(paused.count, "job")) \(paused.count == 1 ? "is" : "are") paused",
        next: "receiptctl jobs list --state paused")
    ]
  }
}

extension String {
  /// Without surrounding spaces and a last full stop.
  fileprivate var trimmed: String {
    var text = self[...].drop { $0 == " " }
    while text.last == "." || text.last == " " { text.removeLast() }
    return String(text)
  }
}
