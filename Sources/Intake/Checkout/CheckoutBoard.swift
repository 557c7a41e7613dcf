// Long polling for the state of a checkout: requests that wait hold no thread, only an entry here. Answers
// come when the state becomes final or the time is up. Requests come in on libmicrohttpd's threads; the
// housekeeper drives the rest, but for clients that hang up, which the listener's own thread reports.

internal import Domain
public import HTTPServer
public import HTTPService
public import Platform
internal import Presentation
public import Store
public import Telemetry

/// Who waits for which checkout.
public final class CheckoutBoard: Sendable {
  static let waitSecondsMax: Int64 = 30

  /// When a client whose request may not wait should ask again.
  static let retryAfterSeconds = 5

  private struct State {
    var polls: LongPolls
    var lastID: UInt64 = 0
    /// When to look at which checkouts, in steps: with many who wait, few of them are looked at.
    var looks: [MonotonicInstant: Set<String>] = [:]
    /// Contexts whose state may have changed since the last look.
    var changed: Set<String> = []
    var everyoneChanged = false
    /// The daemon stops: nobody waits any more.
    var isClosed = false

    mutating func schedule(_ contextID: String, at moment: MonotonicInstant) {
      let step = CheckoutBoard.stepNanoseconds
      let rounded = MonotonicInstant(nanoseconds: (moment.nanoseconds / step + 1) * step)
      looks[rounded, default: []].insert(contextID)
    }
  }

  /// How much later than its time is up a request may be answered, so that many are answered at once.
  private static let stepNanoseconds: Int64 = 10_000_000

  private let state: Monitor<State>
  private let metrics: Metrics
  private let reader: Monitor<StoreReader>
  private let clock: any Clock
  private let log: Log
  private let faultLines = LogLimiter()
  /// Wakes the housekeeper.
  private let onChange: @Sendable () -> Void

  public init(
    reader: sending StoreReader, limits: LongPollLimits = LongPollLimits(), metrics: Metrics,
    clock: any Clock, log: Log, onChange: @escaping @Sendable () -> Void
  ) {
    state = Monitor(State(polls: LongPolls(limits)))
    self.metrics = metrics
    self.reader = Monitor(reader)
    self.clock = clock
    self.log = log
    self.onChange = onChange
  }

  /// How many requests wait now.
  public var waitingCount: Int { state.withLock { $0.polls.count } }

  /// Answers at once when there is nothing to wait for, or when too many wait; else when there is.
  /// - Parameters:
  ///   - user: whose context it must be; nil for anyone's.
  ///   - client: who asks, for the limits; nil for this machine itself.
  public func answer(
    contextID: String, app: String, user: String? = nil, client: AddressGroup?, _ head: RequestHead,
    _ exchange: Exchange
  ) {
    guard let seconds = Self.waitSeconds(head.query) else {
      return exchange.answer(
        .invalid("invalid-wait", "`wait` is a whole number of seconds from 0 to \(Self.waitSecondsMax)."))
    }
    guard Identifier.isWellFormed(contextID, prefix: Identifier.contextPrefix) else {
      return exchange.answer(.unknownContext)
    }
    let first = read(contextID, app: app).map { status -> CheckoutStatus? in
      guard let user else { return status }
      // Another user's is answered as if there were none: that it exists is not theirs to know.
      return status?.userID?.utf8.elementsEqual(user.utf8) == true ? status : nil
    }
    guard case .success(.some(let status)) = first, !status.state.isFinal, seconds > 0 else {
      return answer(exchange, contextID, with: first)
    }
    let until = clock.monotonic.advanced(byMilliseconds: seconds * 1000)
    let expiry = status.expiresAt.map { expiresAt in
      // Just after it, by the clock that waits are measured with.
      clock.monotonic.advanced(byMilliseconds: expiresAt.unixMilliseconds - clock.wallMilliseconds + 1)
    }
    let entry = state.withLock { state -> Entry in
      if state.isClosed { return .closed }
      guard state.polls.hasRoom(contextID: contextID, client: client) else { return .limited }
      state.lastID += 1
      let waiter = LongPolls.Waiter(
        id: state.lastID, app: app, exchange: exchange, client: client, until: until, expiry: expiry)
      state.polls.insert(waiter, contextID: contextID)
      state.schedule(contextID, at: waiter.nextLook)
      return .waits(waiter.id)
    }
    switch entry {
    case .closed: return answer(exchange, contextID, with: first)
    case .limited:
      metrics.longPolls.increment("limited")
      return exchange.answer {
        var response = status.response(contextID: contextID)
        response.headers.append(("Retry-After", String(Self.retryAfterSeconds)))
        return response
      }
    case .waits(let id):
      exchange.responder.onHangUp { [weak self] in self?.leave(id, contextID) }
    }
    onChange()
    // It may have changed between the look and the entry, and nobody would say so again: look once more.
    if case .success(.some(let status)) = read(contextID, app: app), !status.state.isFinal { return }
    noteChanged([contextID])
  }

  private enum Entry {
    case closed, limited
    case waits(UInt64)
  }

