// `receiptctl apps`: the apps, and operators' pauses of their deliveries.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Service
internal import Store
internal import Terminal

enum AppsCommands {
  static let spec = CommandGroup("apps", summary: "The apps, and pauses of their deliveries")

  static let verbs = [list, pause, resume, retryNow]

  private static let appArgument = ArgumentSpec("APP", help: "the app's name in the configuration")

  private static let list = Verb(
    spec: CommandSpec(
      ["apps", "list"], summary: "List the apps: whether deliveries run, what waits, and what they use",
      options: [ListFormat.option],
      examples: [
        ExampleSpec("receiptctl apps list", "Which apps are paused, by whom and until when"),
        ExampleSpec("receiptctl apps list --json | jq 'select(.pause)'", "Only those that are paused"),
      ]), run: runList)

  private static let pause = Verb(
    spec: CommandSpec(
      ["apps", "pause"], summary: "Hold an app's deliveries; what is under way is completed",
      discussion: """
        Contexts and events are accepted as always, payments are captured, and receipts become ready; \
        nothing is sent to a destination, and jobs release nothing. The time does not count against the \
        retries of a receipt. With --for the pause ends without an operator. A second pause gives the \
        first one another end and another reason.
        """, arguments: [appArgument],
      options: [
        OptionSpec("for", placeholder: "D", help: "How long, such as 1h; without it, until it is resumed"),
        CommandTable.why,
      ],
      examples: [
        ExampleSpec("receiptctl apps pause ios --for 1h --why 'the destination asked for it'", "One hour"),
        ExampleSpec("receiptctl apps pause ios --why 'wrong prices'", "Until it is resumed"),
      ]), run: runPause)

  private static let resume = Verb(
    spec: CommandSpec(
      ["apps", "resume"], summary: "End a pause: what is due is delivered at once",
      arguments: [appArgument], options: [CommandTable.why],
      examples: [ExampleSpec("receiptctl apps resume ios", "Deliver again")]), run: runResume)

  private static let retryNow = Verb(
    spec: CommandSpec(
      ["apps", "retry-now"], summary: "Try an app's deliveries again at once",
      discussion: """
        Ends what deliveries wait for: a time that the destination asked for (Retry-After, 429), and the \
        pause before the next probe of a destination that is down or refuses the configuration. Pending \
        receipts become due, and the first one goes over a fresh connection. If it fails, deliveries wait \
        again. A pause by an operator stays: apps resume ends it.
        """, arguments: [appArgument], options: [CommandTable.why],
      examples: [
        ExampleSpec("receiptctl apps retry-now ios --why 'they lifted the block'", "Wait no longer")
      ]), run: runRetryNow)

  private static func runRetryNow(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let slug = try session.configuredApp(AppSlug(session.command.positionals[0]), configuration).slug
    let entry = session.auditEntry(app: slug, reason: try session.why())
    let command = Audited(RetryNow(app: slug)) { _ in entry }
    let didWait = try session.writer(configuration).apply(command, now: session.moment)
    session.wakeDaemon(configuration)
    let reader = try session.reader(configuration)
    let name = DisplayText.clean(slug.text)
    let isServed = try session.isServed(configuration, reader)
    if session.isJSON {
      session.output.json([
        "app": .string(slug.text), "waited": .bool(didWait), "served": .bool(isServed),
      ])
      return .done
    }
    let what = didWait ? "wait no longer" : "did not wait"
    session.output.line(
      "Deliveries of \(name) \(what); pending receipts are due now. To watch: "
        + "receiptctl status --app \(name)")
    if !isServed {
      session.output.note("No receiptd serves this database; they are tried once one does.")
    }
    if let text = PauseText(try reader.pauses()[slug], app: name, now: session.now) {
      session.output.note(DisplayText.clean("But deliveries of \(name) \(text.sentence) \(text.advice)"))
    }
    return .done
  }

  private static func runList(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let stats = try session.stats(session.reader(configuration), configuration, only: nil)
    let format = try ListFormat(session)
    if format == .table {
      session.output.table(table(stats, configuration, session))
    } else {
      session.show(stats, AppStats.list, format, configuration)
    }
    return .done
  }

