// The destinations of all apps. Random numbers and the current weather decide how they answer.

import Formats
import HTTPClient
import Platform

/// A request that reached a destination.
struct Arrival {
  let app: String
  let body: [UInt8]
  let objectID: String
  let atMonotonic: Int64
  /// Its status, whether or not the response arrived.
  let status: Int
  let retryAfter: String?
  /// Whether the destination accepted it, and its response arrives.
  let isHeard: Bool
}

/// Every app's destination.
final class SimulatedDestinations: SimulatedServer {
  struct Site {
    var weather = Weather.fine
    /// The key that it accepts.
    var key: String
    /// Objects that it refuses for good.
    var refused: Set<String> = []
  }

  private struct State {
    var random: SeededGenerator
    var sites: [String: Site] = [:]
    var arrivals: [Arrival] = []
    var count = 0
  }

  private let state: Monitor<State>

  init(seed: UInt64) { state = Monitor(State(random: SeededGenerator(seed: seed))) }

  static func url(of app: String) -> String { "http://127.0.0.1:9/\(app)" }

  func change(_ app: String, _ body: (inout Site) -> Void) {
    state.withLock { state in body(&state.sites[app, default: Site(key: "")]) }
  }

  /// Removes and returns the requests that arrived since the last call.
  func drainArrivals() -> [Arrival] {
    state.withLock { state in
      defer { state.arrivals = [] }
      return state.arrivals
    }
  }

  func answer(_ request: TransferRequest, now: Int64) -> SimulatedAnswer {
    state.withLock { state in
      let app = request.url.split(separator: "/").last.map(String.init) ?? ""
      let site = state.sites[app] ?? Site(key: "")
      let object = (try? JSONValue(parsing: request.body))?["stripe_object_id"]?.stringValue ?? ""
      let fate = Fate.draw(site.weather, patience: request.timeout, &state.random)
      let hasKey = request.headers.contains { $0.value == site.key }
      let verdict = !hasKey ? 401 : site.refused.contains(object) ? 422 : 200
      if fate.arrives {
        state.arrivals.append(
          Arrival(
            app: app, body: request.body, objectID: object, atMonotonic: now,
            status: fate.status ?? verdict, retryAfter: fate.retryAfter,
            isHeard: verdict == 200 && fate.isHonest))
      }
      state.count += 1
      let body = verdict == 200 ? Array(#"{"id":"import-\#(state.count)"}"#.utf8) : []
      return SimulatedAnswer(after: fate.after, result: fate.result((verdict, [], body)))
    }
  }
}
