// The thread shell of every part that works on its own: a thread, an inbox, a wake-up and a stop. What the
// thread does is a step that a simulation can take without it.

/// What others leave for a worker.
public protocol WorkerInbox {
  /// Set by the stop; a worker that sees it comes to its end.
  var isStopping: Bool { get set }
}

/// A thread with an inbox.
///
/// Others change the inbox from any thread, which wakes the worker; the worker reads it on its own thread.
/// Both happen under one lock, so nobody may call out from there.
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

  /// Starts the thread. `stop` must be called; it is what ends it.
  public func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let thread = try WorkerThread(name: name, body)
    state.withLock { $0.thread = thread }
  }

  // MARK: Others

  /// Leaves a message, and wakes the worker, unless an earlier message that it has not read did.
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

  /// Changes the inbox, and wakes the worker only if that matters to it now.
  /// - Parameter change: returns whether it does.
  public func offer(_ change: (inout Inbox) -> Bool) {
    if withInbox(change) { post { _ in } }
  }

  /// Looks at the inbox, or changes what the worker need not know at once.
  public func withInbox<Result>(_ body: (inout Inbox) -> Result) -> Result {
    state.withLock { body(&$0.inbox) }
  }

  /// Asks the worker to come to its end.
  public func requestStop() { post { $0.isStopping = true } }

  /// Asks the worker to come to its end, and waits until it has. Does nothing for one that was not started.
  public func stop() {
    requestStop()
    let thread = state.withLock { state in
      defer { state.thread = nil }
      return state.thread
    }
    thread?.join()
  }

  // MARK: The worker itself

  /// Reads the inbox. What comes after this wakes the worker again.
  public func read<Result>(_ body: (inout Inbox) -> Result) -> Result {
    state.withLock { state in
      state.isWoken = false
      return body(&state.inbox)
    }
  }

  public var isStopping: Bool { state.withLock { $0.inbox.isStopping } }

  /// Waits until there is something to read.
  /// - Parameter deadline: on the monotonic clock; nil waits for ever.
  public func wait(until deadline: MonotonicInstant? = nil) {
    let _: Bool? = state.wait(until: deadline) { $0.isWoken ? true : nil }
  }
}
