// What the workers that send receipts and ask payment processors need: their connection to the database,
// their transport, and the parts that they share with the rest of the relay. A value; any thread.

internal import Domain
internal import HTTPClient
internal import Platform
internal import Service
internal import Store

/// The parts of a worker. Each worker has its own transport and its own reader.
struct WorkerParts: Sendable {
  let transport: any HTTPTransport
  let reader: Monitor<StoreReader>
  /// The apps at the start.
  let directory: AppDirectory
  let committer: Committer
  let metrics: Metrics
  let dependencies: Dependencies
  let ownership: any Ownership
  let requestLog: RequestLog
  let faultLines = LogLimiter(pause: LogLimiter.faultPause)
  private let grace: Duration

  /// - Parameter grace: how long calls under way may take after a stop began.
  init(
    transport: any HTTPTransport, reader: sending StoreReader, directory: AppDirectory, committer: Committer,
    metrics: Metrics, dependencies: Dependencies, ownership: any Ownership = SoleOwner(), grace: Duration
  ) {
    self.ownership = ownership
    self.transport = transport
    self.reader = Monitor(reader)
    self.directory = directory
    self.committer = committer
    self.metrics = metrics
    self.dependencies = dependencies
    requestLog = RequestLog(dependencies.log, clock: dependencies.clock)
    self.grace = grace
  }

  /// When calls under way are cancelled, if the stop begins now.
  func stopDeadline() -> MonotonicInstant { dependencies.clock.monotonic.advanced(by: grace) }

  /// Runs work with the connection on the caller's thread.
  func withReader<Failure: Error>(_ body: (StoreReader) throws(Failure) -> Void) throws(Failure) {
    try reader.withLock { reader throws(Failure) in try body(reader) }
  }

  /// Logs a fault of the database, at most once a minute for each app.
  func logFault(_ what: String, _ error: StoreFault, app: AppSlug? = nil, _ fields: LogFields = [:]) {
    faultLines.logFault(
      what, error, app: app, fields, to: dependencies.log, now: dependencies.clock.monotonic)
  }
}
