// `receiptctl jobs`: bulk work that continues in the background.

internal import Config
internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Store
internal import Terminal

enum JobsCommands {
  static let spec = CommandGroup("jobs", summary: "Bulk changes of receipts, which run in the background")

  static let verbs = [list, show, watch, pause, resume, rate, cancel]

  private static let example = "job_01KAGFN9P300000001Q7M2X5ZC"
  private static let idArgument = ArgumentSpec("JOB", help: "the job, job_…")

  private static let list = Verb(
    spec: CommandSpec(
      ["jobs", "list"], summary: "List jobs, newest first",
      options: JobFilter.options + Page.options(of: "job"),
      examples: [ExampleSpec("receiptctl jobs list --state running", "Running jobs")]),
    run: runList)

  private static let show = Verb(
    spec: CommandSpec(
      ["jobs", "show"], summary: "Show a job: its progress, who started it, its failures and their reasons",
      arguments: [idArgument],
      examples: [
        ExampleSpec("receiptctl jobs show \(example)", "The progress of a job"),
        ExampleSpec("receiptctl jobs show \(example) --json | jq .failures", "Failures by reason"),
      ]), run: runShow)

  private static let watch = Verb(
    spec: CommandSpec(
      ["jobs", "watch"], summary: "Follow a job until it ends; 3 when a part of it failed",
      discussion: """
        Ctrl-C does not change the job, and ends with 75. If no receiptd serves the database, this \
        command does the job's work, unless the job has a rate.
        """, arguments: [idArgument],
      examples: [ExampleSpec("receiptctl jobs watch \(example)", "A progress bar, then the failures")]),
    run: runWatch)

  private static let pause = Verb(
    spec: CommandSpec(
      ["jobs", "pause"], summary: "Release no further receipts; those released are still delivered",
      arguments: [idArgument], options: [CommandTable.why],
      examples: [
        ExampleSpec("receiptctl jobs pause \(example) --why 'too fast'", "Hold it until it is resumed")
      ]), run: { try change($0, .pause) })

  private static let resume = Verb(
    spec: CommandSpec(
      ["jobs", "resume"], summary: "Resume a paused job", arguments: [idArgument],
      options: [CommandTable.why],
      examples: [ExampleSpec("receiptctl jobs resume \(example)", "Continue at its rate")]),
    run: { try change($0, .resume) })

  private static let rate = Verb(
    spec: CommandSpec(
      ["jobs", "rate"], summary: "Change how many receipts of a job become due each second",
      discussion: "RATE is such as 5/s, or none for no limit. Receipts released before are not slowed down.",
      arguments: [idArgument, ArgumentSpec("RATE", help: "such as 5/s, or none")],
      options: [CommandTable.why],
      examples: [
        ExampleSpec("receiptctl jobs rate \(example) 2/s --why 'too fast'", "Slow a replay down"),
        ExampleSpec("receiptctl jobs rate \(example) none", "Release the rest as fast as possible"),
      ]), run: runRate)

  private static let cancel = Verb(
    spec: CommandSpec(
      ["jobs", "cancel"], summary: "Cancel a job; receipts that it has not released stay unchanged",
      discussion:
        "Asks first. Receipts released before are still delivered; a cancelled job cannot be resumed.",
      arguments: [idArgument], options: [CommandTable.why] + CommandTable.asking,
      examples: [
        ExampleSpec("receiptctl jobs cancel \(example) --why 'the wrong ones'", "Release no more receipts")
      ]), run: runCancel)

  /// Reports that there is no such job.
  static func unknown(_ id: JobID) -> OperatorFault {
    OperatorFault(
      .notFound, "there is no job \(DisplayText.clean(id.text)); ids are in: receiptctl jobs list")
  }

  private static func find(_ session: Session, _ reader: StoreReader) throws -> Job {
    let id = JobID(session.command.positionals[0])
    guard let job = try reader.job(id: id) else { throw unknown(id) }
    return job
  }

  private static func runList(_ session: Session) throws -> ExitCode {
    let page = try Page(session)
    let configuration = try session.configuration()
    var filter: JobFilter = try session.filter(configuration, page)
    let reader = try session.reader(configuration)
    let isServed = try page.format != .table || session.isServed(configuration, reader)
    return try page.show(session, configuration, JobResource.list(isServed: isServed)) { after, limit in
      filter.after = after ?? filter.after
      var page = try filter.read(reader, limit: limit, now: session.now)
      page.entries = try page.entries.map { try paced($0, reader, configuration) }
      return page
    }
  }

