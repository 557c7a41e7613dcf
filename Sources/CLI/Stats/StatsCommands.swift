// `receiptctl stats`, the older form of `status`: the state of each app. Every number comes from an index
// or a stored count.

internal import Config
internal import Domain
internal import Formats
internal import Reports
internal import Service
internal import Store
internal import Terminal

enum StatsCommands {
  static let verbs = [
    Verb(
      spec: CommandSpec(
        ["stats"], summary: "Show the relay's health and each app's state: receipts, delivery, breaker",
        discussion: """
          First whether receiptd is ready or why not, its disk, its configuration, a refused reload, \
          and webhooks that were refused in the last hour; with --json one object with "service" and \
          "findings". Then the apps, one a line, with the share of the last hour's attempts that was \
          accepted and how long their answers took, and the lookups and captures at each processor that \
          are not finished. \
          With --joins only how the contexts of each app joined, for each of the last 7 days in UTC: the \
          receipts whose context an event named (EXACT), was the user's only one (USER), was chosen among \
          several (GUESSED), is missing (NONE), or is named by another purchase, too (DISPUTED); the share \
          of the first three; and the contexts that were posted, and that no purchase claimed.
          """,
        options: [
          OptionSpec("app", placeholder: "APP", help: "Only this app")
        ] + views + [
          OptionSpec(flag: "watch", short: "w", help: "Repeat until Ctrl-C"),
          OptionSpec("interval", placeholder: "D", help: "How often with --watch, such as 5s; 2s without it"),
        ],
        examples: [
          ExampleSpec("receiptctl stats", "The state of all apps"),
          ExampleSpec("receiptctl stats --joins --app ios", "Whether the app's contexts join as before"),
          ExampleSpec("receiptctl stats --json | jq 'select(.failed > 0)'", "Apps with failed receipts"),
        ], isHidden: true), run: run),
    TopView.verb,
  ]

  /// What `status` shows, too.
  static let views = [
    OptionSpec(
      flag: "latency",
      help: "Also how long deliveries to each destination took, in the last hour, day and week"),
    OptionSpec(flag: "joins", help: "How contexts joined, by app and day"),
  ]

  private static let watchDefault: Duration = .seconds(2)

  private static func run(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let interval =
      try session.command.duration("interval", in: .milliseconds(100)...(.days(1))) ?? watchDefault
    let reader = try session.reader(configuration)
    let only = try session.app(configuration)
    guard session.command.flag("watch") else {
      try show(reader, configuration, only, session)
      return .done
    }
    session.dependencies.catchStop()
    let output = session.output
    repeat {
      // On a terminal, each update replaces the previous one; elsewhere it is appended.
      if output.result.isTerminal, !session.isJSON {
        try draw(session.again()) { try show(reader, configuration, only, $0) }
      } else {
        try show(reader, configuration, only, session.again())
        if !session.isJSON { output.line() }
      }
    } while !output.result.isClosed && !session.dependencies.isStopped(interval)
    return .done
  }

  private static func draw(_ session: Session, _ show: (Session) throws -> Void) throws {
    let output = session.output
    let columns = output.result.columns ?? 80
    let lines = try output.lines { try show(session.writing(to: $0)) }
    let isTable = { (line: String) in line.contains("  ") && !line.hasPrefix(" ") || line.contains("\u{1B}") }
    output.text(
      LiveScreen.drawing(
        lines.flatMap { isTable($0) ? [$0] : LiveScreen.wrapped($0, columns: columns) },
        footer: "Ctrl-C ends", columns: columns, rows: output.result.rows ?? 24))
  }

  static func show(
    _ reader: StoreReader, _ configuration: Configuration, _ only: AppSlug?, _ session: Session
  ) throws {
    if session.command.flag("joins") { return try JoinStats.show(reader, configuration, only, session) }
    let isLatency = session.command.flag("latency")
    let health = try ServiceHealth(reader, configuration, session)
    let stats = try session.stats(
      reader, configuration, only: only, windows: isLatency ? LatencyWindow.allCases : [.hour],
      isServed: health.isRunning)
    health.show(session)
    guard !session.isJSON else { return session.add(stats, AppStats.list, .json) }
    let isStill = !session.command.flag("watch")
    session.output.table(table(stats, session), namesDropped: isStill)
    if isLatency {
      session.output.line()
      session.output.table(DestinationLatencies.table(stats), namesDropped: isStill)
    }
    for line in unfinished(stats) { session.output.line(line) }
    for stoppage in stats.flatMap({ $0.stoppages(configuration) }) {
      session.output.line(stoppage.what)
      session.output.line(stoppage.advice)
    }
  }

  /// The unfinished lookups and captures, and how to list the payments.
  static func unfinished(_ stats: [AppStats]) -> [String] {
    let texts = stats.flatMap(\.unfinished)
    let isBad = texts.contains(where: \.isBad)
    return texts.map { DisplayText.clean($0.sentence) }
      + (isBad ? ["  These payments have an unknown outcome: \(UnfinishedText.command)"] : [])
  }