  private static func table(
    _ stats: [AppStats], _ configuration: Configuration, _ session: Session
  ) -> Table {
    var table = Table(
      [
        .init("APP"), .init("DELIVERIES"), .init("WHY", canShrink: true),
        .init("PENDING", alignment: .trailing), .init("OLDEST"), .init("FAILED", alignment: .trailing),
        .init("JOINED 24 H", alignment: .trailing, canDrop: true),
        .init("PROCESSORS", canDrop: true),
      ], emptyMessage: "No app is configured, and none has receipts.")
    for app in stats {
      let used = configuration.app(app.slug)
      let why = app.pause.flatMap { $0.isActive(now: session.now) ? $0.reason : nil }
      table.add([
        Table.Cell(app.slug.text), app.deliveries(session), Table.Cell(why ?? "-"),
        Table.Cell(count: app.counts[.pending] ?? 0), Table.Cell(session.relative(app.oldestPending)),
        Table.Cell(count: app.counts[.failed] ?? 0), JoinStats.share(app.joins),
        Table.Cell(names(used?.processors.map(\.name.text))),
      ])
    }
    return table
  }

  private static func names(_ names: [String]?) -> String {
    names.map { $0.sorted().joined(separator: ", ") } ?? "-"
  }

  private static func runPause(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let slug = try session.configuredApp(AppSlug(session.command.positionals[0]), configuration).slug
    let time = try session.command.duration("for", in: PauseApp.times)
    guard let why = try session.why() else {
      throw session.usage("--why is missing: who looks at a paused app needs to know why")
    }
    let command = PauseApp(app: slug, for: time, actor: session.dependencies.actor, reason: why)
    let seconds = JSONValue.optional(time?.components.seconds)
    let entry = session.auditEntry(app: slug, reason: why, details: ["seconds": seconds])
    let pause = try session.writer(configuration, usesApps: false).apply(
      Audited(command) { _ in entry }, now: session.moment)
    session.wakeDaemon(configuration)
    try show(slug, pause, configuration, session)
    return .done
  }

  private static func show(
    _ app: AppSlug, _ pause: AppPause, _ configuration: Configuration, _ session: Session
  ) throws {
    if session.isJSON {
      session.output.json([
        "app": .string(app.text), "since": .time(pause.since), "until": .time(pause.until),
        "actor": .string(pause.actor), "why": .optional(pause.reason),
      ])
      return
    }
    let name = DisplayText.clean(app.text)
    let end =
      pause.until.map { "until \($0.clock(today: session.now))" } ?? "until: receiptctl apps resume \(name)"
    session.output.line("Deliveries of \(name) are paused \(end)")
    if try !session.isServed(configuration, session.reader(configuration)) {
      session.output.note("No receiptd serves this database; the pause applies once one does.")
    }
  }

  private static func runResume(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    // Also an app that is no longer configured.
    let slug = AppSlug(session.command.positionals[0])
    let reader = try session.reader(configuration)
    if try reader.pauses()[slug] == nil { _ = try session.configuredApp(slug, configuration) }
    let entry = session.auditEntry(app: slug, reason: try session.why())
    let command = Audited(ResumeApp(app: slug)) { $0 == nil ? nil : entry }
    // What the pause held: receiptd may deliver some of it before this program could count again.
    let pending = try reader.counts().first { $0.app == slug && $0.state == .pending }?.count ?? 0
    let ended = try session.writer(configuration, usesApps: false).apply(command, now: session.moment)
    session.wakeDaemon(configuration)
    let name = DisplayText.clean(slug.text)
    if session.isJSON {
      session.output.json([
        "app": .string(slug.text), "resumed": .bool(ended != nil), "pending": .integer(pending),
      ])
    } else if ended == nil {
      session.output.line("No operator has paused the deliveries of \(name); nothing was changed.")
      let stats = try session.stats(reader, configuration, only: slug)
      for stoppage in stats.flatMap({ $0.stoppages(configuration) }) {
        session.output.line(stoppage.what)
        session.output.line(stoppage.advice)
      }
    } else {
      let waiting = CountText.of(pending, "receipt")
      session.output.line(
        "Deliveries of \(name) resume; \(waiting) of it \(pending == 1 ? "is" : "are") pending.")
    }
    return .done
  }
}
