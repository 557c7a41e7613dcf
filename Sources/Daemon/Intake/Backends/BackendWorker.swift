// The backend worker: carries out the steps of merchant backends. It calls the payment processors, reads what
// users have started, and stores payments through the committer. One thread with its own connection and
// transfers; requests that wait for it hold no thread. It must never write: payments go to the committer.

internal import Domain
internal import Formats
internal import HTTPClient
internal import Partners
internal import Platform
internal import Service
internal import Store

/// Answers requests to merchant backends. Thread-safe.
final class BackendWorker: NetworkWorker {
  /// The most calls under way, of all apps together.
  static let transfersMax = 256

  /// Messages from other threads.
  struct Inbox: WorkerInbox {
    var begun: [BackendFlow] = []
    /// Requests whose payment or payer is on disk, or could not be stored.
    var stored:
      [(flow: BackendFlow, then: BackendWorkerRun.AfterStoring, result: Result<Bool?, StoreFault>)] =
        []
    var directory: AppDirectory?
    var isStopping = false
  }

  let worker: Worker<Inbox>
  let parts: WorkerParts
  /// Carries out the orders to capture payments.
  let captures: CaptureWorker

  init(_ parts: WorkerParts, captures: CaptureWorker) {
    let transport = parts.transport
    worker = Worker("backends", inbox: Inbox()) { transport.wake() }
    self.parts = parts
    self.captures = captures
  }

  func drive<Failure: Error>(_ body: (inout BackendWorkerRun) throws(Failure) -> Void) throws(Failure) {
    try parts.withReader { reader throws(Failure) in
      var run = BackendWorkerRun(self, reader: reader)
      try body(&run)
    }
  }

  /// Installs new apps. Requests under way keep the configuration that they began with.
  func use(_ directory: AppDirectory) { worker.post { $0.directory = directory } }

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

// MARK: - Steps

// The backend worker's thread.

/// One run of the worker, from start to stop.
struct BackendWorkerRun: NetworkRun {
  typealias AfterCall = @Sendable (BackendReply) -> BackendStep
  typealias AfterStoring = @Sendable (_ outcome: Bool) -> BackendStep

  /// A call under way, with the requests that wait for its answer.
  struct PendingCall {
    let place: AppProcessor
    /// Under what its answer is kept; nil if it is not.
    let cacheKey: String?
    var waiting: [(flow: BackendFlow, then: AfterCall)]
  }

  private let owner: BackendWorker
  private let reader: StoreReader
  private let parts: WorkerParts
  private let clock: any Clock
  var transfers: Transfers<PendingCall>
  /// How many payments and payers are being stored.
  private var storing = 0
  private var places: BackendPlaces
  private var cache = BackendCache()
  /// When calls under way are cancelled; nil until a stop is requested.
  private var stopAt: MonotonicInstant?
  /// Whether the worker has stopped: it sends no more calls.
  private var isOver = false

  init(_ owner: BackendWorker, reader: StoreReader) {
    self.owner = owner
    self.reader = reader
    parts = owner.parts
    clock = parts.dependencies.clock
    transfers = Transfers(parts.transport)
    places = BackendPlaces(apps: parts.directory.apps.count)
  }

  /// The thread's longest sleep.
  private static let sleepMax: Duration = .seconds(60)

  mutating func step() -> Duration? {
    let news = owner.worker.dequeueAll(leaving: BackendWorker.Inbox())
    if news.isStopping, stopAt == nil { stopAt = parts.stopDeadline() }
    if let directory = news.directory {
      places.use(apps: directory.apps.count)
      cache.removeAll()
    }
    for flow in news.begun { advance(flow) }
    for (flow, then, result) in news.stored { finishStoring(flow, then, result) }
    guard let stopAt else { return Self.sleepMax }
    let rest = stopAt.duration(since: clock.monotonic)
    return transfers.calls.isEmpty && storing == 0 || rest <= .zero ? nil : min(rest, Self.sleepMax)
  }

  /// Payments and payers that remain to be stored go to the committer, which stops later.
  mutating func cancelCalls() {
    isOver = true
    for completion in transfers.cancelAll() { finish(completion) }
  }

  // MARK: Steps

  /// Carries out the steps of a request until one must wait.
  private mutating func advance(_ flow: BackendFlow) {
    var flow = flow
    let app = flow.place.app
    do throws(StoreFault) {
      while flow.countStep() {
        switch flow.step {
        case .answer(let answer): return owner.finish(flow, answer)
        case .capture(let order): return owner.captures.carryOut(order, of: flow.place, for: flow.client)
        case .findContext(let id, let user, let then):
          flow.step = then(try reader.hasContext(id, app: app, user: user))
        case .findPayment(let key, let user, let then):
          let found = try reader.startedPayment(key, app: app, user: user)
          let capture = try found.flatMap { found throws(StoreFault) in
            try reader.capture(ofPurchase: found.rowID)
          }
          flow.step = then(found.map { StartedPayment($0, capture) })
        case .findCustomer(let customer, let user, let then):
          let account = flow.endpoint.account
          flow.step = then(try reader.belongs(customer, to: user, at: flow.place, account) ?? false)
        case .acquireCustomer(let customer, let user, let then):
          let account = flow.endpoint.account
          guard let isOwner = try reader.belongs(customer, to: user, at: flow.place, account) else {
            return store(AcquirePayer(customer, for: user, at: flow.place, account), for: flow, then)
          }
          flow.step = then(isOwner)
        case .call(let call, let then):
          guard let reply = begin(call, for: &flow, then, cacheKey: nil) else { return }
          flow.step = then(reply)
        case .cached(let call, let then):
          guard let reply = beginCached(call, for: &flow, then) else { return }
          flow.step = then(reply)
        case .findCached(let target, let then):
          let key = Self.cacheKey(target, flow)
          flow.step = then(cache.reply(to: key, of: flow.place, now: clock.monotonic))
        case .store(let report, let then):
          let payment = StorePayment(app: app, report, requestID: flow.client.requestID)
          // The payment of an erased user is not stored, and there is nothing to store.
          return store(payment, for: flow) { _ in then() }
        }
      }
      parts.dependencies.log.error(
        "a merchant backend did not come to an end; this is a fault of receiptd",
        ["app": app.text, "processor": flow.place.processor.text])
      flow.client.refuse(.internalFault)
    } catch {
      parts.requestLog.couldNotRead(error, of: flow.place, requestID: flow.client.requestID)
      flow.client.refuse(.readFailed)
    }
  }