  static func table(_ stats: [AppStats], _ session: Session) -> Table {
    var table = Table(
      [.init("APP")]
        + ReceiptState.allCases.map {
          .init($0.rawValue.uppercased(), alignment: .trailing, canDrop: $0 == .waiting || $0 == .cancelled)
        } + [
          .init("LAST HOUR", alignment: .trailing, canDrop: true),
          .init("LAST 24 H", alignment: .trailing, canDrop: true),
          .init("ACCEPTED", alignment: .trailing, canDrop: true),
          .init("P50", alignment: .trailing, canDrop: true),
          .init("P99", alignment: .trailing, canDrop: true),
          .init("LAST EVENT", canDrop: true),
          .init("OLDEST PENDING"),
          .init("DELIVERIES"),
        ], emptyMessage: "No app is configured, and none has receipts.")
    for app in stats {
      let latencies = DestinationLatencies.sum(app.latencies, .hour)
      let states = ReceiptState.allCases.map { state in
        let count = app.counts[state] ?? 0
        return Table.Cell(count: count, state == .failed && app.needsAttention ? .red : .plain)
      }
      table.add(
        [Table.Cell(app.slug.text)] + states + [
          Table.Cell(count: app.deliveredLastHour), Table.Cell(count: app.deliveredLastDay),
          Table.Cell(LatencyText.share(latencies.successRate)),
          Table.Cell(LatencyText.time(latencies.attempts.quantile(0.5))),
          Table.Cell(LatencyText.time(latencies.attempts.quantile(0.99))),
          Table.Cell(session.relative(app.lastEvent)),
          Table.Cell(session.relative(app.oldestPending)), app.deliveries(session),
        ])
    }
    return table
  }
}

extension DestinationLatencies {
  /// `stats --latency`.
  static func table(_ stats: [AppStats]) -> Table {
    var table = Table(
      [
        .init("APP"), .init("DESTINATION"), .init("PERIOD"), .init("ATTEMPTS", alignment: .trailing),
        .init("ACCEPTED", alignment: .trailing), .init("P50", alignment: .trailing),
        .init("P99", alignment: .trailing), .init("FROM PAYMENT P50", alignment: .trailing),
        .init("FROM PAYMENT P99", alignment: .trailing),
      ], emptyMessage: "Nothing was sent in the last week.")
    for destination in stats.flatMap(\.latencies) {
      for (window, latencies) in destination.windows {
        table.add(
          [
            Table.Cell(destination.place.app.text), Table.Cell(destination.place.destination.text),
            Table.Cell(window.text), Table.Cell(count: latencies.attempts.total),
            Table.Cell(LatencyText.share(latencies.successRate)),
          ]
            + [latencies.attempts, latencies.sincePayment].flatMap { counts in
              [0.5, 0.99].map { Table.Cell(LatencyText.time(counts.quantile($0))) }
            })
      }
    }
    return table
  }
}

extension AppStats {
  /// Whether deliveries run, and if not, why.
  func deliveries(_ session: Session) -> Table.Cell {
    guard isConfigured else { return Table.Cell("not configured", unconfigured == nil ? .dim : .red) }
    if let text = PauseText(pause, app: slug.text, now: now) {
      return Table.Cell(DisplayText.clean(text.short), .yellow)
    }
    guard isServed else { return Table.Cell("receiptd is not running", .red) }
    guard isApplied else { return Table.Cell("not applied", .red) }
    let cause = breaker.cause.map { " (\($0.text))" } ?? ""
    let probe = breaker.probeAt.map { ", probe \(session.relative($0))" } ?? ""
    switch breaker.state {
    case .paused, .open: return Table.Cell("stopped\(cause)\(probe)", .red)
    case .closed:
      guard let rest = breaker.restUntil, rest > now else { return Table.Cell("running", .green) }
      return Table.Cell("on hold, resume \(session.relative(rest))", .yellow)
    }
  }

  /// What stops deliveries to each destination, and what to do about it, as two lines each.
  func stoppages(_ configuration: Configuration) -> [(what: String, advice: String)] {
    if let unconfigured {
      let app = DisplayText.clean(slug.text)
      return [("The app \(app) \(unconfigured.sentence).", "  \(unconfigured.advice)")]
    }
    guard isConfigured else { return [] }
    return Stoppage.all(of: slug, pause, breakers, configuration, now: now).map {
      ($0.what, "  \($0.advice)")
    }
  }

  /// The first of `stoppages`; nil if nothing stops deliveries.
  func stoppage(_ configuration: Configuration) -> (what: String, advice: String)? {
    stoppages(configuration).first
  }
}

extension Session {
  /// The state of every app that is configured or has receipts.
  /// - Parameter isServed: whether a receiptd serves the database; nil if this must find out.
  func stats(
    _ reader: StoreReader, _ configuration: Configuration, only: AppSlug?, windows: [LatencyWindow] = [.hour],
    isServed: Bool? = nil
  ) throws -> [AppStats] {
    let applied = try reader.serviceReport(.health).flatMap { HealthReport(stored: $0.content) }?.apps
    return try AppStats.all(
      reader, configuration, only: only, windows: windows,
      isServed: isServed ?? self.isServed(configuration, reader),
      applied: applied, now: now)
  }
}
