// The network between the relay and its destinations, and the destinations: what they do with a request is
// drawn by lot from the weather of the day.

import HTTPClient
import JSON
import Platform

@testable import Relay

/// How an app's destination behaves for a while.
enum Weather: CaseIterable {
  case fine, slow, flaky, down, refusing, silent, late, dropping, resting
  /// A login page with the status 200 stands in front of it.
  case hidden
}

/// A request that reached a destination.
struct Arrival {
  let app: String
  let body: [UInt8]
  let objectID: String
  let atMonotonic: Int64
  /// What it answered, whether or not the answer came through.
  let status: Int
  let retryAfter: String?
}

/// Carries one relay's requests after the other's.
final class SimulatedNetwork: HTTPTransport {
  struct Site {
    var weather = Weather.fine
    /// The key that it takes.
    var key: String
    /// Objects that it will never take, and says so.
    var refused: Set<String> = []
  }

  private struct State {
    var random: SeededGenerator
    var sites: [String: Site] = [:]
    var underWay: [(at: Int64, completion: TransferCompletion)] = []
    var arrivals: [Arrival] = []
    var isWoken = false
  }

  private let clock: SimulatedClock
  private let state: Monitor<State>

  init(clock: SimulatedClock, seed: UInt64) {
    self.clock = clock
    state = Monitor(State(random: SeededGenerator(seed: seed)))
  }

  static func url(of app: String) -> String { "http://127.0.0.1:9/\(app)" }

  func change(_ app: String, _ body: (inout Site) -> Void) {
    state.withLock { state in body(&state.sites[app, default: Site(key: "")]) }
  }

  /// Everything that reached a destination since the last call.
  func takeArrivals() -> [Arrival] {
    state.withLock { state in
      defer { state.arrivals = [] }
      return state.arrivals
    }
  }

  /// The relay at this end is gone, and its connections with it.
  func cut() {
    state.withLock { state in
      state.underWay = []
      state.isWoken = false
    }
  }

  /// Whether somebody wants the dispatcher's attention: news, or an answer.
  var hasNews: Bool {
    let now = clock.monotonicMilliseconds
    return state.withLock { state in state.isWoken || state.underWay.contains { $0.at <= now } }
  }

  var nextAnswerAt: Int64? { state.withLock { $0.underWay.map(\.at).min() } }

  // MARK: HTTPTransport

  func start(_ request: TransferRequest, tag: UInt64) throws(TransferFailure) {
    let now = clock.monotonicMilliseconds
    state.withLock { state in
      let app = request.url.split(separator: "/").last.map(String.init) ?? ""
      let site = state.sites[app] ?? Site(key: "")
      let object = (try? JSONValue(parsing: request.body))?["stripe_object_id"]?.stringValue ?? ""
      let fate = Fate.draw(site, request, object: object, &state.random)
      if fate.arrives {
        state.arrivals.append(
          Arrival(
            app: app, body: request.body, objectID: object, atMonotonic: now, status: fate.status,
            retryAfter: fate.retryAfter))
      }
      state.underWay.append(
        (now + fate.after, TransferCompletion(tag: tag, result: fate.result(number: Int(tag)))))
    }
  }

  func run(timeoutMilliseconds: Int) -> [TransferCompletion] {
    let now = clock.monotonicMilliseconds
    return state.withLock { state in
      state.isWoken = false
      let ended = state.underWay.filter { $0.at <= now }.map(\.completion)
      state.underWay.removeAll { $0.at <= now }
      return ended
    }
  }

  func cancelAll() -> [TransferCompletion] {
    state.withLock { state in
      defer { state.underWay = [] }
      return state.underWay.map { item in
        let result = TransferResult(
          status: nil, failure: .cancelled, requestWasSent: item.completion.result.requestWasSent,
          durationMilliseconds: 1)
        return TransferCompletion(tag: item.completion.tag, result: result)
      }
    }
  }

  func wake() { state.withLock { $0.isWoken = true } }
}

/// What becomes of one request.
private struct Fate {
  var arrives = true
  var status = 200
  var after: Int64
  var failure: TransferFailure?
  var retryAfter: String?
  /// Whether a page with a success status hides the refusal.
  var isPage = false

  static func draw(
    _ site: SimulatedNetwork.Site, _ request: TransferRequest, object: String,
    _ random: inout SeededGenerator
  ) -> Fate {
    let quick = Int64.random(in: 1...400, using: &random)
    let patience = Int64(request.timeoutMilliseconds)
    let hasKey = request.headers.contains { $0.value == site.key }
    let verdict = !hasKey ? 401 : site.refused.contains(object) ? 422 : 200
    switch site.weather {
    case .fine: return Fate(status: verdict, after: quick)
    case .slow: return Fate(status: verdict, after: min(quick * 20, patience - 1))
    case .flaky:
      let statuses = [verdict, verdict, 500, 502, 503, 408]
      return Fate(status: statuses.randomElement(using: &random) ?? 500, after: quick)
    case .down: return Fate(status: 503, after: quick)
    case .refusing: return Fate(arrives: false, after: 1, failure: .connectFailed)
    case .silent: return Fate(arrives: Bool.random(using: &random), after: patience, failure: .timeout)
    case .late: return Fate(status: verdict, after: patience, failure: .timeout)
    case .dropping: return Fate(status: verdict, after: quick, failure: .connectionLost)
    case .hidden: return Fate(status: 403, after: quick, isPage: true)
    case .resting:
      let asked = [nil, "7", "900", "999999999"].randomElement(using: &random) ?? nil
      return Fate(status: 429, after: quick, retryAfter: asked)
    }
  }

  func result(number: Int) -> TransferResult {
    guard failure == nil else {
      return TransferResult(
        status: nil, failure: failure, requestWasSent: arrives, durationMilliseconds: after)
    }
    if isPage {
      return TransferResult(
        status: 200, headers: [TransferHeader("Content-Type", "text/html")], body: Array("<html>".utf8),
        requestWasSent: true, durationMilliseconds: after)
    }
    let headers = retryAfter.map { [TransferHeader("Retry-After", $0)] } ?? []
    let body = status == 200 ? Array(#"{"id":"import-\#(number)"}"#.utf8) : []
    return TransferResult(
      status: status, headers: headers, body: body, requestWasSent: true, durationMilliseconds: after)
  }
}
