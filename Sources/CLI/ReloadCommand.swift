// `receiptctl reload`: asks the running receiptd to read its configuration again, and reports the result.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Service
internal import Store
internal import Terminal

enum ReloadCommand {
  static let verb = Verb(
    spec: CommandSpec(
      ["reload"], summary: "Make receiptd read its configuration again, and report the result",
      discussion: """
        Sends SIGHUP to the receiptd that serves the database and waits for its answer: the changes, those \
        that need a restart, or why it refused the configuration and keeps the previous one. A reload \
        reads secrets in files (file:) again, but neither the environment (env:) nor systemd credentials: \
        those need a restart. receiptd is found by the lock of its database, so after a change of "database" \
        in the configuration, which needs a restart as well, name the previous path with --database. Run it \
        as the user that receiptd runs as, or as root. With PostgreSQL a reload concerns one instance, and \
        the log of that instance has its result: run systemctl reload receiptd on its machine, or this \
        command with --process. Ends with 0 when the configuration was applied, 78 when it was refused, 69 \
        when no receiptd is running, when it runs elsewhere or ended meanwhile, 75 when it did not answer \
        within 30 s.
        """,
      options: [
        OptionSpec(
          "database", placeholder: "PATH",
          help: "The database file that receiptd serves, if the configuration now names another one"),
        OptionSpec(
          "process", placeholder: "PID",
          help: "Refuse unless this process serves the database; for the systemd unit ($MAINPID)"),
        CommandTable.why,
      ],
      examples: [
        ExampleSpec("receiptctl reload", "After changing the configuration, or a file: secret"),
        ExampleSpec(
          "receiptctl reload --database /var/lib/receiptd/receiptd.db",
          "After changing \"database\", to apply the other changes without a restart"),
      ]), run: run)

  /// The time limit for receiptd's answer: it reads a few files and writes one row.
  private static let answerTime: Duration = .seconds(30)
  private static let lookInterval: Duration = .milliseconds(20)

  private static func run(_ session: Session) throws -> ExitCode {
    let named = session.command.options["database"]
    let expected = try session.command.integer("process", in: 1...Int(Int32.max)).map(Int32.init)
    let why = try session.why()
    guard let path = try named ?? database(session).filePath, !path.contains("://") else {
      return try reloadInstance(expected, why, session)
    }
    let daemon = session.daemon(path: path)
    if daemon != nil, daemon?.process == nil { throw isElsewhere }
    guard let process = daemon?.process, process == expected ?? process else {
      throw notServed(path, isConfigured: named == nil, by: expected, holder: daemon?.process)
    }
    let reader = try session.reader(.file(path))
    let clock = session.dependencies.clock
    let before = try reader.serviceReport(.reload)
    let asked = clock.monotonic
    try signal(process)
    let deadline = asked.advanced(by: answerTime)
    while true {
      // In this order: if the process answered and then ended, the answer still counts.
      let isAlive = session.daemon(path: path) == daemon
      if let report = try answer(reader, unlike: before, askedAt: asked) {
        record(report, .file(path), why, session)
        return show(report, process, session)
      }
      guard isAlive else {
        throw OperatorFault(
          .unavailable,
          "receiptd (process \(process)) ended before it answered; see its log. A receiptd that starts "
            + "reads the configuration anyway")
      }
      guard clock.monotonic < deadline else {
        throw OperatorFault(
          .tryAgain,
          "receiptd (process \(process)) was asked to reload but did not answer within "
            + "\(answerTime.components.seconds) s; see its log, and whether it can write: receiptctl status"
        )
      }
      session.dependencies.pause(lookInterval)
    }
  }

  /// Records in the audit who asked for a reload, and what it changed. A reload has happened, whether this
  /// can be stored or not.
  /// - Parameter report: nil if another place has the result.
  private static func record(
    _ report: ReloadReport?, _ place: DatabasePlace, _ why: String?, _ session: Session
  ) {
    func list(_ keys: [String]) -> JSONValue { keys.isEmpty ? .null : .array(keys.map(JSONValue.string)) }
    let entry = session.auditEntry(
      reason: why,
      details: [
        "result": .string(report.map { $0.isRefused ? "refused" : "applied" } ?? "asked"),
        "generation": .optional(report?.generation), "changed": list(report?.changed ?? []),
        "needs_restart": list(report?.needsRestart ?? []),
      ])
    do {
      let writer = try session.writer(Configuration(database: place, apps: []), usesApps: false)
      try writer.apply(WriteAudit(entry), now: session.moment)
    } catch {
      session.output.note("the reload could not be recorded in the audit: \(DisplayText.clean("\(error)"))")
    }
  }

