// The capture worker: carries out the orders to capture payments. It calls the processors, stores outcomes
// through the committer, and answers the apps' requests when the outcome is on disk. Captures that
// were open before a restart are continued. One thread with its own connection and transfers. It must never
// write.

internal import Domain
internal import Formats
internal import HTTPClient
internal import Partners
internal import Platform
internal import Reports
internal import Service
internal import Store

/// Carries out captures. Thread-safe.
final class CaptureWorker: NetworkWorker {
  /// The most calls under way, of all apps together.
  static let transfersMax = BackendWorker.transfersMax
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
  let parts: WorkerParts

  init(_ parts: WorkerParts) {
    let transport = parts.transport
    worker = Worker("captures", inbox: Inbox()) { transport.wake() }
    self.parts = parts
  }

  func drive<Failure: Error>(_ body: (inout CaptureWorkerRun) throws(Failure) -> Void) throws(Failure) {
    try parts.withReader { reader throws(Failure) in
      var run = CaptureWorkerRun(self, reader: reader)
      try body(&run)
    }
  }

  /// Installs new apps. Calls under way keep their settings; later calls use the new ones.
  func use(_ directory: AppDirectory) { worker.post { $0.directory = directory } }

  /// Checks whose captures this program continues now.
  func checkOwnership() { worker.post { $0.isOwnershipDue = true } }

  // MARK: Any thread

