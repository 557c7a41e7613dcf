// What all workers that ask servers have in common: a thread with an inbox, transfers that remember what they
// are for, and steps that a simulation runs without the thread.

public import Platform

/// A worker that asks servers. Thread-safe; its state is that of its run, on its thread.
public protocol NetworkWorker: Sendable {
  associatedtype Inbox: WorkerInbox
  associatedtype Run: NetworkRun

  var worker: Worker<Inbox> { get }
  /// Makes a run, and lets the caller's thread step it.
  func drive<Failure: Error>(_ body: (inout Run) throws(Failure) -> Void) throws(Failure)
  /// Starts nothing more. What is under way has its grace period, if any, from now on.
  func windDown()
}

extension NetworkWorker {
  public func start() throws(SystemError) {
    try worker.start { drive { run in run.loop() } }
  }

  public func windDown() { worker.requestStop() }

  /// Winds down and ends the thread.
  public func stop() {
    windDown()
    worker.stop()
  }
}

/// The work of a worker that asks servers, from start to stop. One thread.
public protocol NetworkRun {
  /// What is known about a transfer under way.
  associatedtype Call

  var transfers: Transfers<Call> { get set }
  /// Does what is due now, without waiting.
  /// - Returns: for how long nothing is due except answers; nil after the stop.
  mutating func step() -> Duration?
  /// Handles the answers that are there; waits for the first one at most `time`.
  mutating func handleAnswers(within time: Duration)
  /// Handles the end of a transfer.
  mutating func finish(_ call: Call, _ result: TransferResult)
  /// Ends what is under way after the last step, without handling its end unless the worker needs that.
  mutating func cancelCalls()
}

extension NetworkRun {
  /// Runs steps until the stop.
  mutating func loop() {
    while let sleep = step() { handleAnswers(within: sleep) }
    cancelCalls()
  }

  public mutating func handleAnswers(within time: Duration) {
    for completion in transfers.run(timeout: time) { finish(completion) }
  }

  /// Does nothing if the call was cancelled meanwhile.
  public mutating func finish(_ completion: TransferCompletion) {
    guard let call = transfers.calls.removeValue(forKey: completion.tag) else { return }
    finish(call, completion.result)
  }

  public mutating func cancelCalls() { transfers.discardAll() }
}

/// The transfers of one thread, each with the call that it belongs to.
public struct Transfers<Call> {
  /// Those under way, by the tags of their transfers.
  public var calls: [UInt64: Call] = [:]
  private let transport: any HTTPTransport
  private var lastTag: UInt64 = 0

  public init(_ transport: any HTTPTransport) { self.transport = transport }

  /// Starts a transfer.
  /// - Throws: as `TransferPool.start`; then `finish` is not called.
  public mutating func start(_ request: TransferRequest, for call: Call) throws(TransferFailure) {
    lastTag += 1
    try transport.start(request, tag: lastTag)
    calls[lastTag] = call
  }

  /// Ends the transfers of some calls; `finish` is not called for them.
  public mutating func cancel(_ isCancelled: (Call) -> Bool) {
    for (tag, call) in calls where isCancelled(call) {
      transport.cancel(tag: tag)
      calls[tag] = nil
    }
  }

  /// See `TransferPool.run`.
  public func run(timeout: Duration) -> [TransferCompletion] { transport.run(timeout: timeout) }

  /// Ends all transfers; the completions must be finished.
  public func cancelAll() -> [TransferCompletion] { transport.cancelAll() }

  /// Ends all transfers; `finish` is not called for them.
  public mutating func discardAll() {
    _ = transport.cancelAll()
    calls = [:]
  }
}