  private static func runShow(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let reader = try session.reader(configuration)
    let job = try paced(find(session, reader), reader, configuration)
    let holds = try reader.holds(job, now: session.now)
    guard !session.isJSON else {
      session.output.json(JobResource.list(heldApps: holds.map(\.app)).object(of: job))
      return .done
    }
    let output = session.output
    let isServed = try session.isServed(configuration, reader)
    output.line(Style.bold.applied(to: job.id.text, inColour: output.isInColour))
    var facts = [
      ("state", JobDescription.state(job, isServed: isServed) + (job.note.map { " (\($0))" } ?? "")),
      ("what", JobDescription.asked(job)), ("pace", JobDescription.pace(job)),
      ("receipts", "\(CountText.grouped(job.total)): \(JobDescription.outcomes(job))"),
      ("who", "\(job.request.actor), \(session.relative(job.createdAt))"),
    ]
    if let why = job.request.reason { facts.append(("why", why)) }
    if let ended = job.endedAt { facts.append(("ended", session.relative(ended))) }
    for (name, value) in facts {
      let style = name == "state" ? job.tone.style : .plain
      let shown = style.applied(to: DisplayText.clean(value), inColour: output.isInColour)
      output.line("  \(DisplayText.padded(name, to: 9)) \(shown)")
    }
    for line in JobText.holds(holds, now: session.now) { output.line("  \(line)") }
    if !job.missed.isEmpty {
      output.line()
      output.table(JobText.missedTable(job))
    }
    if !isServed, job.endedAt == nil {
      output.line()
      output.line(
        "No receiptd serves this database: the job continues, and its receipts are sent, once one does.")
    }
    return .done
  }

  /// The job with the rate of its apps' deliveries.
  static func paced(
    _ job: Job, _ reader: StoreReader, _ configuration: Configuration
  ) throws(StoreFault) -> Job {
    guard job.endedAt == nil, job.request.ratePerSecond != nil else { return job }
    var job = job
    job.deliveriesPerSecond = configuration.deliveryRate(of: try reader.plannedApps(ofJob: job.row))
    return job
  }

  private static func runWatch(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let reader = try session.reader(configuration)
    var follow = JobFollow(session, configuration, reader, try find(session, reader).id)
    guard let job = try follow.run() else { return .tryAgain }
    if session.isJSON {
      session.output.json(JobResource.list().object(of: job))
    } else {
      session.output.line("Job \(job.id) is \(JobDescription.state(job)).")
    }
    return job.missed.isEmpty && job.state == .done ? .done : .partly
  }

  private static func runRate(_ session: Session) throws -> ExitCode {
    let text = session.command.positionals[1]
    guard text != "none" else { return try change(session, .rate(nil)) }
    let rates = JobRequest.rates
    guard let rate = ParsedCommand.rate(parsing: text), rates.contains(rate) else {
      throw session.usage(
        "RATE must be such as 5/s, from \(rates.lowerBound)/s to \(rates.upperBound)/s, or none, not "
          + "'\(DisplayText.clean(text))'")
    }
    return try change(session, .rate(rate))
  }

  private static func runCancel(_ session: Session) throws -> ExitCode {
    let configuration = try session.configuration()
    let job = try find(session, session.reader(configuration))
    if session.command.flag("dry-run") {
      session.output.line("Job \(job.id): \(JobDescription.outcomes(job)); nothing was changed.")
      return .done
    }
    if job.state != .cancelled, job.state != .done {
      session.output.note("\(JobDescription.asked(job)): \(JobDescription.outcomes(job))")
      try session.ask("Cancel the job?")
    }
    return try change(session, .cancel)
  }

  private static func change(_ session: Session, _ change: ChangeJob.Change) throws -> ExitCode {
    let id = JobID(session.command.positionals[0])
    let configuration = try session.configuration()
    let details: JSONValue =
      if case .rate(let rate) = change { ["rate": rate.map { .number($0) } ?? .null] } else { [:] }
    let entry = session.auditEntry(subject: id.text, reason: try session.why(), details: details)
    let command = Audited(ChangeJob(id: id, change)) { outcome in
      if case .done(_, isChanged: true) = outcome { entry } else { nil }
    }
    switch try session.writer(configuration, usesApps: false).apply(command, now: session.moment) {
    case .notFound: throw unknown(id)
    case .notAllowed(let state):
      throw OperatorFault(.refused, "the job \(DisplayText.clean(id.text)) is \(state.rawValue)")
    case .done(let changed, let isChanged):
      session.wakeDaemon(configuration)
      let job = try paced(changed, session.reader(configuration), configuration)
      if session.isJSON {
        session.output.json(JobResource.list().object(of: job))
      } else {
        let already = isChanged ? "" : " already"
        let state = if case .rate = change { JobDescription.pace(job) } else { job.state.rawValue }
        session.output.line("Job \(job.id) is \(state)\(already); \(JobDescription.outcomes(job)).")
      }
      return .done
    }
  }
}
