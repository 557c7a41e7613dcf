// A scripted network for the workers that make requests.

import HTTPClient
import Platform

/// A network without sockets: the script answers every request at the next run.
final class ScriptedTransport: HTTPTransport {
  /// Returns a status, nil for no connection, `held`, or `lost` for an answer that is lost after the request
  /// was sent.
  typealias Script = @Sendable (TransferRequest) -> Int?
  static let lost = 0
  /// For a request that is not answered yet.
  static let held = -1
  /// Returns the body of an answer.
  typealias Bodies = @Sendable (TransferRequest) -> String

  private struct State {
    var script: Script = { _ in 200 }
    var bodies: Bodies = { _ in "" }
    var headers: [TransferHeader] = []
    var started: [(request: TransferRequest, tag: UInt64)] = []
    var all: [TransferRequest] = []
  }

  private let state = Monitor(State())

  func use(_ script: @escaping Script) { state.withLock { $0.script = script } }

  /// Answers every request with this status.
  func use(_ status: Int, bodies: @escaping Bodies) {
    state.withLock { state in
      state.script = { _ in status }
      state.bodies = bodies
    }
  }

  /// Answers every request with this status and these fields.
  func use(_ status: Int, headers: [TransferHeader]) {
    state.withLock { state in
      state.script = { _ in status }
      state.headers = headers
    }
  }

  /// All requests that were started.
  var requests: [TransferRequest] { state.withLock { $0.all } }

  func start(_ request: TransferRequest, tag: UInt64) throws(TransferFailure) {
    state.withLock { state in
      state.started.append((request, tag))
      state.all.append(request)
    }
  }

  func run(timeout: Duration) -> [TransferCompletion] {
    let (started, script, bodies, headers) = state.withLock { state in
      defer { state.started = [] }
      return (state.started, state.script, state.bodies, state.headers)
    }
    let said = started.map { ($0, script($0.request)) }
    state.withLock { $0.started += said.filter { $0.1 == Self.held }.map(\.0) }
    return said.filter { $0.1 != Self.held }.map { start, said in
      let (request, tag) = start
      let status = said == Self.lost ? nil : said
      let failure: TransferFailure? = said == Self.lost ? .timeout : said == nil ? .connectFailed : nil
      let result = TransferResult(
        status: status, headers: status == nil ? [] : headers,
        body: status == nil ? [] : Array(bodies(request).utf8), failure: failure,
        requestWasSent: said != nil, duration: .milliseconds(1))
      return TransferCompletion(tag: tag, result: result)
    }
  }

  func cancel(tag: UInt64) { state.withLock { $0.started.removeAll { $0.tag == tag } } }

  func cancelAll() -> [TransferCompletion] {
    state.withLock { $0.started = [] }
    return []
  }

  func wake() {}
}
