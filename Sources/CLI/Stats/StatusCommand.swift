// `receiptctl status`: what is wrong, then the state of each app. One thread.

internal import Config
internal import Domain
internal import Formats
internal import Reports
internal import Service
internal import Store
internal import Terminal
internal import Upkeep

enum StatusCommand {
  static let verb = Verb(
    spec: CommandSpec(
      ["status"], summary: "What is wrong now and what to do, then the state of each app",
      discussion: """
        First whether receiptd is ready; then each problem, the most urgent first, with the next command: \
        what receiptd reports, and what an alert would report, whether one is configured or not. Then the \
        apps, one a line. doctor looks at everything that receiptd depends on, too. With --json first one \
        object with "service" and "findings", then one for each app. \
        With --joins only how the contexts of each app joined, for each of the last 7 days in UTC: the \
        receipts whose context an event named (EXACT), was the user's only one (USER), was chosen among \
        several (GUESSED), is missing (NONE), or is named by another purchase, too (DISPUTED); the share \
        of the first three; and the contexts that were posted, and that no purchase claimed.
        """,
      options: [
        OptionSpec("app", placeholder: "APP", help: "Only this app, and what concerns all")
      ] + StatsCommands.views + [
        OptionSpec(flag: "watch", short: "w", help: "The whole screen, live, until q or Ctrl-C"),
        OptionSpec("interval", placeholder: "D", help: "How often to redraw with --watch; default 1s"),
      ],
      examples: [
        ExampleSpec("receiptctl status", "The first command of an incident"),
        ExampleSpec("receiptctl status --watch", "The same, live"),
        ExampleSpec("receiptctl status --joins --app ios", "Whether the app's contexts join as before"),
        ExampleSpec("receiptctl status --json | jq '.findings[]?.title'", "The problems, for a script"),
      ]), run: run)

  private static func run(_ session: Session) throws -> ExitCode {
    let (isJoins, isLatency) = (session.command.flag("joins"), session.command.flag("latency"))
    if session.command.flag("watch") {
      guard !isJoins, !isLatency else {
        throw session.usage("--watch shows neither --joins nor --latency")
      }
      return try TopView.run(session)
    }
    let configuration = try session.configuration()
    let reader = try session.reader(configuration)
    let only = try session.app(configuration)
    if isJoins {
      try JoinStats.show(reader, configuration, only, session)
      return .done
    }
    let health = try ServiceHealth(reader, configuration, session)
    let stats = try session.stats(
      reader, configuration, only: only, windows: isLatency ? LatencyWindow.allCases : [.hour],
      isServed: health.isRunning)
    let problems = try problems(reader, configuration, health).filter {
      only == nil || $0.app == nil || $0.app == only
    }
    let output = session.output
    guard !session.isJSON else {
      output.json(health.json(problems))
      session.add(stats, AppStats.list, .json)
      return .done
    }
    if health.isWell, let first = health.lines.first { output.line(DisplayText.clean(first)) }
    for line in problems.flatMap({ $0.lines(inColour: output.isInColour) }) { output.line(line) }
    if problems.isEmpty { output.line("Nothing is wrong.") }
    output.line()
    output.table(StatsCommands.table(stats, session))
    if isLatency {
      output.line()
      output.table(DestinationLatencies.table(stats))
    }
    for line in StatsCommands.unfinished(stats) { output.line(line) }
    return .done
  }

  /// What receiptd reports, and what an alert would, each once.
  private static func problems(
    _ reader: StoreReader, _ configuration: Configuration, _ health: ServiceHealth
  ) throws -> [Finding] {
    let troubles = try AlertPreview.troubles(
      configuration, reader: reader, stored: health.stored, health: health.report,
      freeBytes: health.freeBytes, now: health.now)
    return Finding.problems(health.problems, troubles, now: health.now)
  }
}
