// The merchants' own backends, to which receipts go. Random numbers and the current weather decide how they
// answer.

import Formats
import HTTPClient
import Platform

/// The backend of each app.
final class SimulatedBackends: SimulatedServer {
  /// A purchase as a backend knows it.
  struct Purchase: Equatable {
    var user: String?
    var object: String
    var isReversed = false
  }

  private struct State {
    var random: SeededGenerator
    var weather: [String: Weather] = [:]
    /// By app and object.
    var accepted: [String: [String: Purchase]] = [:]
    /// What each `webhook-id` was about.
    var messages: [String: String] = [:]
    var faults: [String] = []
  }

  private let state: Monitor<State>

  init(seed: UInt64) { state = Monitor(State(random: SeededGenerator(seed: seed))) }

  static func url(of app: String) -> String { "http://\(app).backend.test/purchases" }

  func change(_ app: String, weather: Weather) { state.withLock { $0.weather[app] = weather } }

  func purchase(_ object: String, of app: String) -> Purchase? {
    state.withLock { $0.accepted[app]?[object] }
  }

  func purchases(of app: String) -> [Purchase] {
    state.withLock { Array(($0.accepted[app] ?? [:]).values) }
  }

  /// Removes and returns the faults since the last call.
  func drainFaults() -> [String] {
    state.update { state in
      defer { state.faults = [] }
      return state.faults
    }
  }

  func answer(_ request: TransferRequest, now: Int64) -> SimulatedAnswer {
    state.update { state in
      let app = request.url.split(separator: "/").dropFirst().first?.split(separator: ".").first
      let fate = Fate.draw(
        state.weather[app.map(String.init) ?? ""] ?? .fine, patience: request.timeout, &state.random)
      if fate.arrives { receive(request, app.map(String.init) ?? "", fate, &state) }
      return SimulatedAnswer(after: fate.after, result: fate.result((200, [], [])))
    }
  }

  /// A backend may have stored a purchase although its answer is lost, so one that arrived is accepted.
  private func receive(_ request: TransferRequest, _ app: String, _ fate: Fate, _ state: inout State) {
    let body = try? JSONValue(parsing: request.body)
    let (type, data) = (body?["type"]?.stringValue, body?["data"])
    guard let id = request.headers.first(where: { $0.name == "webhook-id" })?.value, let type,
      let object = data?["object_id"]?.stringValue, data?["app"]?.stringValue == app
    else { return state.faults.append("\(app): a receipt that its backend cannot read") }
    let message = "\(type) \(object)"
    if let known = state.messages[id], known != message {
      state.faults.append("\(app): \(id) was about \(known), and is now about \(message)")
    }
    state.messages[id] = message
    guard fate.status == nil else { return }
    var purchase = state.accepted[app]?[object] ?? Purchase(object: object)
    purchase.user = data?["user_id"]?.stringValue
    switch type {
    case "purchase.completed": break
    case "purchase.reversed":
      if state.accepted[app]?[object] == nil {
        state.faults.append("\(app): \(object) was reversed before it was bought")
      }
      purchase.isReversed = true
    default: state.faults.append("\(app): a receipt of the type \(type)")
    }
    state.accepted[app, default: [:]][object] = purchase
  }
}
