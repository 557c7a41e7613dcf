// The destinations of all apps. Random numbers and the current weather decide how they answer.

import Domain
import Formats
import HTTPClient
import Platform

/// A request that reached a destination.
struct Arrival {
  let app: String
  let body: [UInt8]
  /// As in `Memory.object`.
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

  /// The second destination of an app, its merchant's backend: it has the same weather, and refuses nothing.
  static let webhook: DestinationName = "webhook"

  static func url(of app: String) -> String { "http://127.0.0.1:9/\(app)" }
  static func webhookURL(of app: String) -> String { "http://127.0.0.1:9/\(webhook.text)/\(app)" }

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
      let isWebhook = request.url == Self.webhookURL(of: app)
      let body = try? JSONValue(parsing: request.body)
      let id = isWebhook ? body?["data"]?["object_id"] : body?["stripe_object_id"]
      let object = Memory.object(id?.stringValue ?? "", copyFor: isWebhook ? Self.webhook.text : "")
      // Any 2xx of a webhook counts, a login page's, too.
      let weather = isWebhook && site.weather == .hidden ? .down : site.weather
      let fate = Fate.draw(weather, patience: request.timeout, &state.random)
      let hasKey = isWebhook || request.headers.contains { $0.value == site.key }
      let verdict = !hasKey ? 401 : site.refused.contains(object) ? 422 : 200
      if fate.arrives {
        state.arrivals.append(
          Arrival(
            app: app, body: request.body, objectID: object, atMonotonic: now,
            status: fate.status ?? verdict, retryAfter: fate.retryAfter,
            isHeard: verdict == 200 && fate.isHonest))
      }
      state.count += 1
      let answer = verdict == 200 ? Array(#"{"id":"import-\#(state.count)"}"#.utf8) : []
      return SimulatedAnswer(after: fate.after, result: fate.result((verdict, [], answer)))
    }
  }
}
