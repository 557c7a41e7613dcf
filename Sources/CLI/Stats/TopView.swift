// `receiptctl status --watch`, and `top`: a live full-screen view of the relay's state. One thread.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Service
internal import Store
internal import Terminal

struct TopView {
  static let verb = Verb(
    spec: CommandSpec(
      ["top"], summary: "Watch all apps live: states, rates, latencies, latest failures",
      discussion: "Ends with q or Ctrl-C. Without a terminal it is stats, once.",
      options: [
        OptionSpec("app", placeholder: "APP", help: "Only this app"),
        OptionSpec("interval", placeholder: "D", help: "How often to redraw; default 1s"),
      ],
      examples: [ExampleSpec("receiptctl top", "The current state of all apps")], isHidden: true),
    run: run)

  private static let intervalDefault: Duration = .seconds(1)
  /// The window over which rates are computed.
  private static let window: Duration = .seconds(10)
  /// How many of the newest failed attempts are shown.
  private static let failuresMax = 20
  /// How often the keyboard is polled.
  private static let keyWait: Duration = .milliseconds(50)

  private struct Sample {
    var at: MonotonicInstant
    var growth: Growth
    var delivered: Int64
  }

  private let configuration: Configuration
  private let reader: StoreReader
  private let only: AppSlug?
  private var samples: [Sample] = []

  static func run(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let interval =
      try session.command.duration("interval", in: .milliseconds(100)...(.hours(1))) ?? intervalDefault
    let reader = try session.reader(configuration)
    let only = try session.app(configuration)
    guard session.output.result.isTerminal, !session.isJSON else {
      try StatsCommands.show(reader, configuration, only, session)
      return .done
    }
    var view = TopView(configuration: configuration, reader: reader, only: only)
    return try view.watch(session, interval: interval)
  }

  private init(configuration: Configuration, reader: StoreReader, only: AppSlug?) {
    self.configuration = configuration
    self.reader = reader
    self.only = only
  }

  private mutating func watch(_ session: Session, interval: Duration) throws -> ExitCode {
    session.dependencies.catchStop()
    let keyboard = RawTerminal()
    let output = session.output
    // The alternate screen, without a cursor (xterm's control sequences, DEC private modes 1049 and 25).
    output.text("\u{1B}[?1049h\u{1B}[?25l")
    defer { output.text("\u{1B}[?25h\u{1B}[?1049l") }
    while true {
      try draw(session.again())
      let next = session.dependencies.clock.monotonic.advanced(by: interval)
      while session.dependencies.clock.monotonic < next {
        if session.dependencies.isStopped(keyboard == nil ? Self.keyWait : .zero) { return .done }
        switch keyboard?.key(within: Self.keyWait) {
        case UInt8(ascii: "q"), UInt8(ascii: "Q"), 3: return .done
        default: break
        }
        if output.result.isClosed { return .done }
      }
    }
  }

  private mutating func draw(_ session: Session) throws {
    let output = session.output
    let columns = output.result.columns ?? 80
    let health = try ServiceHealth(reader, configuration, session)
    let stats = try session.stats(reader, configuration, only: only, isServed: health.isRunning)
    var failed = AttemptFilter()
    failed.isFailed = true
    failed.app = only
    let failures = try reader.attempts(failed, limit: Self.failuresMax).entries
    try sample(stats, session)
    func wrapped(_ text: String) -> [String] { LiveScreen.wrapped(text, columns: columns) }
    var lines = wrapped(try head(session)) + health.lines.flatMap { wrapped(DisplayText.clean($0)) }
    // The latencies get their own line if they do not fit beside the rates.
    let (rates, latencies) = (rates(), latencies(stats))
    let both = rates + "   " + latencies
    lines += (both.count < columns ? [both] : wrapped(rates) + wrapped(latencies)) + [""]
    lines += StatsCommands.table(stats, session).text(inColour: output.isInColour, terminalColumns: columns)
      .split(separator: "\n").map(String.init)
    let unfinished = StatsCommands.unfinished(stats)
    if !unfinished.isEmpty { lines += [""] + unfinished.flatMap(wrapped) }
    for stoppage in stats.compactMap({ $0.stoppage(configuration) }) {
      lines += [""] + wrapped(stoppage.what) + wrapped(stoppage.advice)
    }
    lines += troubles(failures, session)
    let rows = output.result.rows ?? 24
    output.text(LiveScreen.drawing(lines, footer: "q ends", columns: columns, rows: rows))
  }

  private mutating func sample(_ stats: [AppStats], _ session: Session) throws {
    let now = session.dependencies.clock.monotonic
    let delivered = stats.reduce(0) { $0 + ($1.counts[.delivered] ?? 0) }
    samples.append(Sample(at: now, growth: try reader.growth(), delivered: delivered))
    samples.removeAll { now.duration(since: $0.at) > Self.window }
  }

  private func head(_ session: Session) throws(StoreFault) -> String {
    let process = session.daemon(configuration).map { daemon in
      daemon.process.map { "receiptd \($0)" } ?? "receiptd \(daemon.place)"
    }
    let isServed = try session.isServed(configuration, reader)
    let daemon = process ?? (isServed ? "receiptd runs" : "no receiptd is running")
    return "\(daemon)   \(DisplayText.clean(configuration.database.description))   \(session.now.text)"
  }

  private func rates() -> String {
    guard let first = samples.first, let last = samples.last else { return "" }
    let seconds = max(0.001, last.at.seconds(since: first.at))
    func rate(_ difference: Int64) -> String {
      let tenths = samples.count < 2 ? 0 : Int64((Double(difference) / seconds * 10).rounded())
      return "\(tenths / 10).\(abs(tenths) % 10)/s"
    }
    return [
      ("contexts", rate(last.growth.contexts - first.growth.contexts)),
      ("events", rate(last.growth.events - first.growth.events)),
      ("attempts", rate(last.growth.attempts - first.growth.attempts)),
      ("delivered", rate(last.delivered - first.delivered)),
    ].map { "\($0.0) \($0.1)" }.joined(separator: "   ")
  }

  /// Of the last hour.
  private func latencies(_ stats: [AppStats]) -> String {
    let latencies = DestinationLatencies.sum(stats.flatMap(\.latencies), .hour)
    guard latencies.attempts.total > 0 else { return "no attempts in the last hour" }
    func times(_ counts: LatencyCounts) -> String {
      "p50 \(LatencyText.time(counts.quantile(0.5))), p99 \(LatencyText.time(counts.quantile(0.99)))"
    }
    let since = latencies.sincePayment
    return "last hour: \(LatencyText.share(latencies.successRate)) accepted, answers "
      + times(latencies.attempts) + (since.total > 0 ? ", from payment \(times(since))" : "")
  }

  private func troubles(_ failed: [AttemptSummary], _ session: Session) -> [String] {
    guard !failed.isEmpty else { return [] }
    var table = Table(
      [.init("LATEST FAILURES"), .init("APP"), .init("RECEIPT"), .init("ANSWER", canShrink: true)],
      emptyMessage: "")
    for attempt in failed {
      table.add([
        Table.Cell(session.relative(attempt.report.startedAt)), Table.Cell(attempt.app.text),
        Table.Cell(attempt.receiptID?.text ?? "-"), Table.Cell(attempt.report.answerText, .red),
      ])
    }
    let output = session.output
    return [""]
      + table.text(inColour: output.isInColour, terminalColumns: output.result.columns ?? 80)
      .split(separator: "\n").map(String.init)
  }
}
