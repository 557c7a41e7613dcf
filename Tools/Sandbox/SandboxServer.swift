// The server of a stand-in, and the timer that delays its answers: one thread sleeps until the next one is
// due. The server's threads only add answers.

internal import HTTPServer
internal import Platform

/// The server of a stand-in, for this machine only, and the timer of its late answers. `stop` ends both, and
/// so does `deinit`. Thread-safe.
final class SandboxServer<Handler: RequestHandler>: Sendable {
  let handler: Handler
  private let server: Server
  private let timer: DelayedAnswers

  /// - Parameters:
  ///   - port: 0 lets the system choose a free port.
  ///   - handler: makes the handler, which leaves late answers to the timer.
  init(port: UInt16, handler: (DelayedAnswers) -> Handler) throws(ServerError) {
    do {
      timer = try DelayedAnswers()
    } catch {
      throw .system(error)
    }
    self.handler = handler(timer)
    do throws(ServerError) {
      server = try Server(
        ServerConfiguration(address: SandboxDestination.address, port: port), handler: self.handler)
    } catch {
      timer.stop()
      throw error
    }
  }

  deinit { stop() }

  var port: UInt16 { server.port }
  var base: String { "http://\(SandboxDestination.address):\(port)" }

  /// Sends all waiting answers, closes everything, and returns when no thread is left.
  func stop() {
    timer.stop()
    server.stop(grace: .milliseconds(100))
  }
}

final class DelayedAnswers: Sendable {
  private struct Entry {
    var number: UInt64
    var due: MonotonicInstant
    var send: @Sendable () -> Void
  }

  private struct State {
    var waiting: [Entry] = []
    var count: UInt64 = 0
    var isStopping = false
  }

  private let state = Monitor(State())
  private let thread = Monitor<WorkerThread?>(nil)

  init() throws(SystemError) {
    let started = try WorkerThread(name: "sandbox-timer") { [state] in Self.run(state) }
    thread.withLock { $0 = started }
  }

  /// Answers after the delay; at once when the timer has stopped.
  func answer(_ responder: Responder, _ response: Response, after delay: Duration) {
    perform(after: delay) { responder.respond(response) }
  }

  /// Calls `send` after the delay, on the timer's thread; at once when the timer has stopped.
  /// - Returns: a number for `hasten`.
  @discardableResult
  func perform(after delay: Duration, _ send: @escaping @Sendable () -> Void) -> UInt64 {
    let due = MonotonicInstant.now().advanced(by: delay)
    let (number, isWaiting) = state.update { state in
      state.count += 1
      if !state.isStopping { state.waiting.append(Entry(number: state.count, due: due, send: send)) }
      return (state.count, !state.isStopping)
    }
    if !isWaiting { send() }
    return number
  }

  /// Makes an action due now.
  func hasten(_ number: UInt64) {
    state.update { state in
      guard let index = state.waiting.firstIndex(where: { $0.number == number }) else { return }
      state.waiting[index].due = .now()
    }
  }

  /// Sends all waiting answers, and ends the thread. May be called again.
  func stop() {
    state.update { $0.isStopping = true }
    let running = thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    running?.join()
  }

  private static func run(_ state: Monitor<State>) {
    var isStopping = false
    while !isStopping {
      let next = state.withLock { $0.waiting.map(\.due).min() }
      let now = MonotonicInstant.now()
      // Wakes after any change, and when the next answer is due.
      let _: Bool? = state.wait(until: next) { state in
        let nearest = state.waiting.map(\.due).min()
        return state.isStopping || nearest != next || (nearest.map { $0 <= now } ?? false) ? true : nil
      }
      let (due, stops) = state.withLock { state in
        let now = MonotonicInstant.now()
        let due = state.waiting.filter { state.isStopping || $0.due <= now }
        state.waiting.removeAll { state.isStopping || $0.due <= now }
        return (due, state.isStopping)
      }
      // Outside the lock: a responder calls into the server.
      for entry in due { entry.send() }
      isStopping = stops
    }
  }
}
