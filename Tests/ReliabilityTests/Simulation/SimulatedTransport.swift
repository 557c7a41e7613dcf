// The network of one worker of the relay. The other end is a `SimulatedServer`; answers arrive when the
// simulated clock has advanced by their latency. One for each worker, as in the daemon.

import HTTPClient
import Platform

/// The other end.
protocol SimulatedServer: Sendable {
  /// Receives a request, and returns the answer and its time.
  func answer(_ request: TransferRequest, now: Int64) -> SimulatedAnswer
}

/// The result of a request.
struct SimulatedAnswer {
  var after: Int64
  var result: TransferResult
  /// Called when the relay has received it.
  var onReceipt: (@Sendable () -> Void)?
}

/// Carries the requests of all relays, in order.
final class SimulatedTransport: HTTPTransport {
  private struct State {
    var underWay: [(at: Int64, tag: UInt64, answer: SimulatedAnswer)] = []
    var isWoken = false
  }

  private let clock: SimulatedClock
  private let server: any SimulatedServer
  private let state = Monitor(State())

  init(_ clock: SimulatedClock, to server: any SimulatedServer) {
    self.clock = clock
    self.server = server
  }

  /// The relay ended: drops its connections.
  func cut() { state.withLock { $0 = State() } }

  /// When the worker has something to do: now if it was woken, or with the next answer.
  var newsAt: Int64? {
    state.withLock { state in state.isWoken ? Int64.min : state.underWay.map(\.at).min() }
  }

  // MARK: HTTP transport

  func start(_ request: TransferRequest, tag: UInt64) throws(TransferFailure) {
    let now = clock.monotonicMilliseconds
    let answer = server.answer(request, now: now)
    state.withLock { $0.underWay.append((now + answer.after, tag, answer)) }
  }

  func run(timeout: Duration) -> [TransferCompletion] {
    let now = clock.monotonicMilliseconds
    let ended = state.withLock { state in
      state.isWoken = false
      defer { state.underWay.removeAll { $0.at <= now } }
      return state.underWay.filter { $0.at <= now }
    }
    for item in ended { item.answer.onReceipt?() }
    return ended.map { TransferCompletion(tag: $0.tag, result: $0.answer.result) }
  }

  func cancel(tag: UInt64) { state.withLock { $0.underWay.removeAll { $0.tag == tag } } }

  func cancelAll() -> [TransferCompletion] {
    state.withLock { state in
      defer { state.underWay = [] }
      return state.underWay.map { item in
        let result = TransferResult(
          status: nil, failure: .cancelled, requestWasSent: item.answer.result.requestWasSent,
          duration: .milliseconds(1))
        return TransferCompletion(tag: item.tag, result: result)
      }
    }
  }

  func wake() { state.withLock { $0.isWoken = true } }
}
