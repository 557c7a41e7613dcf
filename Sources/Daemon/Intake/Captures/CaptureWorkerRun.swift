// The steps of the capture worker, and its state. The capture worker's thread.

internal import Domain
internal import Formats
internal import HTTPClient
internal import Partners
internal import Platform
internal import Service
internal import Store

/// One run of the worker, from start to stop.
struct CaptureWorkerRun {
  /// A call under way.
  private struct PendingCall {
    let capture: CaptureReference
    let place: AppProcessor
    let step: CaptureRun.Step
    /// As they were when it began.
    let captures: any PaymentCaptures
    let isAwaited: Bool
  }

  let owner: CaptureWorker
  private let reader: StoreReader
  let clock: any Clock
  private var directory: AppDirectory
  var openCaptures = OpenCaptures()
  private var calls: [UInt64: PendingCall] = [:]
  /// Outcomes that are being stored.
  var endingCount = 0
  private var places: BackendPlaces
  /// Of calls for which no app waits: half of the places, so that an app that waits finds one.
  private var unattendedPlaces: BackendPlaces
  /// When the open captures of a place are read; no entry for a place whose captures are all known.
  var readsAt: [AppProcessor: MonotonicInstant] = [:]
  /// The places that have captures.
  private var served: Set<AppProcessor> = []
  private var lastTag: UInt64 = 0
  /// When calls under way are cancelled; nil until a stop is requested.
  private var stopAt: MonotonicInstant?

  init(_ owner: CaptureWorker, reader: StoreReader, directory: AppDirectory) {
    self.owner = owner
    self.reader = reader
    self.directory = directory
    clock = owner.parts.dependencies.clock
    places = BackendPlaces(apps: 1)
    unattendedPlaces = BackendPlaces(apps: 1, divisor: 2)
    use(directory)
  }

  /// An instance carries out the orders of its own requests, also for apps that others own. If it ends before
  /// the capture, the owner finds that this long after the capture was due.
  private static let othersTime: Duration = .seconds(60)
  private static let othersPause: Duration = .seconds(15)
  private var isShared: Bool { owner.parts.ownership.apps != nil }

  /// The longest that the thread sleeps.
  private static let sleepMax: Duration = .seconds(60)

  var now: Timestamp { Timestamp(unixMilliseconds: clock.wallMilliseconds) }

  /// Runs steps until the stop.
  mutating func loop() {
    while let sleep = step() { handleAnswers(within: sleep) }
    cancelCalls()
  }

  /// Does what is due now, without waiting.
  /// - Returns: for how long nothing is due except answers; nil after the stop.
  mutating func step() -> Duration? {
    let news = owner.worker.read { inbox in
      defer {
        inbox = CaptureWorker.Inbox(ordersUnderWay: inbox.ordersUnderWay, isStopping: inbox.isStopping)
      }
      return inbox
    }
    if news.isStopping, stopAt == nil { stopAt = owner.parts.stopDeadline() }
    if let directory = news.directory ?? (news.isOwnershipDue ? directory : nil) { use(directory) }
    readOpenCaptures()
    for (row, place) in news.found { readOpenCapture(ofPurchase: row, of: place) }
    for (place, client, result) in news.ordered { admit(result, of: place, for: client) }
    for (capture, result) in news.ended { finishEnding(capture, result) }
    if stopAt == nil { startDue() }
    for request in openCaptures.popOverdue(now: clock.monotonic) { leaveOpen(request) }
    guard let stopAt else { return sleepTime() }
    let rest = stopAt.duration(since: clock.monotonic)
    let isIdle = calls.isEmpty && endingCount == 0 && news.ordersUnderWay == 0
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

  /// Handles the answers of processors; waits for them at most `time`.
  mutating func handleAnswers(within time: Duration) {
    for completion in owner.parts.transport.run(timeout: time) { finishCall(completion) }
  }

  /// Ends the calls under way. Their captures stay open in the database, and the next start looks them up.
  mutating func cancelCalls() {
    for completion in owner.parts.transport.cancelAll() { finishCall(completion) }
    for request in openCaptures.removeWaiting() { leaveOpen(request) }
  }

  // MARK: Apps

  private mutating func use(_ directory: AppDirectory) {
    self.directory = directory
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
    for place in all where owner.parts.ownership.tenure(of: place.app) == nil { readsAt[place] = nil }
    for place in Set(all).subtracting(served).union(isShared ? all : [])
    where owner.parts.ownership.tenure(of: place.app) != nil {
      readsAt[place] = clock.monotonic
    }
    // What failed until now, such as for a wrong secret, may succeed.
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
        owner.parts.requestLog.couldNotRead(error, of: place, requestID: nil)
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
      owner.parts.requestLog.couldNotRead(error, of: place, requestID: nil)
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

  /// Lets a capture wait until its next call. One whose outcome is to be stored again keeps its time.
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
    lastTag += 1
    do throws(TransferFailure) {
      try owner.parts.transport.start(request, tag: lastTag)
    } catch {
      return finish(capture, step: step, BackendReply(error), failure: error.rawValue, by: captures)
    }
    _ = places.acquire(entry.place.app)
    if !isAwaited { _ = unattendedPlaces.acquire(entry.place.app) }
    openCaptures[capture]?.activity = .calling
    calls[lastTag] = PendingCall(
      capture: capture, place: entry.place, step: step, captures: captures, isAwaited: isAwaited)
  }

  private mutating func finishCall(_ completion: TransferCompletion) {
    guard let call = calls.removeValue(forKey: completion.tag) else { return }
    places.release(call.place.app)
    if !call.isAwaited { unattendedPlaces.release(call.place.app) }
    let result = completion.result
    owner.parts.metrics.backendCallSeconds.observe(
      result.duration.inSeconds, call.place.processor.text)
    finish(
      call.capture, step: call.step, BackendReply(result), failure: result.failureText, by: call.captures)
  }
}
