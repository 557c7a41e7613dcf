// The capture worker: carries out the orders to capture payments. It calls the processors, stores outcomes
// through the committer, and answers the apps' requests when the outcome is on disk. An obligation of before
// a restart is continued. One thread with its own connection and transfers. It must never write.

public import Domain
internal import Formats
internal import HTTPClient
internal import Partners
public import Platform
public import Service
internal import Store

/// Carries out captures. Thread-safe.
public final class CaptureWorker: Sendable {
  /// The most calls under way, of all apps together.
  public static let transfersMax = BackendWorker.transfersMax
  /// The pause after the database failed.
  static let faultPause: Duration = .seconds(5)

  /// What became of an order.
  typealias Ordered = Result<OrderCapture.Outcome?, StoreFault>

  /// Messages from other threads.
  struct Inbox: WorkerInbox {
    var ordered: [(place: AppProcessor, client: BackendClient, result: Ordered)] = []
    /// Orders that are being stored.
    var ordersUnderWay = 0
    /// Outcomes that are on disk, or could not be stored: false if the outcome was known before; nil if the
    /// app was removed.
    var ended: [(capture: CaptureReference, result: Result<Bool?, StoreFault>)] = []
    /// Payments whose captures were ordered without a request.
    var found: [PurchaseRowID: AppProcessor] = [:]
    var directory: AppDirectory?
    var isOwnershipDue = false
    var isStopping = false
  }

  let worker: Worker<Inbox>
  let parts: BackendParts

  public init(_ parts: BackendParts) {
    let transport = parts.transport
    worker = Worker("captures", inbox: Inbox()) { transport.wake() }
    self.parts = parts
  }

  public func start() throws(SystemError) {
    try worker.start { [self] in drive { run in run.loop() } }
  }

  /// Runs the worker's work on the caller's thread.
  func drive(_ body: (inout CaptureWorkerRun) -> Void) {
    parts.reader.withLock { reader in
      var run = CaptureWorkerRun(self, reader: reader, directory: parts.directory)
      body(&run)
    }
  }

  /// Installs new apps. A call under way ends as it began; what follows it uses the new settings.
  public func use(_ directory: AppDirectory) { worker.post { $0.directory = directory } }

  /// Checks whose captures this program continues now.
  public func checkOwnership() { worker.post { $0.isOwnershipDue = true } }

  /// Begins no further call. Calls under way have their grace period from now on.
  public func windDown() { worker.requestStop() }

  /// Winds down and ends the thread. What calls under way report until then is stored.
  public func stop() { worker.stop() }

  // MARK: Any thread

  /// Notes captures that the store ordered.
  public func note(_ ordered: [PurchaseRowID: AppProcessor]) {
    if !ordered.isEmpty { worker.post { $0.found.merge(ordered) { $1 } } }
  }

  /// Stores an order, carries it out, and answers the request when the outcome is known.
  func carryOut(_ order: CaptureOrder, of place: AppProcessor, for client: BackendClient) {
    let isOpen = worker.withInbox { inbox in
      if !inbox.isStopping { inbox.ordersUnderWay += 1 }
      return !inbox.isStopping
    }
    guard isOpen else { return client.refuse(.stopping) }
    let (app, worker) = (place.app, worker)
    let isQueued = parts.committer.submit(
      WhileConfigured(app, OrderCapture(app: app, order)), from: .external(app: app)
    ) { result in
      worker.post { inbox in
        inbox.ordersUnderWay -= 1
        inbox.ordered.append((place, client, result))
      }
    }
    guard !isQueued else { return }
    worker.post { $0.ordersUnderWay -= 1 }
    client.refuse(parts.committer.refusal(for: app)?.problem ?? .busy)
  }
}
