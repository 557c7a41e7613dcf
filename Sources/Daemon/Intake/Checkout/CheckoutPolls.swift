// Long polling for the state of a checkout. A waiting request holds no thread, only an entry here. It is
// answered when the state becomes final or its time is up. Requests arrive on libmicrohttpd's threads; the
// housekeeper's thread completes them. The listener's thread reports clients that hang up.

internal import Config
internal import Domain
internal import Formats
internal import HTTPServer
internal import Platform
internal import Reports
internal import Service
internal import Store

/// The long polls that are open, and their answers. Thread-safe.
final class CheckoutPolls: Sendable {
  static let waitSecondsMax: Int64 = 30

  /// `Retry-After` for a client whose request may not wait.
  static let retryAfterSeconds = 5

  private struct State {
    var polls: LongPollQueue
    var lastID: UInt64 = 0
    var looks = CheckoutLooks()
    /// Contexts whose state may have changed since the last check.
    var changed: Set<ContextID> = []
    var allChanged = false
    /// How many notifications of changes there were.
    var notificationCount: UInt64 = 0
    /// Set when the daemon stops: no request waits from then on.
    var isClosed = false
  }

  private let state: Monitor<State>
  private let metrics: Metrics
  private let reader: Monitor<StoreReader>
  private let processors: ProcessorRegistry
  private let clock: any Clock
  private let log: Log
  private let faultLines = LogLimiter()
  /// Wakes the housekeeper.
  private let onChange: @Sendable () -> Void

  init(
    reader: sending StoreReader, processors: ProcessorRegistry, limits: LongPollLimits = LongPollLimits(),
    metrics: Metrics, clock: any Clock, log: Log, onChange: @escaping @Sendable () -> Void
  ) {
    self.processors = processors
    state = Monitor(State(polls: LongPollQueue(limits)))
    self.metrics = metrics
    self.reader = Monitor(reader)
    self.clock = clock
    self.log = log
    self.onChange = onChange
  }

  /// The number of requests that wait now.
  var waitingCount: Int { state.withLock { $0.polls.count } }

  /// The number of requests that began to wait, since the start.
  var begunCount: UInt64 { state.withLock { $0.lastID } }

  /// Answers at once if the state is final, if the request does not wait, or if too many requests wait.
  /// Otherwise answers when the state becomes final or the time is up.
  /// - Parameters:
  ///   - user: the user that the context must belong to; nil for any user.
  ///   - client: the address that the limits count; nil for this machine, which is not limited.
  func answer(
    contextID: ContextID, app: AppSlug, user: UserID? = nil, client: AddressGroup?, _ head: RequestHead,
    _ exchange: Exchange
  ) {
    guard let seconds = Self.waitSeconds(head.query) else {
      return exchange.answer(
        .invalid("invalid-wait", "`wait` is a whole number of seconds from 0 to \(Self.waitSecondsMax)."))
    }
    guard contextID.isWellFormed else {
      return exchange.answer(.unknownContext)
    }
    let notificationCount = state.withLock { $0.notificationCount }
    let first = read(contextID, app: app).map { status -> CheckoutStatus? in
      guard let user else { return status }
      // Another user's context gets the answer of an unknown one: its existence is not disclosed.
      return status?.userID == user ? status : nil
    }
    guard case .success(.some(let status)) = first, !status.state.isFinal, seconds > 0 else {
      return answer(exchange, contextID, app, with: first)
    }
    let until = clock.monotonic.advanced(by: .seconds(seconds))
    let expiry = status.expiresAt.map { expiresAt in
      // One millisecond after the expiry, on the monotonic clock that waits use.
      let now = Timestamp(unixMilliseconds: clock.wallMilliseconds)
      return clock.monotonic + expiresAt.duration(since: now) + .milliseconds(1)
    }
    let entry = state.withLock { state -> Entry in
      if state.isClosed { return .closed }
      guard state.polls.hasRoom(contextID: contextID, client: client) else { return .limited }
      state.lastID += 1
      let waiter = LongPollQueue.Waiter(
        id: state.lastID, app: app, exchange: exchange, client: client, until: until, expiry: expiry)
      state.polls.insert(waiter, contextID: contextID)
      let isNext = state.looks.add(contextID, at: waiter.nextLook)
      // The state that was read may have changed before the entry, and no other notification will come.
      let isStale = state.notificationCount != notificationCount
      if isStale { state.changed.insert(contextID) }
      return .waits(waiter.id, wakes: isNext || isStale)
    }
    switch entry {
    case .closed: return answer(exchange, contextID, app, with: first)
    case .limited:
      metrics.longPolls.increment("limited")
      return exchange.answer {
        var response = self.response(status, contextID, app, exchange)
        response.headers.append(("Retry-After", String(Self.retryAfterSeconds)))
        return response
      }
    case .waits(let id, let wakes):
      exchange.responder.onHangUp { [weak self] in self?.leave(id, contextID) }
      if wakes { onChange() }
    }
  }

