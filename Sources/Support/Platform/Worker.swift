// The thread of every component that runs separately: a thread, an inbox, a wake-up and a stop. The thread
// runs steps, which a simulation can run without it.

/// The messages for a worker.
public protocol WorkerInbox {
  /// Set by the stop; the worker ends when it reads it.
  var isStopping: Bool { get set }
}

/// A thread with an inbox.
///
/// Any thread may change the inbox, which wakes the worker; the worker reads it on its own thread. Both hold
/// the lock, so the closures must not call other components.
public final class Worker<Inbox: WorkerInbox>: Sendable {
  private struct State {
    var inbox: Inbox
    /// Whether the thread was woken and has not read the inbox since.
    var isWoken = false
    var thread: WorkerThread?
  }

  private let name: String
  private let interrupt: @Sendable () -> Void
  private let state: Monitor<State>

  /// - Parameters:
  ///   - name: shown by `top -H` and in debuggers; the kernel keeps 15 bytes.
  ///   - interrupt: ends what the thread waits for besides its inbox, such as answers from the network.
  public init(_ name: String, inbox: sending Inbox, interrupt: @escaping @Sendable () -> Void = {}) {
    self.name = name
    self.interrupt = interrupt
    state = Monitor(State(inbox: inbox))
  }

  /// Starts the thread. `stop` must be called to end it.
  public func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let thread = try WorkerThread(name: name, body)
    state.withLock { $0.thread = thread }
  }

  // MARK: Other threads

  /// Posts a message, and wakes the worker. Calls `interrupt` only if the worker has read all earlier
  /// messages.
  @discardableResult
  public func post<Result>(_ change: (inout Inbox) -> Result) -> Result {
    let (result, hasUnread) = state.update { state in
      let result = change(&state.inbox)
      defer { state.isWoken = true }
      return (result, state.isWoken)
    }
    if !hasUnread { interrupt() }
    return result
  }

  /// Changes the inbox, and wakes the worker if `change` returns true.
  /// - Parameter change: returns whether the worker must act on the change now.
  public func offer(_ change: (inout Inbox) -> Bool) {
    if withInbox(change) { post { _ in } }
  }

  /// Reads or changes the inbox without waking the worker.
  public func withInbox<Result>(_ body: (inout Inbox) -> Result) -> Result {
    state.withLock { body(&$0.inbox) }
  }

  /// Asks the worker to end.
  public func requestStop() { post { $0.isStopping = true } }

  /// Asks the worker to end, and waits for it. Does nothing for a worker that was not started.
  public func stop() {
    requestStop()
    let thread = state.withLock { state in
      defer { state.thread = nil }
      return state.thread
    }
    thread?.join()
  }

  // MARK: The worker's thread

  /// Reads the inbox. A message that is posted after this wakes the worker again.
  public func read<Result>(_ body: (inout Inbox) -> Result) -> Result {
    state.withLock { state in
      state.isWoken = false
      return body(&state.inbox)
    }
  }

  /// Reads all messages, and leaves an inbox without any.
  public func dequeueAll(leaving empty: Inbox) -> Inbox {
    read { inbox in
      defer {
        let isStopping = inbox.isStopping
        inbox = empty
        inbox.isStopping = isStopping
      }
      return inbox
    }
  }

  public var isStopping: Bool { state.withLock { $0.inbox.isStopping } }

  /// Waits until there is a message to read. Does not wait once a stop is asked for: a worker that looks at
  /// `isStopping` and then reads its inbox has read the stop, too, if it was posted in between.
  /// - Parameter deadline: on the monotonic clock; nil waits for ever.
  public func wait(until deadline: MonotonicInstant? = nil) {
    let _: Bool? = state.wait(until: deadline) { $0.isWoken || $0.inbox.isStopping ? true : nil }
  }
}

// MARK: - Dependencies

// The dependencies of every worker; tests and simulations inject their own. A value.

/// A worker's log, clock and randomness, and how often it polls for unreported changes.
public struct Dependencies: Sendable {
  /// The default of `lookInterval`.
  public static let lookInterval: Duration = .seconds(5)

  public var log: Log
  public var clock: any Clock
  public var random: any RandomNumberGenerator & Sendable
  /// The longest sleep of a worker. A change that did not wake it (the wall clock was set, or another process
  /// changed the database and could not send the signal) is found within this time.
  public var lookInterval: Duration

  public init(
    log: Log, clock: any Clock, random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
    lookInterval: Duration = Self.lookInterval
  ) {
    self.log = log
    self.clock = clock
    self.random = random
    self.lookInterval = lookInterval
  }
}