  // MARK: Calls

  /// Another server or key may give another answer. A request keeps the configuration that it began with, so
  /// after a reload some still ask with the earlier one.
  private static func cacheKey(_ target: String, _ flow: BackendFlow) -> String {
    let headers = flow.endpoint.headers.map { "\($0.name): \($0.value)" }
    return ([flow.endpoint.base] + headers + [target]).joined(separator: "\n")
  }

  private mutating func beginCached(
    _ call: BackendCall, for flow: inout BackendFlow, _ then: @escaping AfterCall
  ) -> BackendReply? {
    let key = Self.cacheKey(call.target, flow)
    if let reply = cache.reply(to: key, of: flow.place, now: clock.monotonic) { return reply }
    // Several requests wait for one call.
    if let tag = transfers.calls.first(where: {
      $0.value.place == flow.place && $0.value.cacheKey == key
    })?.key {
      transfers.calls[tag]?.waiting.append((flow, then))
      return nil
    }
    return begin(call, for: &flow, then, cacheKey: key)
  }

  /// Sends a call.
  /// - Returns: its reply, if nothing was sent; nil if the request waits, or is answered.
  private mutating func begin(
    _ call: BackendCall, for flow: inout BackendFlow, _ then: @escaping AfterCall, cacheKey: String?
  ) -> BackendReply? {
    if isOver || (stopAt != nil && !flow.hasEffects) {
      flow.client.refuse(.stopping)
      return nil
    }
    guard let request = call.request(to: flow.endpoint.base, flow.endpoint.headers) else {
      return .unreachable
    }
    guard places.acquire(flow.place.app) else {
      noteBusy(flow)
      return .busy
    }
    var waiting = flow
    if call.method != "GET" { waiting.hasEffects = true }
    do throws(TransferFailure) {
      try transfers.start(
        request,
        for: PendingCall(place: flow.place, cacheKey: cacheKey, waiting: [(waiting, then)]))
    } catch {
      places.release(flow.place.app)
      flow.failure = error.rawValue
      if error == .poolFull { noteBusy(flow) }
      return BackendReply(error)
    }
    return nil
  }

  private func noteBusy(_ flow: BackendFlow) {
    parts.requestLog.processorTrouble(
      "too many requests of an app wait for a payment processor: it is slow, or a client sends too many",
      reason: "busy", isGrave: false, of: flow.place, failure: nil,
      requestID: flow.client.requestID)
  }

  mutating func finish(_ call: PendingCall, _ result: TransferResult) {
    places.release(call.place.app)
    parts.metrics.backendCallSeconds.observe(
      result.duration.inSeconds, call.place.processor.text)
    if let key = call.cacheKey {
      cache.store(result, to: key, of: call.place, now: clock.monotonic)
    }
    let reply = BackendReply(result)
    for (flow, then) in call.waiting {
      var flow = flow
      flow.failure = result.failureText
      flow.step = then(reply)
      advance(flow)
    }
  }

  // MARK: Payments and payers

  private mutating func store<Command: StoreCommand>(
    _ command: Command, for flow: BackendFlow, _ then: @escaping AfterStoring
  ) where Command.Outcome == Bool {
    let (app, worker) = (flow.place.app, owner.worker)
    storing += 1
    // A change at the processor must not be lost because the queue is full. Such calls are few.
    let isQueued = parts.committer.submit(
      WhileConfigured(app, command), from: flow.hasEffects ? .internal : .external(app: app)
    ) { result in
      worker.post { $0.stored.append((flow, then, result)) }
    }
    guard !isQueued else { return }
    storing -= 1
    flow.client.refuse(parts.committer.refusal(for: app)?.problem ?? .busy)
  }

  private mutating func finishStoring(
    _ flow: BackendFlow, _ then: AfterStoring, _ result: Result<Bool?, StoreFault>
  ) {
    storing -= 1
    switch result {
    case .success(let outcome?):
      var flow = flow
      flow.step = then(outcome)
      advance(flow)
    case .success(nil): flow.client.refuse(.unknownApp)
    case .failure(let error):
      parts.requestLog.couldNotStore(
        error, route: flow.client.route, app: flow.place.app, requestID: flow.client.requestID)
      flow.client.refuse(.storeFailed)
    }
  }
}
