// Swedbank Pay and Afterpay as the relay meets them: the sandboxes' accounts, behind the weather of each app.
// Customers and payers act on the accounts directly, so that the truth about the money is known.

import HTTPClient
import HTTPServer
import Platform

@testable import Sandbox

/// Both processors, with an account of each app.
final class SimulatedProcessors: SimulatedServer {
  struct Accounts {
    var weather = Weather.fine
    var swedbank: SandboxSwedbankAccount
    var afterpay: SandboxAfterpayAccount
  }

  private struct State {
    var random: SeededGenerator
    var accounts: [String: Accounts] = [:]
    /// Calls that capture, on their way since the relay gave up waiting for them.
    var late: [(at: Int64, app: String, request: SandboxRequest)] = []
    var count = 0
    /// Requests that the relay should never send.
    var faults: [String] = []
  }

  static let token = "merchant-token"
  static let merchant = "merchant-1"
  static let secret = "merchant-secret"

  private let state: Monitor<State>
  private let clock: SimulatedClock

  init(_ clock: SimulatedClock, seed: UInt64, apps: [String]) {
    self.clock = clock
    var state = State(random: SeededGenerator(seed: seed))
    for (number, app) in apps.enumerated() {
      let seed = seed &+ UInt64(number)
      let settings = SandboxAfterpaySettings(merchantID: Self.merchant, secret: Self.secret)
      state.accounts[app] = Accounts(
        swedbank: SandboxSwedbankAccount(base: Self.base("swedbank", app), token: Self.token, seed: seed),
        afterpay: SandboxAfterpayAccount(base: Self.base("afterpay", app), settings: settings, seed: seed))
    }
    self.state = Monitor(state)
  }

  static func base(_ processor: String, _ app: String) -> String { "http://\(app).\(processor).test" }

  private var wall: Int64 { clock.wallMilliseconds }

  /// How many requests arrived.
  var count: Int { state.withLock { $0.count } }

  /// Reads or changes an app's accounts.
  func with<Result>(_ app: String, _ body: (inout Accounts) -> Result?) -> Result? {
    state.update { state in
      guard var accounts = state.accounts[app] else { return nil }
      defer { state.accounts[app] = accounts }
      return body(&accounts)
    }
  }

  /// Removes and returns the faults since the last call.
  func drainFaults() -> [String] {
    state.update { state in
      defer { state.faults = [] }
      return state.faults
    }
  }

  /// Lets late calls arrive.
  func processLate() {
    let (now, wall) = (clock.monotonicMilliseconds, wall)
    state.update { state in
      for late in state.late where late.at <= now {
        _ = state.accounts[late.app]?.afterpay.answer(to: late.request, now: wall)
      }
      state.late.removeAll { $0.at <= now }
    }
  }

  func answer(_ request: TransferRequest, now: Int64) -> SimulatedAnswer {
    processLate()
    let wall = wall
    return state.update { state in
      state.count += 1
      guard let place = Place(request.url), let accounts = state.accounts[place.app] else {
        state.faults.append("a request went to \(request.url)")
        return SimulatedAnswer(after: 1, result: Fate(after: 1).result((404, [], [])))
      }
      let sent = SandboxRequest(
        request.method.rawValue, place.target, headers: request.headers.map { ($0.name, $0.value) },
        body: request.body)
      var fate = Fate.draw(accounts.weather, patience: request.timeout, &state.random)
      // A lie about a new payment looks like the truth; no relay can tell them apart.
      if place.isStart, fate.lie == .other { fate.lie = .error }
      if place.isCapture, fate.failure == .timeout, Bool.random(using: &state.random) {
        let later = Int64.random(in: 0...300_000, using: &state.random)
        state.late.append((now + fate.after + later, place.app, sent))
        fate.arrives = false
      }
      // What does not arrive may still have been sent.
      let wasSent = fate.failure != .connectFailed
      var answer: (status: Int, headers: [TransferHeader], body: [UInt8]) = (503, [], [])
      var lie: [UInt8] = []
      if fate.arrives {
        (answer, lie) = state.accounts[place.app, default: accounts].answer(sent, place, wall)
      }
      if answer.status == 401 {
        state.faults.append("\(place.app): wrong credentials for \(place.processor)")
      }
      let result = fate.result(answer, other: lie)
      return SimulatedAnswer(
        after: fate.after,
        result: TransferResult(
          status: result.status, headers: result.headers, body: result.body, failure: result.failure,
          requestWasSent: wasSent, duration: result.duration))
    }
  }

  /// What a URL names.
  fileprivate struct Place {
    let app: String
    let processor: String
    let target: String

    init?(_ url: String) {
      let parts = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true)
      guard parts.count == 3, parts[0] == "http:" else { return nil }
      let names = parts[1].split(separator: ".")
      guard names.count == 3, names[2] == "test", ["swedbank", "afterpay"].contains(names[1]) else {
        return nil
      }
      (app, processor, target) = (String(names[0]), String(names[1]), "/" + parts[2])
    }

    var isStart: Bool { ["/psp/paymentorders", "/v2/checkouts"].contains(target) }
    var isCapture: Bool { target == "/v2/payments/capture" }
  }
}

extension SimulatedProcessors.Accounts {
  /// - Returns: the answer, and the same about another payment.
  fileprivate mutating func answer(
    _ request: SandboxRequest, _ place: SimulatedProcessors.Place, _ wall: Int64
  ) -> ((status: Int, headers: [TransferHeader], body: [UInt8]), lie: [UInt8]) {
    let (outcome, lie) =
      place.processor == "swedbank"
      ? Self.answer(request, &swedbank, wall) : Self.answer(request, &afterpay, wall)
    let headers = outcome.headers.map { TransferHeader($0.0, $0.1) }
    return ((outcome.status, headers, outcome.body), lie.body)
  }

  private static func answer(
    _ request: SandboxRequest, _ account: inout some SandboxAccount, _ wall: Int64
  ) -> (Response, Response) {
    let response = account.answer(to: request, now: wall).response
    return (response, account.lie(response))
  }
}