  /// Notes captures that the store ordered.
  func note(_ ordered: [PurchaseRowID: AppProcessor]) {
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

// MARK: - Steps

// The steps of the capture worker, and its state. The capture worker's thread.

/// One run of the worker, from start to stop.
struct CaptureWorkerRun: NetworkRun {
  /// A call under way.
  struct PendingCall {
    let capture: CaptureReference
    let place: AppProcessor
    let step: CaptureRun.Step
    /// Those of the configuration when the call began.
    let captures: any PaymentCaptures
    let isAwaited: Bool
    /// The generation of the configuration when the call began.
    let generation: Int
  }

  let parts: WorkerParts
  let worker: Worker<CaptureWorker.Inbox>
  private let reader: StoreReader
  let clock: any Clock
  private var directory: AppDirectory
  /// Counts the configurations.
  private var generation = 0
  var openCaptures = OpenCaptures()
  var transfers: Transfers<PendingCall>
  /// Outcomes that are being stored.
  var endingCount = 0
  private var places: BackendPlaces
  /// Of calls for which no app waits: half of the places, so that an app that waits finds one.
  private var unattendedPlaces: BackendPlaces
  /// When the open captures of a place are read; no entry for a place whose captures are all known.
  var readsAt: [AppProcessor: MonotonicInstant] = [:]
  /// The places that have captures.
  private var served: Set<AppProcessor> = []
  /// When calls under way are cancelled; nil until a stop is requested.
  private var stopAt: MonotonicInstant?

  init(_ owner: CaptureWorker, reader: StoreReader) {
    parts = owner.parts
    worker = owner.worker
    self.reader = reader
    directory = parts.directory
    clock = parts.dependencies.clock
    transfers = Transfers(parts.transport)
    places = BackendPlaces(apps: 1)
    unattendedPlaces = BackendPlaces(apps: 1, divisor: 2)
    use(directory)
  }

  /// An instance carries out the orders of its own requests, also for apps that others own. If it ends before
  /// the capture, the owner finds that this long after the capture was due.
  private static let othersTime: Duration = .seconds(60)
  private static let othersPause: Duration = .seconds(15)
  private var isShared: Bool { parts.ownership.apps != nil }

  /// The thread's longest sleep.
  private static let sleepMax: Duration = .seconds(60)

  var now: Timestamp { Timestamp(unixMilliseconds: clock.wallMilliseconds) }

  mutating func step() -> Duration? {
    let news = worker.read { inbox in
      defer {
        inbox = CaptureWorker.Inbox(ordersUnderWay: inbox.ordersUnderWay, isStopping: inbox.isStopping)
      }
      return inbox
    }
    if news.isStopping, stopAt == nil { stopAt = parts.stopDeadline() }
    if let directory = news.directory ?? (news.isOwnershipDue ? directory : nil) { use(directory) }
    readOpenCaptures()
    for (row, place) in news.found { readOpenCapture(ofPurchase: row, of: place) }
    for (place, client, result) in news.ordered { admit(result, of: place, for: client) }
    for (capture, result) in news.ended { finishEnding(capture, result) }
    if stopAt == nil { startDue() }
    for request in openCaptures.popOverdue(now: clock.monotonic) { leaveOpen(request) }
    guard let stopAt else { return sleepTime() }
    let rest = stopAt.duration(since: clock.monotonic)
    let isIdle = transfers.calls.isEmpty && endingCount == 0 && news.ordersUnderWay == 0
    return isIdle || rest <= .zero ? nil : min(rest, Self.sleepMax)
  }

  private func sleepTime() -> Duration {
    var moments = [openCaptures.nextDeadline] + readsAt.values.map(Optional.some)
    // Captures without a free place wait for an answer, which wakes the thread.
    for place in openCaptures.places where places.hasRoom(for: place.app) {
      moments.append(openCaptures.nextDueAt(of: place, isAwaited: true))
      if unattendedPlaces.hasRoom(for: place.app) {
        moments.append(openCaptures.nextDueAt(of: place, isAwaited: false))
      }
    }
    guard let next = moments.compactMap(\.self).min() else { return Self.sleepMax }
    return min(max(.zero, next.duration(since: clock.monotonic)), Self.sleepMax)
  }

  /// The captures of calls under way stay open in the database, and the next start looks them up.
  mutating func cancelCalls() {
    for completion in transfers.cancelAll() { finish(completion) }
    for request in openCaptures.removeWaiting() { leaveOpen(request) }
  }

  // MARK: Apps

  private mutating func use(_ directory: AppDirectory) {
    self.directory = directory
    generation += 1
    places.use(apps: directory.apps.count)
    unattendedPlaces.use(apps: directory.apps.count)
    let all = directory.apps.values.flatMap { app in
      app.processors.filter { $0.value.captures != nil }.map { AppProcessor(app.slug, $0.key) }
    }
    for place in served.subtracting(all) {
      readsAt[place] = nil
      for request in openCaptures.remove(place) { leaveOpen(request) }
    }
    // The open captures of other apps are continued by the instance that owns those.
    for place in all where parts.ownership.lease(of: place.app) == nil { readsAt[place] = nil }
    for place in Set(all).subtracting(served).union(isShared ? all : [])
    where parts.ownership.lease(of: place.app) != nil {
      readsAt[place] = clock.monotonic
    }
    // Calls that failed until now, for instance because of a wrong secret, may succeed.
    for place in served.intersection(all) {
      for capture in openCaptures.idle(of: place) { hasten(capture) }
    }
    served = Set(all)
  }

  /// Makes the next call of a capture due now, unless a call is under way.
  mutating func hasten(_ capture: CaptureReference) {
    let now = now
    openCaptures[capture]?.run.hasten(now: now)
    if openCaptures[capture]?.activity == .idle { schedule(capture) }
  }

  func captures(of place: AppProcessor) -> (any PaymentCaptures)? {
    directory[place.app]?.processors[place.processor]?.captures
  }

  /// Continues the captures that the database has when a place begins to be served.
  private mutating func readOpenCaptures() {
    for (place, readAt) in readsAt where readAt <= clock.monotonic {
      do throws(StoreFault) {
        for open in try reader.openCaptures(of: place) where openCaptures[open.reference] == nil {
          guard !isShared || now.duration(since: open.retryAt) > Self.othersTime else { continue }
          add(open, of: place, resumed(open))
        }
        readsAt[place] = isShared ? clock.monotonic.advanced(by: Self.othersPause) : nil
      } catch {
        parts.requestLog.couldNotRead(error, of: place, requestID: nil)
        readsAt[place] = clock.monotonic.advanced(by: CaptureWorker.faultPause)
      }
    }
  }

  private mutating func readOpenCapture(ofPurchase row: PurchaseRowID, of place: AppProcessor) {
    // A place that is still to be read finds it then.
    guard served.contains(place), readsAt[place] == nil else { return }
    do throws(StoreFault) {
      guard let open = try reader.openCapture(ofPurchase: row), openCaptures[open.reference] == nil else {
        return
      }
      add(open, of: place, resumed(open))
    } catch {
      parts.requestLog.couldNotRead(error, of: place, requestID: nil)
      readsAt[place] = clock.monotonic.advanced(by: CaptureWorker.faultPause)
    }
  }

  func resumed(_ open: OpenCapture) -> CaptureRun {
    CaptureRun(
      CapturablePayment(open), failures: open.failures, retryAt: open.retryAt, isGivenUp: open.isGivenUp,
      now: now)
  }

  mutating func add(_ open: OpenCapture, of place: AppProcessor, _ run: CaptureRun) {
    openCaptures[open.reference] = CaptureEntry(open.reference, of: place, run)
    schedule(open.reference)
  }

  /// Wall times become monotonic ones here, so that a step of the clock changes no pause.
  func moment(of dueAt: Timestamp) -> MonotonicInstant {
    clock.monotonic.advanced(by: max(.zero, dueAt.duration(since: now)))
  }

  /// Schedules the next call of a capture. A capture whose outcome must be stored again keeps its time.
  mutating func schedule(_ capture: CaptureReference) {
    guard let entry = openCaptures[capture], entry.ending == nil, let dueAt = entry.run.dueAt else { return }
    openCaptures.schedule(capture, at: moment(of: dueAt))
  }
}

extension CaptureWorkerRun {
  // MARK: Calls

  /// Begins the calls that are due and have a place.
  private mutating func startDue() {
    let now = clock.monotonic
    for place in openCaptures.places {
      while places.hasRoom(for: place.app),
        let capture = openCaptures.popDue(of: place, isAwaited: true, now: now)
      {
        begin(capture, isAwaited: true)
      }
      while places.hasRoom(for: place.app), unattendedPlaces.hasRoom(for: place.app),
        let capture = openCaptures.popDue(of: place, isAwaited: false, now: now)
      {
        begin(capture, isAwaited: false)
      }
    }
  }

  private mutating func begin(_ capture: CaptureReference, isAwaited: Bool) {
    guard let entry = openCaptures[capture], let captures = captures(of: entry.place) else { return }
    if entry.ending != nil { return end(capture) }
    guard let step = entry.run.nextStep(by: captures),
      let request = step.call.request(to: captures.base, captures.headers)
    else {
      // A fault of the processor's code: there is no call. It must not keep the thread busy.
      return openCaptures.schedule(capture, at: clock.monotonic.advanced(by: CaptureWorker.faultPause))
    }
    do throws(TransferFailure) {
      try transfers.start(
        request,
        for: PendingCall(
          capture: capture, place: entry.place, step: step, captures: captures, isAwaited: isAwaited,
          generation: generation))
    } catch {
      return finish(capture, step: step, BackendReply(error), failure: error.rawValue, by: captures)
    }
    _ = places.acquire(entry.place.app)
    if !isAwaited { _ = unattendedPlaces.acquire(entry.place.app) }
    openCaptures[capture]?.activity = .calling
  }

  mutating func finish(_ call: PendingCall, _ result: TransferResult) {
    places.release(call.place.app)
    if !call.isAwaited { unattendedPlaces.release(call.place.app) }
    parts.metrics.backendCallSeconds.observe(
      result.duration.inSeconds, call.place.processor.text)
    finish(
      call.capture, step: call.step, BackendReply(result), failure: result.failureText, by: call.captures)
    // As those that were idle at the reload.
    if call.generation != generation { hasten(call.capture) }
  }
}

// MARK: - Outcomes

// How orders begin, and how captures end: what is stored, and who is answered. The capture worker's thread.

extension CaptureWorkerRun {
  // MARK: Orders

  /// Begins a capture whose order is on disk, or lets the request wait for the capture that it shares.
  mutating func admit(_ result: CaptureWorker.Ordered, of place: AppProcessor, for client: BackendClient) {
    switch result {
    case .success(.begun(let open, let isRepeat)):
      guard let captures = captures(of: place) else { return client.answer(.captureOutcomeUnknown) }
      if openCaptures[open.reference] == nil {
        add(open, of: place, CaptureRun(beginning: CapturablePayment(open), isRepeat: isRepeat, by: captures))
      }
      wait(client, for: open.reference, within: captures.answersWithin)
    case .success(.joined(let open)):
      guard let captures = captures(of: place) else { return client.answer(.captureOutcomeUnknown) }
      if openCaptures[open.reference] == nil { add(open, of: place, resumed(open)) }
      hasten(open.reference)
      wait(client, for: open.reference, within: captures.answersWithin)
    case .success(.ended(let outcome)): client.answer(BackendAnswer(outcome))
    case .success(.unknownPayment): client.answer(.unknownPayment)
    case .success(nil): client.refuse(.unknownApp)
    case .failure(let error):
      parts.requestLog.couldNotStore(
        error, route: client.route, app: place.app, requestID: client.requestID)
      client.refuse(.storeFailed)
    }
  }

  private mutating func wait(_ client: BackendClient, for capture: CaptureReference, within time: Duration) {
    let request = AwaitedCapture(client: client, answerBy: clock.monotonic.advanced(by: time))
    openCaptures.add(request, to: capture)
  }

  /// Answers a request whose capture goes on.
  func leaveOpen(_ request: AwaitedCapture) { request.client.answer(.captureOutcomeUnknown) }

  // MARK: Replies

  /// Applies the reply to a step, and stores what it changed.
  /// - Parameter failure: of the connection, for the log.
  mutating func finish(
    _ capture: CaptureReference, step: CaptureRun.Step, _ reply: BackendReply, failure: String?,
    by captures: any PaymentCaptures
  ) {
    guard var entry = openCaptures[capture] else { return }
    let (failures, wasGivenUp) = (entry.run.capture.failures, entry.run.capture.isGivenUp)
    let progress = entry.run.finish(step, reply, by: captures, now: now)
    if let trouble = progress.trouble { note(trouble, failure, of: entry.place) }
    if let outcome = entry.run.capture.outcome {
      entry.ending = (outcome, progress.report)
      openCaptures[capture] = entry
      return end(capture)
    }
    openCaptures[capture] = entry
    let isGivenUp = entry.run.capture.isGivenUp
    if isGivenUp, !wasGivenUp { noteRefusal(reply, of: entry) }
    if entry.run.capture.failures != failures || isGivenUp != wasGivenUp {
      // If this is not stored, a restart continues with a shorter pause, or sends once more.
      _ = parts.committer.submit(
        SaveCapture(
          capture, failures: entry.run.capture.failures, retryAt: entry.run.capture.retryAt,
          trouble: progress.trouble?.rawValue, isGivenUp: isGivenUp), from: .internal
      ) { _ in }
    }
    if self.captures(of: entry.place) == nil { return drop(capture) }
    schedule(capture)
  }

  private func noteRefusal(_ reply: BackendReply, of entry: CaptureEntry) {
    guard case .answer(let status, _, _) = reply else { return }
    parts.dependencies.log.error(
      "the processor refused a capture: it is looked up, and not sent again",
      [
        "app": entry.place.app.text, "processor": entry.place.processor.text,
        "object": entry.run.payment.key.id.text, "status": String(status),
      ])
  }

  private func note(_ trouble: BackendTrouble, _ failure: String?, of place: AppProcessor) {
    parts.metrics.backendTroubles.increment(place.app.text, place.processor.text, trouble.rawValue)
    parts.requestLog.processorTrouble(
      trouble.words, reason: trouble.rawValue, isGrave: trouble == .credentials, of: place,
      failure: failure, requestID: nil)
  }

  // MARK: Outcomes

  /// Stores the outcome. The app is answered when it is on disk.
  mutating func end(_ capture: CaptureReference) {
    guard let entry = openCaptures[capture], let ending = entry.ending else { return }
    let worker = worker
    let command = EndCapture(app: entry.place.app, capture, ending.outcome, report: ending.report)
    // An outcome of a removed app is not stored, because nothing would become of the purchase. The capture
    // stays open, and is looked up when there is such an app again.
    let isQueued = parts.committer.submit(WhileConfigured(entry.place.app, command), from: .internal) {
      result in
      worker.post { $0.ended.append((capture, result)) }
    }
    // Only the stop refuses it. The next start looks the payment up.
    guard isQueued else { return drop(capture) }
    openCaptures[capture]?.activity = .storing
    endingCount += 1
  }

  mutating func finishEnding(_ capture: CaptureReference, _ result: Result<Bool?, StoreFault>) {
    endingCount -= 1
    guard let entry = openCaptures[capture], let ending = entry.ending else { return }
    switch result {
    case .success(.some):
      report(ending.outcome, of: entry)
      openCaptures[capture] = nil
      for request in entry.waiting { request.client.answer(BackendAnswer(ending.outcome)) }
    case .success(nil):
      drop(capture)
      // The app was removed and is there again, as two reloads in a row do.
      if captures(of: entry.place) != nil { readsAt[entry.place] = clock.monotonic }
    case .failure(let error):
      parts.dependencies.log.error(
        "could not store the outcome of a capture; trying again. \(error.kind.advice)",
        ["app": entry.place.app.text, "processor": entry.place.processor.text, "error": error.description])
      if captures(of: entry.place) == nil { return drop(capture) }
      openCaptures.schedule(capture, at: clock.monotonic.advanced(by: CaptureWorker.faultPause))
    }
  }

  private func report(_ outcome: CaptureOutcome, of entry: CaptureEntry) {
    parts.metrics.captures.increment(
      entry.place.app.text, entry.place.processor.text, outcome.kind.rawValue)
    let fields: LogFields = [
      "app": entry.place.app.text, "processor": entry.place.processor.text,
      "object": entry.run.payment.key.id.text,
    ]
    switch outcome.kind {
    case .captured, .declined, .unconfirmed: break
    case .refused:
      parts.dependencies.log.info(
        "a payment cannot be captured any more; the payment at the processor says why", fields)
    case .abandoned:
      parts.dependencies.log.error(
        "gave up a capture: its outcome is unknown after a week, or the processor refused it. Look at the "
          + "payment at the processor", fields)
    }
  }

  /// Forgets a capture that stays open in the database.
  private mutating func drop(_ capture: CaptureReference) {
    for request in openCaptures[capture]?.waiting ?? [] { leaveOpen(request) }
    openCaptures[capture] = nil
  }
}

extension CapturablePayment {
  init(_ open: OpenCapture) {
    self.init(key: open.key, facts: open.facts, startedAt: open.startedAt, orderedAt: open.orderedAt)
  }
}