  /// The client has hung up: its place is wanted for others. It gets the state as it is now, for it may have
  /// closed its side only.
  private func leave(_ id: UInt64, _ contextID: String) {
    let gone = state.withLock { $0.polls.remove(contextID) { $0.id == id } }
    guard let waiter = gone.first else { return }
    metrics.longPolls.increment("abandoned")
    answer(waiter.exchange, contextID, with: read(contextID, app: waiter.app), closing: true)
  }

  /// `wait` of a query; 0 without one, nil for what is no such number.
  static func waitSeconds(_ query: String?) -> Int64? {
    guard let query else { return 0 }
    // What cannot be decoded is no `wait` either way.
    guard let text = try? PercentEncoding.value(of: "wait", in: Array(query.utf8)[...]) else {
      return query.contains("wait") ? nil : 0
    }
    guard let seconds = Int64(text), (0...waitSecondsMax).contains(seconds) else { return nil }
    return seconds
  }

  private func read(_ contextID: String, app: String) -> Result<CheckoutStatus?, StoreFault> {
    let now = Timestamp(unixMilliseconds: clock.wallMilliseconds)
    return reader.withLock { reader in
      do throws(StoreFault) {
        return .success(try reader.status(app: app, contextID: contextID, now: now))
      } catch {
        return .failure(error)
      }
    }
  }

  /// What is known of a checkout right now: of the first of these names that means anything.
  /// - Parameter requestID: for the log, should the store fail.
  /// - Throws: when the store cannot be read.
  public func look(_ names: [CheckoutName], app: String, requestID: String) throws(StoreFault)
    -> CheckoutStatus?
  {
    let now = Timestamp(unixMilliseconds: clock.wallMilliseconds)
    let result: Result<CheckoutStatus?, StoreFault> = reader.withLock { reader in
      do throws(StoreFault) {
        for name in names {
          let status =
            switch name {
            case .context(let id): try reader.status(app: app, contextID: id, now: now)
            case .session(let id): try reader.status(app: app, sessionID: id)
            }
          if let status { return .success(status) }
        }
        return .success(nil)
      } catch {
        return .failure(error)
      }
    }
    if case .failure(let error) = result { logFailure(error, requestID: requestID) }
    return try result.get()
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
    _ exchange: Exchange, _ contextID: String, with result: Result<CheckoutStatus?, StoreFault>,
    closing: Bool = false
  ) {
    switch result {
    case .success(.some(let status)):
      var response = status.response(contextID: contextID)
      response.closesConnection = closing
      exchange.answer(response)
    case .success(nil): exchange.answer(.unknownContext)
    case .failure(let error):
      logFailure(error, requestID: exchange.scope.requestID)
      exchange.answer(.readFailed)
    }
  }

  /// These may have changed.
  public func noteChanged(_ contextIDs: Set<String>) {
    let matters = state.withLock { state in
      let waited = contextIDs.filter { state.polls.byContext[$0] != nil }
      state.changed.formUnion(waited)
      return !waited.isEmpty
    }
    if matters { onChange() }
  }

  /// Any may have changed: another process wrote to the database.
  public func noteEveryoneChanged() { state.withLock { $0.everyoneChanged = true } }

  /// Answers whoever's checkout became final and whoever's time is up.
  /// - Returns: when to look again; nil when nobody waits.
  public func attend() -> MonotonicInstant? {
    let now = clock.monotonic
    let suspects = state.withLock { state in
      let changed = state.everyoneChanged ? Set(state.polls.byContext.keys) : state.changed
      state.changed = []
      state.everyoneChanged = false
      var late: Set<String> = []
      for moment in state.looks.keys.filter({ $0 <= now }) {
        late.formUnion(state.looks.removeValue(forKey: moment) ?? [])
      }
      return changed.union(late)
    }
    for contextID in suspects { attend(contextID, now: now) }
    return state.withLock { $0.looks.keys.min() }
  }

  private func attend(_ contextID: String, now: MonotonicInstant) {
    let waiters = state.withLock { $0.polls.byContext[contextID] ?? [] }
    guard let app = waiters.first?.app else { return }
    let result = read(contextID, app: app)
    var isOver = true
    if case .success(.some(let status)) = result { isOver = status.state.isFinal }
    let answered = state.withLock { state in
      let leaving = state.polls.remove(contextID) { isOver || $0.until <= now }
      // Those that stay were looked at: what has not expired by then was claimed, and news will come of it.
      state.polls.dropExpiries(contextID, before: now)
      for waiter in state.polls.byContext[contextID] ?? [] {
        state.schedule(contextID, at: waiter.nextLook)
      }
      return leaving
    }
    for waiter in answered {
      metrics.longPolls.increment("answered")
      answer(waiter.exchange, contextID, with: result)
    }
  }

  /// Answers everyone with what is known, now and from now on: the daemon stops.
  public func dismissAll() {
    let everyone = state.withLock { state in
      state.isClosed = true
      return Array(state.polls.byContext.keys).map { ($0, state.polls.remove($0) { _ in true }) }
    }
    for (contextID, waiters) in everyone {
      for waiter in waiters { answer(waiter.exchange, contextID, with: read(contextID, app: waiter.app)) }
    }
  }
}
