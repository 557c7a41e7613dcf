// The network at one worker of the relay. What is at the other end is a `SimulatedServer`; the answers come
// when the simulated clock has passed the time that they take. One for each worker, as in the daemon.

import HTTPClient
import Platform

@testable import Relay

/// What is at the other end.
protocol SimulatedServer: Sendable {
  /// Takes a request, and says when which answer comes.
  func answer(_ request: TransferRequest, now: Int64) -> SimulatedAnswer
}

/// What a request comes to.
struct SimulatedAnswer {
  var after: Int64
  var result: TransferResult
  /// Called when the relay has got it.
  var onReceipt: (@Sendable () -> Void)?
}

/// Carries the requests of one relay after the other.
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

  /// The relay at this end is gone, and its connections with it.
  func cut() { state.withLock { $0 = State() } }

  /// When there is something for the worker: at once if somebody woke it, or with the next answer.
  var newsAt: Int64? {
    state.withLock { state in state.isWoken ? Int64.min : state.underWay.map(\.at).min() }
  }

  // MARK: HTTP transport

  func start(_ request: TransferRequest, tag: UInt64) throws(TransferFailure) {
    let now = clock.monotonicMilliseconds
    let answer = server.answer(request, now: now)
    state.withLock { $0.underWay.append((now + answer.after, tag, answer)) }
  }

  func run(timeoutMilliseconds: Int) -> [TransferCompletion] {
    let now = clock.monotonicMilliseconds
    let ended = state.withLock { state in
      state.isWoken = false
      defer { state.underWay.removeAll { $0.at <= now } }
      return state.underWay.filter { $0.at <= now }
    }
    for item in ended { item.answer.onReceipt?() }
    return ended.map { TransferCompletion(tag: $0.tag, result: $0.answer.result) }
  }

  func cancelAll() -> [TransferCompletion] {
    state.withLock { state in
      defer { state.underWay = [] }
      return state.underWay.map { item in
        let result = TransferResult(
          status: nil, failure: .cancelled, requestWasSent: item.answer.result.requestWasSent,
          durationMilliseconds: 1)
        return TransferCompletion(tag: item.tag, result: result)
      }
    }
  }

  func wake() { state.withLock { $0.isWoken = true } }
}
