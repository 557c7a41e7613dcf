// Stripe's API as the relay uses it: the sandbox's, behind the current weather. Every account has an address
// and a key, which change together; requests to a wrong one are recorded.

import Formats
import HTTPClient
import Platform

@testable import HTTPServer
@testable import Sandbox

/// A request that reached Stripe.
struct LookupRequest {
  /// The subject of a request.
  enum Subject: Equatable {
    case object(String)
    case sessions(ofSubscription: String)
    case customer(String)
    case events(isFirstPage: Bool)
  }

  let number: Int
  let app: String
  /// Nil for a request that the relay should never send.
  let subject: Subject?
  /// The address and the key do not match, or never existed.
  let isMisdirected: Bool
  let at: Int64
}

/// The relay's result of a request.
struct LookupAnswer {
  let number: Int
  let at: Int64
  /// Whether it answers the request, correctly or not, instead of failing.
  let isOrderly: Bool
  /// Whether it was the complete last page of a list.
  let endsList: Bool
}

/// Stripe, with an account for each app.
final class SimulatedStripe: SimulatedServer {
  private struct Account {
    var weather = Weather.fine
    /// Counts the changes of the address and the key.
    var generation = 0
    /// The newest objects, for wrong answers.
    var objects: [(id: String, body: [UInt8])] = []
    var api: SandboxStripeHandler.State
  }

  private struct State {
    var random: SeededGenerator
    var accounts: [String: Account] = [:]
    var count = 0
    var questions: [LookupRequest] = []
    var answers: [LookupAnswer] = []
  }

  private static let origin = "http://127.0.0.1:9/stripe/"
  /// Small, so that lists have several pages.
  private static let eventsOfPage = 3

  private let state: Monitor<State>

  init(seed: UInt64, apps: [String]) {
    var state = State(random: SeededGenerator(seed: seed))
    for app in apps {
      let behaviour = SandboxStripeBehaviour(pageSizeMax: Self.eventsOfPage, apiKey: Self.key(app, 0))
      state.accounts[app] = Account(
        api: .init(records: StripeRecords(), behaviour: behaviour, random: SeededGenerator(seed: seed)))
    }
    self.state = Monitor(state)
  }

  static func base(_ app: String, _ generation: Int) -> String { "\(origin)\(app)/\(generation)" }
  static func key(_ app: String, _ generation: Int) -> String { "sk_\(app)_\(generation)" }

  func change(_ app: String, weather: Weather) { state.withLock { $0.accounts[app]?.weather = weather } }

  /// Gives the account another address and another key.
  func move(_ app: String, to generation: Int) {
    state.withLock { state in
      state.accounts[app]?.generation = generation
      state.accounts[app]?.api.behaviour.apiKey = Self.key(app, generation)
    }
  }

  /// Creates an event, which Stripe will try to deliver.
  func add(_ app: String, event: JSONValue) {
    state.withLock { _ = $0.accounts[app]?.api.records.add(event, isDelivered: false) }
  }

  /// Adds an object, whether or not an event refers to it.
  func add(_ app: String, object: JSONValue) {
    state.withLock { state in
      state.accounts[app]?.api.records.add(object: object)
      let known = (object["id"]?.stringValue ?? "", object.serialized())
      let newest = (state.accounts[app]?.objects ?? []).suffix(4)
      state.accounts[app]?.objects = newest + [known]
    }
  }

  /// The webhook of an event was answered 2xx.
  func deliver(_ app: String, _ event: String) {
    state.withLock { $0.accounts[app]?.api.records.deliver(event) }
  }

  /// Removes and returns the requests and answers since the last call.
  func drainLog() -> (questions: [LookupRequest], answers: [LookupAnswer]) {
    state.withLock { state in
      defer { (state.questions, state.answers) = ([], []) }
      return (state.questions, state.answers)
    }
  }

  func answer(_ request: TransferRequest, now: Int64) -> SimulatedAnswer {
    let (number, fate, result) = state.withLock { state -> (Int, Fate, TransferResult) in
      state.count += 1
      let place = Place(request.url)
      let app = place?.app ?? ""
      let fate = Fate.draw(
        state.accounts[app]?.weather ?? .refusing, patience: request.timeout, &state.random)
      let keys = request.headers.filter { $0.name == "Authorization" }.map(\.value)
      let isRight = place.map { keys == ["Bearer \(Self.key($0.app, $0.generation))"] } ?? false
      state.questions.append(
        LookupRequest(
          number: state.count, app: app, subject: place.flatMap { Self.subject($0.target) },
          isMisdirected: !isRight, at: now))
      guard let place, var account = state.accounts[app] else {
        return (state.count, fate, fate.result((404, [], [])))
      }
      let head = RequestHead.simulated("GET", place.target, request.headers.map { ($0.name, $0.value) })
      let answer = SandboxStripeHandler.answer(to: Request(head: head, body: []), &account.api)
      let isHere = place.generation == account.generation
      // Another purchase's object: valid, but not the requested one.
      let other = account.objects.last { !place.target.contains($0.id) }?.body ?? Array("[]".utf8)
      state.accounts[app] = account
      let result = fate.result((isHere ? answer.status : 401, [], answer.body), other: other)
      return (state.count, fate, result)
    }
    let after = fate.after
    let endsList =
      fate.isHonest && String(decoding: result.body.prefix(100), as: UTF8.self).contains(Self.end)
    let isOrderly = result.failure == nil && [200, 400, 404].contains(result.status)
    return SimulatedAnswer(after: after, result: result) { [state] in
      let received = LookupAnswer(number: number, at: now + after, isOrderly: isOrderly, endsList: endsList)
      state.withLock { $0.answers.append(received) }
    }
  }

  private static let end = #""url":"/v1/events","has_more":false"#

  private static func subject(_ target: String) -> LookupRequest.Subject? {
    let words = target.split { "/?&=".contains($0) }.map(String.init)
    guard words.count > 1, words[0] == "v1" else { return nil }
    switch words[1] {
    case "events": return .events(isFirstPage: !target.contains("starting_after"))
    case "subscriptions" where words.count == 3: return .object(words[2])
    case "customers" where words.count == 3: return .customer(words[2])
    case "checkout" where words.count > 3 && target.contains("?limit=1&subscription="):
      return words.last.map { .sessions(ofSubscription: $0) }
    case "checkout" where words.count > 3 && words[2] == "sessions": return .object(words[3])
    default: return nil
    }
  }

  /// The account and the target of a URL; nil when it is not an account's.
  private struct Place {
    let app: String
    let generation: Int
    let target: String

    init?(_ url: String) {
      guard url.hasPrefix(SimulatedStripe.origin) else { return nil }
      let parts = url.dropFirst(SimulatedStripe.origin.count).split(separator: "/", maxSplits: 2)
      guard parts.count == 3, let generation = Int(parts[1]) else { return nil }
      (app, self.generation, target) = (String(parts[0]), generation, "/" + parts[2])
    }
  }
}

extension RequestHead {
  static func simulated(
    _ method: String, _ target: String, _ fields: [(name: String, value: String)]
  ) -> RequestHead {
    var headers = HeaderFields()
    for (name, value) in fields {
      let (name, value) = (Array(name.utf8), Array(value.utf8))
      unsafe name.withUnsafeBytes { name in
        unsafe value.withUnsafeBytes { value in unsafe headers.append(name: name, value: value) }
      }
    }
    return RequestHead(method: method, target: target, remoteAddress: "127.0.0.1", fields: headers)
  }
}