  /// Several instances may use a database of a server, on other machines, and one does not know of the
  /// others: only a process of this machine can be asked to reload.
  private static func reloadInstance(
    _ process: Int32?, _ why: String?, _ session: Session
  ) throws -> ExitCode {
    guard let process else {
      throw OperatorFault(
        .unavailable,
        "the database is PostgreSQL, and a reload concerns one instance of receiptd: run systemctl reload "
          + "receiptd on the machine of each, or send SIGHUP to its process; its log has the result. Nothing "
          + "was reloaded")
    }
    // SIGHUP ends other programs.
    let name = try? FileReading.content(of: "/proc/\(process)/comm", bytesMax: 64).bytes
    guard name == Array("receiptd\n".utf8) else {
      throw OperatorFault(.unavailable, "process \(process) is not a receiptd; nothing was reloaded")
    }
    try signal(process)
    if let place = try? database(session) { record(nil, place, why, session) }
    session.output.line("receiptd (process \(process)) was asked to reload; its log has the result.")
    return .done
  }

  /// Reads only where the database is; receiptd checks the rest of the file.
  private static func database(_ session: Session) throws -> DatabasePlace {
    do throws(ConfigurationFaults) {
      return try ConfigurationLoader.readable(
        path: session.configurationPath, environment: session.dependencies.environment
      ).configuration.database
    } catch {
      session.output.note("receiptd was not asked to reload and keeps its configuration")
      throw error
    }
  }

  /// - Parameters:
  ///   - isConfigured: whether the path is from the configuration, which may have changed since receiptd
  ///     started: its lock is beside the database that it opened.
  ///   - expected: the process that systemd reports as receiptd.
  private static func notServed(
    _ path: String, isConfigured: Bool, by expected: Int32?, holder: Int32?
  ) -> OperatorFault {
    let database =
      DisplayText.clean(path) + (isConfigured ? ", the database that the configuration names" : "")
    let previous = "receiptctl reload --database PREVIOUS_PATH"
    guard let expected else {
      let changed =
        isConfigured
        ? " If \"database\" was changed, restart receiptd to apply it (\(ReloadReport.restartCommand)), or "
          + "reload the other changes with: \(previous)" : ""
      return OperatorFault(
        .unavailable,
        "no receiptd serves \(database), or you may not see its lock; nothing was reloaded. If receiptd is "
          + "not running, start it with: systemctl start receiptd.\(changed)")
    }
    let other = holder.map { " (process \($0) does)" } ?? ""
    return OperatorFault(
      .unavailable,
      "receiptd (process \(expected)) does not serve \(database)\(other); nothing was reloaded. A changed "
        + "\"database\" needs a restart: \(ReloadReport.restartCommand). To reload the other changes without "
        + "one: \(previous)")
  }

  private static let isElsewhere = OperatorFault(
    .unavailable,
    "receiptd runs in another container, where this program cannot signal it; run receiptctl reload in that "
      + "container, or send SIGHUP to receiptd there; nothing was changed")

  private static func signal(_ process: Int32) throws(OperatorFault) {
    do throws(SystemError) {
      try Signals.reload(process: process)
    } catch {
      throw OperatorFault(
        error.isMissingProcess ? .unavailable : .refused,
        "cannot signal receiptd (process \(process): \(error.reason)); run this as the user that receiptd "
          + "runs as, for instance: sudo -u receiptd receiptctl reload")
    }
  }

  /// The result of a reload that began after the request; a reload that was already running may have read the
  /// file before the change. The report from before the request is excluded because the monotonic clock
  /// restarts at each boot.
  static func answer(
    _ reader: StoreReader, unlike before: ServiceReport?, askedAt asked: MonotonicInstant
  ) throws(StoreFault) -> ReloadReport? {
    guard let stored = try reader.serviceReport(.reload), stored != before,
      let report = ReloadReport(stored: stored.content, at: stored.at), report.began >= asked
    else { return nil }
    return report
  }

  private static func show(_ report: ReloadReport, _ process: Int32, _ session: Session) -> ExitCode {
    let output = session.output
    for warning in report.warnings { output.note("warning: \(DisplayText.clean(warning.description))") }
    for fault in report.faults { output.error(DisplayText.clean(fault.description)) }
    if report.isRefused {
      output.error(
        "receiptd (process \(process)) refused the configuration and keeps the previous one, generation "
          + "\(report.generation); correct it, then: receiptctl reload")
    }
    if session.isJSON {
      output.json(report.json)
    } else if !report.isRefused {
      for line in lines(of: report, process) { output.line(DisplayText.clean(line)) }
    }
    return report.isRefused ? .configuration : .done
  }

  private static func lines(of report: ReloadReport, _ process: Int32) -> [String] {
    var lines = [
      "receiptd (process \(process)) applied the configuration, generation \(report.generation).",
      report.changed.isEmpty ? "Nothing changed." : "Changed: \(report.changed.joined(separator: ", ")).",
    ]
    if !report.needsRestart.isEmpty {
      lines.append(
        "Needs a restart (\(ReloadReport.restartCommand)): \(report.needsRestart.joined(separator: ", ")).")
    }
    if !report.keptSecrets.isEmpty {
      lines.append(
        "Not read again, because the environment and systemd credentials are fixed while a process runs: "
          + "\(report.keptSecrets.joined(separator: ", ")). If you changed one of them: "
          + "\(ReloadReport.restartCommand)")
    }
    return lines
  }
}