  private enum Entry {
    case closed, limited
    /// - wakes: whether the housekeeper must check sooner than it intends.
    case waits(UInt64, wakes: Bool)
  }

  /// Removes the long poll of a client that hung up, to free its place. The client gets the current state,
  /// because it may have closed only its sending side.
  private func leave(_ id: UInt64, _ contextID: ContextID) {
    let gone = state.withLock { $0.polls.remove(contextID) { $0.id == id } }
    guard let waiter = gone.first else { return }
    metrics.longPolls.increment("abandoned")
    answer(waiter.exchange, contextID, waiter.app, with: read(contextID, app: waiter.app), closing: true)
  }

  /// The value of `wait` in a query: 0 if there is none, nil if it is invalid.
  static func waitSeconds(_ query: String?) -> Int64? {
    guard let query else { return 0 }
    // An undecodable query has no valid `wait`.
    guard let text = try? FormFields.value(of: "wait", in: query.utf8.span) else {
      return query.contains("wait") ? nil : 0
    }
    guard let seconds = Int64(text), (0...waitSecondsMax).contains(seconds) else { return nil }
    return seconds
  }

  private func read(_ contextID: ContextID, app: AppSlug) -> Result<CheckoutStatus?, StoreFault> {
    let now = Timestamp(unixMilliseconds: clock.wallMilliseconds)
    return reader.withLock { reader in
      do throws(StoreFault) {
        return .success(try reader.status(app: app, contextID: contextID, now: now))
      } catch {
        return .failure(error)
      }
    }
  }

  /// Returns the current state of the checkout of each name; nil for one that is not known.
  /// - Parameter requestID: for the log if the store fails.
  /// - Throws: `StoreFault` if the store cannot be read.
  func statuses(of names: [CheckoutName], app: AppSlug, requestID: String) throws(StoreFault)
    -> [CheckoutStatus?]
  {
    let now = Timestamp(unixMilliseconds: clock.wallMilliseconds)
    let result: Result<[CheckoutStatus?], StoreFault> = reader.withLock { reader in
      do throws(StoreFault) {
        var found: [CheckoutStatus?] = []
        for name in names {
          let status =
            switch name {
            case .context(let id): try reader.status(app: app, contextID: id, now: now)
            case .session(let id): try reader.status(app: app, sessionID: id)
            case .payment(let id): try reader.status(app: app, paymentID: id)
            }
          found.append(status)
        }
        return .success(found)
      } catch {
        return .failure(error)
      }
    }
    if case .failure(let error) = result { logFailure(error, requestID: requestID) }
    return try result.get()
  }

  /// Returns what was bought with a receipt's purchase, as far as the stored events say it; nil also if the
  /// store cannot be read.
  /// - Parameter requestID: for the log if the store fails.
  func summary(of receiptID: ReceiptID, app: AppSlug, requestID: String) -> PurchaseSummary? {
    do throws(StoreFault) {
      let bodies = try reader.withLock { reader throws(StoreFault) in
        try reader.summaryBodies(ofReceipt: receiptID, app: app, isWanted: processors.canSummarize)
      }
      return bodies.reduce(nil) { known, event in
        let found = processors.summary(event.processor, in: event.body)
        return found.map { known?.adding($0) ?? $0 } ?? known
      }
    } catch {
      logFailure(error, requestID: requestID)
      return nil
    }
  }

  /// The answer with a status; what was charged is read once it is paid.
  private func response(
    _ status: CheckoutStatus, as name: String = "context_id", _ id: some TextID, _ app: AppSlug,
    _ exchange: Exchange
  ) -> Response {
    let paid = status.paid ? status.receiptID : nil
    let bought = paid.flatMap { summary(of: $0, app: app, requestID: exchange.scope.requestID) }
    return status.response(as: name, id, bought)
  }

  /// The receipt of a claim that can still be used; nil for any other token.
  /// - Parameter requestID: for the log if the store fails.
  func openClaim(_ token: ClaimToken, app: AppSlug, requestID: String) throws(StoreFault) -> ReceiptID? {
    let now = Timestamp(unixMilliseconds: clock.wallMilliseconds)
    do throws(StoreFault) {
      let found = try reader.withLock { reader throws(StoreFault) in
        try reader.claim(token: token, app: app, now: now)
      }
      return found.flatMap { $0.state == .offered ? $0.receiptID : nil }
    } catch {
      logFailure(error, requestID: requestID)
      throw error
    }
  }

  /// Answers with the state of the purchase that a user claimed, at once.
  func answer(claimID: ClaimID, app: AppSlug, user: UserID, _ exchange: Exchange) {
    do throws(StoreFault) {
      let status = try reader.withLock { reader throws(StoreFault) in
        try reader.status(app: app, claimID: claimID, user: user)
      }
      guard let status else { return exchange.answer(.unknownClaim) }
      exchange.answer(response(status, as: "claim_id", claimID, app, exchange))
    } catch {
      logFailure(error, requestID: exchange.scope.requestID)
      exchange.answer(.readFailed)
    }
  }

