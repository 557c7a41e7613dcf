// The receivers of alerts: two addresses for notices, of which one is always healthy, and one for the
// heartbeat.

import Formats
import HTTPClient
import Platform

/// A notice that reached its address.
struct Notice {
  /// Its subject and its receiver.
  struct Key: Hashable {
    let receiver: String
    /// With its threshold, as in the configuration.
    let condition: String
    let app: String
  }

  let number: Int
  let key: Key
  let isFiring: Bool
  let at: Int64
  let isAccepted: Bool
}

/// The addresses of alerts and of the heartbeat.
final class SimulatedReceivers: SimulatedServer {
  static let calm = "calm"
  static let stormy = "stormy"
  static let heartbeat = "heartbeat"
  private static let origin = "http://127.0.0.1:9/alerts/"

  private struct State {
    var random: SeededGenerator
    var weather = Weather.fine
    var notices: [Notice] = []
    /// The results of notices that the relay has seen.
    var heard: [(number: Int, isAccepted: Bool)] = []
    var beatAt: Int64?
    var count = 0
  }

  private let state: Monitor<State>

  init(seed: UInt64) { state = Monitor(State(random: SeededGenerator(seed: seed))) }

  static func url(_ receiver: String) -> String { origin + receiver }

  /// The relay only looks at the status, so a login page with 2xx would count as delivered.
  static let weathers = Weather.allCases.filter { $0 != .hidden }

  /// Sets the weather at the address that has weather.
  func change(weather: Weather) { state.withLock { $0.weather = weather } }

  /// When the last heartbeat came.
  var beatAt: Int64? { state.withLock { $0.beatAt } }
  /// The number of notices.
  var count: Int { state.withLock { $0.count } }

  /// The notices since the last call, and the results that the relay saw: accepted, or a time-out.
  func drainLog() -> (notices: [Notice], heard: [(number: Int, isAccepted: Bool)]) {
    state.withLock { state in
      defer { (state.notices, state.heard) = ([], []) }
      return (state.notices, state.heard)
    }
  }

  func answer(_ request: TransferRequest, now: Int64) -> SimulatedAnswer {
    let receiver = String(request.url.dropFirst(Self.origin.count))
    let (fate, number, isAccepted) = state.withLock { state -> (Fate, Int, Bool) in
      let weather = receiver == Self.stormy ? state.weather : .fine
      let fate = Fate.draw(weather, patience: request.timeout, &state.random)
      let isAccepted = fate.arrives && (200...299).contains(fate.status ?? 200)
      guard receiver != Self.heartbeat else {
        state.beatAt = now
        return (fate, 0, false)
      }
      state.count += 1
      if fate.arrives, let text = try? JSONValue(parsing: request.body) {
        let key = Notice.Key(
          receiver: receiver, condition: text["alert"]?.stringValue ?? "", app: text["app"]?.stringValue ?? ""
        )
        state.notices.append(
          Notice(
            number: state.count, key: key, isFiring: text["state"] == "firing", at: now,
            isAccepted: isAccepted))
      }
      return (fate, state.count, isAccepted)
    }
    return SimulatedAnswer(after: fate.after, result: fate.result((200, [], []))) { [state] in
      if isAccepted { state.withLock { $0.heard.append((number, fate.failure == nil)) } }
    }
  }
}
