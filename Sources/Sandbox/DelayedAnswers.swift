// Delays answers: one thread sleeps until the next one is due. The server's threads only add answers.

internal import HTTPServer
internal import Platform

final class DelayedAnswers: Sendable {
  private struct Entry {
    var due: MonotonicInstant
    var responder: Responder
    var response: Response
  }

  private struct State {
    var waiting: [Entry] = []
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
    let due = MonotonicInstant.now().advanced(by: delay)
    let isWaiting = state.update { state in
      if !state.isStopping { state.waiting.append(Entry(due: due, responder: responder, response: response)) }
      return !state.isStopping
    }
    if !isWaiting { responder.respond(response) }
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
      for entry in due { entry.responder.respond(entry.response) }
      isStopping = stops
    }
  }
}