  private func logFailure(_ error: StoreFault, requestID: String) {
    guard let count = faultLines.admit(error.kind.rawValue, now: clock.monotonic) else { return }
    log.error(
      "could not read the state of a checkout. \(error.kind.advice)",
      [
        "error": error.description, "left_out": count > 0 ? String(count) : nil, "request_id": requestID,
      ])
  }

  private func answer(
    _ exchange: Exchange, _ contextID: ContextID, _ app: AppSlug,
    with result: Result<CheckoutStatus?, StoreFault>, closing: Bool = false
  ) {
    switch result {
    case .success(.some(let status)):
      var response = response(status, contextID, app, exchange)
      response.closesConnection = closing
      exchange.answer(response)
    case .success(nil): exchange.answer(.unknownContext)
    case .failure(let error):
      logFailure(error, requestID: exchange.scope.requestID)
      exchange.answer(.readFailed)
    }
  }

  /// Notes that the states of these contexts may have changed.
  func noteChanged(_ contextIDs: Set<ContextID>) {
    let matters = state.withLock { state in
      if !contextIDs.isEmpty { state.notificationCount += 1 }
      let waited = contextIDs.filter { state.polls.byContext[$0] != nil }
      state.changed.formUnion(waited)
      return !waited.isEmpty
    }
    if matters { onChange() }
  }

  /// Notes that any state may have changed, because another process wrote to the database.
  func noteAllChanged() {
    state.withLock { state in
      state.notificationCount += 1
      state.allChanged = true
    }
  }

  /// Answers the long polls whose checkout became final or whose time is up. The housekeeper's thread.
  /// - Returns: when to check again; nil if no request waits.
  func completeDue() -> MonotonicInstant? {
    let now = clock.monotonic
    let suspects = state.withLock { state in
      let changed = state.allChanged ? Set(state.polls.byContext.keys) : state.changed
      state.changed = []
      state.allChanged = false
      return changed.union(state.looks.removeDue(now))
    }
    for contextID in suspects { complete(contextID, now: now) }
    return state.withLock { $0.looks.next }
  }

  private func complete(_ contextID: ContextID, now: MonotonicInstant) {
    let waiters = state.withLock { $0.polls.byContext[contextID] ?? [] }
    guard let app = waiters.first?.app else { return }
    let result = read(contextID, app: app)
    var isOver = true
    if case .success(.some(let status)) = result { isOver = status.state.isFinal }
    let answered = state.withLock { state in
      let leaving = state.polls.remove(contextID) { isOver || $0.until <= now }
      // The remaining ones have been checked: a context that has not expired by then is claimed, and its
      // purchase will notify changes.
      state.polls.dropExpiries(contextID, before: now)
      for waiter in state.polls.byContext[contextID] ?? [] {
        state.looks.add(contextID, at: waiter.nextLook)
      }
      return leaving
    }
    for waiter in answered {
      metrics.longPolls.increment("answered")
      answer(waiter.exchange, contextID, app, with: result)
    }
  }

  /// Answers all long polls with the current state, and each later request at once. For the stop of the
  /// daemon.
  func answerAll() {
    let everyone = state.withLock { state in
      state.isClosed = true
      return Array(state.polls.byContext.keys).map { ($0, state.polls.remove($0) { _ in true }) }
    }
    for (contextID, waiters) in everyone {
      for waiter in waiters {
        answer(waiter.exchange, contextID, waiter.app, with: read(contextID, app: waiter.app))
      }
    }
  }
}

// MARK: - CheckoutLooks

// The times of the checks of long polls. A value, guarded by the lock of CheckoutPolls.

/// When to check which checkouts. Times are rounded up to steps, so that one check serves many requests.
struct CheckoutLooks {
  /// How much later than its due time a request may be answered.
  static let stepNanoseconds: Int64 = 10_000_000

  private var contexts: [MonotonicInstant: Set<ContextID>] = [:]
  /// The keys of `contexts` in ascending order. Most requests wait equally long, so most steps are appended.
  private var steps: [MonotonicInstant] = []

  /// The earliest time.
  var next: MonotonicInstant? { steps.first }

  /// - Returns: whether this time is earlier than all others.
  @discardableResult
  mutating func add(_ contextID: ContextID, at moment: MonotonicInstant) -> Bool {
    let size = Self.stepNanoseconds
    let step = MonotonicInstant(nanoseconds: (moment.nanoseconds / size + 1) * size)
    if contexts[step]?.insert(contextID) != nil { return false }
    contexts[step] = [contextID]
    let position = (steps.lastIndex { $0 < step } ?? -1) + 1
    steps.insert(step, at: position)
    return position == 0
  }

  /// Removes the times until `now`.
  /// - Returns: the checkouts to check.
  mutating func removeDue(_ now: MonotonicInstant) -> Set<ContextID> {
    let due = steps.prefix { $0 <= now }
    var found: Set<ContextID> = []
    for step in due { found.formUnion(contexts.removeValue(forKey: step) ?? []) }
    steps.removeFirst(due.count)
    return found
  }
}
