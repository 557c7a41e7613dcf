// What the workers behind merchant backends need: their connection to the database, their transfers, and the
// parts that they share with the rest of the relay. A value; any thread.

internal import Domain
public import HTTPClient
public import Platform
public import Service
public import Store

/// The parts of a worker. Each worker has its own transport and its own reader.
public struct BackendParts: Sendable {
  let transport: any HTTPTransport
  let reader: Monitor<StoreReader>
  /// The apps at the start.
  let directory: AppDirectory
  let committer: Committer
  let metrics: Metrics
  let dependencies: Dependencies
  let ownership: any Ownership
  let requestLog: RequestLog
  private let grace: Duration

  /// - Parameter grace: how long calls under way may take after a stop began.
  public init(
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
}
