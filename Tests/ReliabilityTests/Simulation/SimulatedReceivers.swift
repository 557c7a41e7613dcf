// Those who are told of troubles: two addresses for notices, of which one is always well, and one for the
// signs of life.

import HTTPClient
import JSON
import Platform

/// A notice that reached its address.
struct Notice {
  /// What it is about, and who is told.
  struct Key: Hashable {
    let receiver: String
    /// With its limit, as the configuration has it.
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
    /// What the relay has heard of notices that were accepted.
    var heard: [(number: Int, isAccepted: Bool)] = []
    var beatAt: Int64?
    var count = 0
  }

  private let state: Monitor<State>

  init(seed: UInt64) { state = Monitor(State(random: SeededGenerator(seed: seed))) }

  static func url(_ receiver: String) -> String { origin + receiver }

  /// A status 2xx is all that the relay looks at, so that a login page would count as having been told.
  static let weathers = Weather.allCases.filter { $0 != .hidden }

  /// The weather at the address that has any.
  func change(weather: Weather) { state.withLock { $0.weather = weather } }

  /// When the last sign of life came.
  var beatAt: Int64? { state.withLock { $0.beatAt } }
  /// How many notices came.
  var count: Int { state.withLock { $0.count } }

  /// What has come, and what the relay has heard of it: that it was accepted, or nothing before its patience
  /// ended; since the last call.
  func takeLog() -> (notices: [Notice], heard: [(number: Int, isAccepted: Bool)]) {
    state.withLock { state in
      defer { (state.notices, state.heard) = ([], []) }
      return (state.notices, state.heard)
    }
  }

  func answer(_ request: TransferRequest, now: Int64) -> SimulatedAnswer {
    let receiver = String(request.url.dropFirst(Self.origin.count))
    let (fate, number, isAccepted) = state.withLock { state -> (Fate, Int, Bool) in
      let weather = receiver == Self.stormy ? state.weather : .fine
      let fate = Fate.draw(weather, patience: request.timeoutMilliseconds, &state.random)
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
