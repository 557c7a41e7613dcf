// The backend worker: carries out the steps of merchant backends. It calls the payment processors, reads what
// users have started, and stores payments through the committer. One thread with its own connection and
// transfers; requests that wait for it hold no thread. It must never write: payments go to the committer.

internal import Domain
internal import HTTPClient
internal import Partners
public import Platform
public import Service
internal import Store

/// Answers requests to merchant backends. Thread-safe.
public final class BackendWorker: Sendable {
  /// The most calls under way, of all apps together.
  public static let transfersMax = 256

  /// Messages from other threads.
  struct Inbox: WorkerInbox {
    var begun: [BackendFlow] = []
    /// Payments and payers that are on disk, or could not be stored, by the tag of their flow.
    var stored: [(tag: UInt64, result: Result<Bool?, StoreFault>)] = []
    var directory: AppDirectory?
    var isStopping = false
  }

  let worker: Worker<Inbox>
  let parts: BackendParts
  /// Carries out the orders to capture payments.
  let captures: CaptureWorker

  public init(_ parts: BackendParts, captures: CaptureWorker) {
    let transport = parts.transport
    worker = Worker("backends", inbox: Inbox()) { transport.wake() }
    self.parts = parts
    self.captures = captures
  }

  public func start() throws(SystemError) {
    try worker.start { [self] in drive { run in run.loop() } }
  }

  /// Runs the worker's work on the caller's thread.
  func drive(_ body: (inout BackendWorkerRun) -> Void) {
    parts.reader.withLock { reader in
      var run = BackendWorkerRun(self, reader: reader, directory: parts.directory)
      body(&run)
    }
  }

  /// Installs new apps. Requests under way end with those that they began with.
  public func use(_ directory: AppDirectory) { worker.post { $0.directory = directory } }

  /// Begins no further request. Calls under way have their grace period from now on.
  public func windDown() { worker.requestStop() }

  /// Winds down and ends the thread. What calls under way report until then is stored.
  public func stop() { worker.stop() }

  // MARK: Any thread

  /// Carries out the steps of a request.
  /// - Returns: false if the worker is stopping; then it does nothing.
  func begin(_ flow: BackendFlow) -> Bool {
    worker.post { inbox in
      if inbox.isStopping { return false }
      inbox.begun.append(flow)
      return true
    }
  }

  /// Answers a request. Counts or logs why the processor could not serve it.
  func finish(_ flow: BackendFlow, _ answer: BackendAnswer) {
    if let trouble = answer.trouble {
      parts.metrics.backendTroubles.increment(
        flow.place.app.text, flow.place.processor.text, trouble.rawValue)
      parts.requestLog.processorTrouble(
        trouble.words, reason: trouble.rawValue, isGrave: trouble == .credentials, of: flow.place,
        failure: flow.failure, requestID: flow.client.requestID)
    }
    if let errorID = answer.errorID {
      parts.requestLog.processorRefusal(
        errorID, status: answer.status, of: flow.place, requestID: flow.client.requestID)
    }
    flow.client.answer(answer)
  }
}
