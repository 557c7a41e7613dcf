// Work on a database that takes a while: one progress bar for all of its steps, and a clean end when a signal
// asks for it. The command's thread does the work; one thread draws, another one waits for signals.

internal import Platform
internal import SQLiteStore
internal import Store
internal import Terminal

/// The steps of one command. Thread-safe.
final class LongWork: CopySteps, Sendable {
  private struct State {
    var label = ""
    /// The shares of all work where the present step begins and ends.
    var from = 0.0
    var to = 0.0
    /// Of the present step.
    var share = 0.0
    var measure: (@Sendable () -> Double)?
    var interrupt: (@Sendable () -> Void)?
    var isInStep = false
    var isStopping = false
    var hasEnded = false
    var bar: ShareBar
  }

  private static let drawInterval: Duration = .milliseconds(100)
  /// An interrupt has no effect between two statements, so it is repeated.
  private static let interruptInterval: Duration = .milliseconds(10)
  /// What does not end by then, such as a sync of a large file, is ended with the process.
  private static let stopTime: Duration = .milliseconds(600)

  private let state: Monitor<State>

  private init(_ output: Output) { state = Monitor(State(bar: ShareBar(on: output.notes))) }

  /// Does some work.
  /// - Parameters:
  ///   - left: what a stop leaves behind, as the end of a sentence: `nothing was changed`.
  ///   - undo: removes what a stop would leave; called on another thread, if the work does not end in time.
  ///     Returns whether the process may end; false when the work cannot be undone and goes on.
  /// - Throws: `tryAgain` if a signal has stopped the work.
  static func run<Result>(
    _ session: Session, left: String, undo: @escaping @Sendable () -> Bool = { true },
    _ body: (LongWork) throws -> Result
  ) throws -> Result {
    let output = session.output
    let work = LongWork(output)
    var result: Result?
    try session.dependencies.guarding({
      guard !work.stops() else { return false }
      guard undo() else { return false }
      work.clear()
      output.error("stopped by a signal; \(left)")
      return true
    }) {
      let painter = output.notes.isTerminal ? try WorkerThread(name: "progress") { work.draw() } : nil
      defer {
        work.end()
        painter?.join()
      }
      do {
        result = try body(work)
        work.finish()
      } catch  where work.isStopping {
        work.clear()
        throw OperatorFault(.tryAgain, "stopped by a signal; \(left)")
      } catch {
        work.clear()
        throw error
      }
    }
    guard let result else { throw OperatorFault(.tryAgain, "stopped by a signal; \(left)") }
    return result
  }

  /// Whether a signal has asked for the end.
  var isStopping: Bool { state.withLock { $0.isStopping } }

  /// Does one step.
  /// - Parameters:
  ///   - end: the share of all work that is done after it.
  ///   - interrupt: ends it from another thread, with an error.
  ///   - measure: the share of the step that is done, as another thread sees it.
  func step<Result>(
    _ label: String, to end: Double, interrupt: (@Sendable () -> Void)? = nil,
    measure: (@Sendable () -> Double)? = nil, _ body: () throws -> Result
  ) throws -> Result {
    try state.withLock { state in
      guard !state.isStopping else { throw StoreFault.stopped }
      (state.label, state.from, state.to, state.share) = (label, state.to, end, 0)
      (state.measure, state.interrupt, state.isInStep) = (measure, interrupt, true)
    }
    defer {
      state.withLock { state in
        (state.measure, state.interrupt, state.isInStep) = (nil, nil, false)
        state.bar.clear()
      }
    }
    return try body()
  }

  /// Notes how much of the step is done, 0…1.
  /// - Parameter label: what it does now; nil if that did not change.
  func report(_ share: Double, _ label: String? = nil) {
    state.withLock { state in
      state.share = share
      if let label { state.label = label }
    }
  }

  /// Names what ends the step from another thread.
  func isInterrupted(by interrupt: @escaping @Sendable () -> Void) {
    state.withLock { if $0.isInStep { $0.interrupt = interrupt } }
  }

  /// Interrupts the step until the work has ended.
  /// - Returns: whether it has.
  private func stops() -> Bool {
    let deadline = MonotonicInstant.now().advanced(by: Self.stopTime)
    state.withLock { $0.isStopping = true }
    while MonotonicInstant.now() < deadline {
      state.withLock { $0.interrupt }?()
      let soon = MonotonicInstant.now().advanced(by: Self.interruptInterval)
      if state.wait(until: soon, { $0.hasEnded ? true : nil }) == true { return true }
    }
    return false
  }

  private func draw() {
    while true {
      let soon = MonotonicInstant.now().advanced(by: Self.drawInterval)
      if state.wait(until: soon, { $0.hasEnded ? true : nil }) == true { return }
      guard let measure = state.withLock({ $0.isInStep ? ($0.measure ?? { 0 }) : nil }) else { continue }
      let measured = measure()
      state.withLock { state in
        guard state.isInStep else { return }
        let share = min(0.99, max(state.share, measured))
        state.bar.update(state.label, share: state.from + (state.to - state.from) * share)
      }
    }
  }

  private func clear() { state.withLock { $0.bar.clear() } }

  private func finish() { state.withLock { $0.bar.finish() } }

  private func end() { state.update { $0.hasEnded = true } }
}

extension StoreFault {
  /// A signal asked for the end.
  static let stopped = StoreFault(.interrupted, operation: "step", reason: "stopped by a signal")
}
