// Follows a job until it ends, for `receipts replay --wait` and `jobs watch`. Polls the database; if no
// receiptd serves it, does the job's work itself. Can be interrupted: the job continues.

internal import Config
internal import Domain
internal import Platform
internal import Reports
internal import Store
internal import Terminal

struct JobFollow {
  /// The time between two polls.
  static let pause: Duration = .milliseconds(250)
  /// After this long without progress, it reports why.
  static let quietTime: Duration = .seconds(1)
  /// Steps that run between two updates of the bar.
  static let stepsMax = 20

  private let session: Session
  private let configuration: Configuration
  private let reader: StoreReader
  private let id: JobID
  private var printed: Set<String> = []

  init(_ session: Session, _ configuration: Configuration, _ reader: StoreReader, _ id: JobID) {
    self.session = session
    self.configuration = configuration
    self.reader = reader
    self.id = id
  }

  /// - Returns: the finished job; nil after an interrupt.
  mutating func run() throws -> Job? {
    session.dependencies.catchStop()
    guard let first = try reader.job(id: id) else { throw JobsCommands.unknown(id) }
    if first.endedAt == nil { try noteServer(first) }
    var bar: ProgressBar?
    let outcome = Result { try follow(first, &bar) }
    bar?.finish()
    guard let job = try outcome.get() else {
      session.output.note(
        "Job \(id) continues. Watch it again with: receiptctl jobs watch \(id); stop it with: "
          + "receiptctl jobs cancel \(id)")
      return nil
    }
    report(job)
    return job
  }

  private func noteServer(_ job: Job) throws(StoreFault) {
    guard try !session.isServed(configuration, reader) else { return }
    let what =
      job.request.kind == .cancel
      ? "this command does the work meanwhile" : "they are delivered once one does"
    session.output.note("No receiptd seems to serve this database; \(what).")
  }

  private mutating func follow(_ first: Job, _ bar: inout ProgressBar?) throws -> Job? {
    let clock = session.dependencies.clock
    var work = try session.work(on: first, configuration)
    var writer: StoreWriter?
    var (processed, lastProgress) = (-1, clock.monotonic)
    while true {
      // Without the apps' settings, the work is receiptd's alone.
      if try !configuration.isPartial && !session.isServed(configuration, reader) {
        // Only receiptd keeps to a job's rate.
        work.releases = first.request.ratePerSecond == nil
        let own = try writer ?? session.writer(configuration)
        writer = own
        try advance(&work, own)
      }
      guard let read = try reader.job(id: id) else { throw JobsCommands.unknown(id) }
      let job = try JobsCommands.paced(read, reader, configuration)
      if job.state != .preparing {
        if bar == nil {
          let label = job.request.kind == .cancel ? "cancelling" : "delivering"
          bar = ProgressBar(
            label, total: job.total, doneBefore: job.processed, on: session.output.notes, clock: clock)
        }
        bar?.update(done: job.processed, secondsLeft: job.releaseSecondsLeft)
      }
      if job.endedAt != nil { return job }
      if job.processed != processed { (processed, lastProgress) = (job.processed, clock.monotonic) }
      if job.state == .paused {
        note("Job \(id) is paused; resume it with: receiptctl jobs resume \(id)")
      } else if clock.monotonic.duration(since: lastProgress) >= Self.quietTime {
        try explain(job)
      }
      if session.dependencies.isStopped(Self.pause) { return nil }
    }
  }

  private func advance(_ work: inout JobWork, _ writer: StoreWriter) throws {
    for _ in 0..<Self.stepsMax {
      guard case .apply(let step) = try work.next(reader, now: session.moment) else { return }
      try writer.apply(step, now: session.moment)
    }
  }

  /// Prints each sentence once.
  private mutating func note(_ sentence: String) {
    if printed.insert(sentence).inserted { session.output.note(sentence) }
  }

  /// Reports why nothing moves, as far as pauses and breakers show.
  private mutating func explain(_ job: Job) throws {
    let waiting = try reader.receipts(ofJob: job.row, outcome: .released, limit: 100).compactMap(\.receiptID)
    let apps = Set(
      try ReceiptOutline.all(waiting, reader).map(\.app)
        + reader.holds(job, now: session.now).map(\.app))
    for stoppage in try Stoppage.all(of: apps, reader, configuration, now: session.now)
    where printed.insert(stoppage.key).inserted {
      session.output.note(stoppage.text)
    }
  }

  private func report(_ job: Job) {
    session.output.note(JobDescription.outcomes(job) + ".")
    if !job.missed.isEmpty { session.output.note(JobText.missedTable(job)) }
  }
}
