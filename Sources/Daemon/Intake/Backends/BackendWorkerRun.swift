// The steps of the backend worker, and its state. The backend worker's thread.

internal import Domain
internal import Formats
internal import HTTPClient
internal import Partners
internal import Platform
internal import Service
internal import Store

/// One run of the worker, from start to stop.
struct BackendWorkerRun {
  private typealias AfterCall = @Sendable (BackendReply) -> BackendStep
  private typealias AfterStoring = @Sendable (_ outcome: Bool) -> BackendStep

  /// A call under way, with the requests that wait for its answer.
  private struct PendingCall {
    let place: AppProcessor
    /// The target, if its answer is kept.
    let cachedTarget: String?
    /// The generation of the configuration when it began.
    let generation: Int
    var waiting: [(flow: BackendFlow, then: AfterCall)]
  }

  private let owner: BackendWorker
  private let reader: StoreReader
  private let clock: any Clock
  private var calls: [UInt64: PendingCall] = [:]
  /// Requests whose payment or payer is being stored.
  private var storing: [UInt64: (flow: BackendFlow, then: AfterStoring)] = [:]
  private var places: BackendPlaces
  private var cache = BackendCache()
  /// Counts the configurations: answers for an earlier one are not kept.
  private var generation = 0
  private var lastTag: UInt64 = 0
  /// When calls under way are cancelled; nil until a stop is requested.
  private var stopAt: MonotonicInstant?
  /// Whether no call is sent any more.
  private var isOver = false

  init(_ owner: BackendWorker, reader: StoreReader, directory: AppDirectory) {
    self.owner = owner
    self.reader = reader
    clock = owner.parts.dependencies.clock
    places = BackendPlaces(apps: directory.apps.count)
  }

  /// The longest that the thread sleeps.
  private static let sleepMax: Duration = .seconds(60)

  /// Runs steps until the stop.
  mutating func loop() {
    while let sleep = step() { handleAnswers(within: sleep) }
    cancelCalls()
  }

  /// Does what can be done now, without waiting.
  /// - Returns: for how long nothing happens except answers; nil after the stop.
  mutating func step() -> Duration? {
    let news = owner.worker.read { inbox in
      defer { inbox = BackendWorker.Inbox(isStopping: inbox.isStopping) }
      return inbox
    }
    if news.isStopping, stopAt == nil { stopAt = owner.parts.stopDeadline() }
    if let directory = news.directory {
      places.use(apps: directory.apps.count)
      cache.removeAll()
      generation += 1
    }
    for flow in news.begun { advance(flow) }
    for (tag, result) in news.stored { finishStoring(tag, result) }
    guard let stopAt else { return Self.sleepMax }
    let rest = stopAt.duration(since: clock.monotonic)
    return calls.isEmpty && storing.isEmpty || rest <= .zero ? nil : min(rest, Self.sleepMax)
  }

  /// Handles the answers of processors; waits for them at most `time`.
  mutating func handleAnswers(within time: Duration) {
    for completion in owner.parts.transport.run(timeout: time) { finishCall(completion) }
  }

  /// Ends the calls under way. What is still to be stored goes to the committer, which stops later.
  mutating func cancelCalls() {
    isOver = true
    for completion in owner.parts.transport.cancelAll() { finishCall(completion) }
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
          guard let reply = begin(call, for: &flow, then, isCached: false) else { return }
          flow.step = then(reply)
        case .cached(let call, let then):
          guard let reply = beginCached(call, for: &flow, then) else { return }
          flow.step = then(reply)
        case .findCached(let target, let then):
          flow.step = then(cache.reply(to: target, of: flow.place, now: clock.monotonic))
        case .store(let report, let then):
          let payment = StorePayment(app: app, report, requestID: flow.client.requestID)
          // The payment of an erased user is not stored, and there is nothing to store.
          return store(payment, for: flow) { _ in then() }
        }
      }
      owner.parts.dependencies.log.error(
        "a merchant backend did not come to an end; this is a fault of receiptd",
        ["app": app.text, "processor": flow.place.processor.text])
      flow.client.refuse(.internalFault)
    } catch {
      owner.parts.requestLog.couldNotRead(error, of: flow.place, requestID: flow.client.requestID)
      flow.client.refuse(.readFailed)
    }
  }

  // MARK: Calls

  private mutating func beginCached(
    _ call: BackendCall, for flow: inout BackendFlow, _ then: @escaping AfterCall
  ) -> BackendReply? {
    if let reply = cache.reply(to: call.target, of: flow.place, now: clock.monotonic) { return reply }
    // Several requests wait for one call.
    if let tag = calls.first(where: {
      $0.value.place == flow.place && $0.value.cachedTarget == call.target
        && $0.value.generation == generation
    })?.key {
      calls[tag]?.waiting.append((flow, then))
      return nil
    }
    return begin(call, for: &flow, then, isCached: true)
  }

  /// Sends a call.
  /// - Returns: its reply, if nothing was sent; nil if the request waits, or is answered.
  private mutating func begin(
    _ call: BackendCall, for flow: inout BackendFlow, _ then: @escaping AfterCall, isCached: Bool
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
    lastTag += 1
    do throws(TransferFailure) {
      try owner.parts.transport.start(request, tag: lastTag)
    } catch {
      places.release(flow.place.app)
      flow.failure = error.rawValue
      if error == .poolFull { noteBusy(flow) }
      return BackendReply(error)
    }
    if call.method != "GET" { flow.hasEffects = true }
    calls[lastTag] = PendingCall(
      place: flow.place, cachedTarget: isCached ? call.target : nil, generation: generation,
      waiting: [(flow, then)])
    return nil
  }

  private func noteBusy(_ flow: BackendFlow) {
    owner.parts.requestLog.processorTrouble(
      "too many requests of an app wait for a payment processor: it is slow, or a client sends too many",
      reason: "busy", isGrave: false, of: flow.place, failure: nil,
      requestID: flow.client.requestID)
  }

  private mutating func finishCall(_ completion: TransferCompletion) {
    guard let call = calls.removeValue(forKey: completion.tag) else { return }
    places.release(call.place.app)
    let result = completion.result
    owner.parts.metrics.backendCallSeconds.observe(
      result.duration.inSeconds, call.place.processor.text)
    if let target = call.cachedTarget, call.generation == generation {
      cache.store(result, to: target, of: call.place, now: clock.monotonic)
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
    lastTag += 1
    let (tag, app, worker) = (lastTag, flow.place.app, owner.worker)
    storing[tag] = (flow, then)
    // What has happened at the processor must not be lost when many requests come. Calls are few.
    let isQueued = owner.parts.committer.submit(
      WhileConfigured(app, command), from: flow.hasEffects ? .internal : .external(app: app)
    ) { result in
      worker.post { $0.stored.append((tag, result)) }
    }
    guard !isQueued else { return }
    storing[tag] = nil
    flow.client.refuse(owner.parts.committer.refusal(for: app)?.problem ?? .busy)
  }

  private mutating func finishStoring(_ tag: UInt64, _ result: Result<Bool?, StoreFault>) {
    guard let (flow, then) = storing.removeValue(forKey: tag) else { return }
    switch result {
    case .success(let outcome?):
      var flow = flow
      flow.step = then(outcome)
      advance(flow)
    case .success(nil): flow.client.refuse(.unknownApp)
    case .failure(let error):
      owner.parts.requestLog.couldNotStore(
        error, route: flow.client.route, app: flow.place.app, requestID: flow.client.requestID)
      flow.client.refuse(.storeFailed)
    }
  }
}
