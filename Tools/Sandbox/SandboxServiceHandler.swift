// The handler of a simulated payment service: it adds faults and delays to the answers of an account. The
// server's threads run it, and it must not block them: delays go to the timer.

internal import Formats
internal import HTTPServer
internal import Platform

/// Answers the requests to one account.
final class SandboxServiceHandler<Account: SandboxAccount>: RequestHandler {
  struct State {
    var account: Account
    var faults: SandboxFaults
    var random: SeededGenerator
  }

  /// How an answer is sent.
  private enum Sending {
    case whole(Response)
    /// A part of the answer, then the end of the connection; nil sends nothing.
    case broken(Response?)
    case nothing
  }

  private struct Decision {
    var sending: Sending
    var exchange: SandboxExchange
    var delay: Duration = .zero
    var effects: [Account.Effect] = []
  }

  private static var bodyBytesMax: Int { 1 << 20 }
  /// Longer than any client waits.
  private static var silence: Duration { .hours(1) }

  let state: Monitor<State>
  private let clock: any Clock
  private let timer: DelayedAnswers
  private let onExchange: @Sendable (SandboxExchange) -> Void
  private let onEffects: @Sendable ([Account.Effect]) -> Void

  init(
    _ account: Account, _ faults: SandboxFaults, seed: UInt64, clock: any Clock, timer: DelayedAnswers,
    onExchange: @escaping @Sendable (SandboxExchange) -> Void,
    onEffects: @escaping @Sendable ([Account.Effect]) -> Void
  ) {
    state = Monitor(State(account: account, faults: faults, random: SeededGenerator(seed: seed)))
    self.clock = clock
    self.timer = timer
    self.onExchange = onExchange
    self.onEffects = onEffects
  }

  func admit(_ head: RequestHead) -> Admission { .body(maximumBytes: Self.bodyBytesMax) }

  func handle(_ request: Request, _ responder: Responder) {
    let (request, now) = (SandboxRequest(request), clock.wallMilliseconds)
    let decision = state.withLock { Self.decide(request, &$0, now: now) }
    onExchange(decision.exchange)
    if !decision.effects.isEmpty { onEffects(decision.effects) }
    switch decision.sending {
    case .nothing:
      let ticket = timer.perform(after: Self.silence) { responder.disconnect() }
      responder.onHangUp { [timer] in timer.hasten(ticket) }
    case .whole(var response):
      // A client repeats a request when a kept connection breaks, and would not notice a cut.
      response.closesConnection = true
      after(decision.delay) { [response] in responder.respond(response) }
    case .broken(let response):
      let missing = (response?.body.count ?? 0) / 2
      after(decision.delay) { responder.disconnect(sending: response, missingBytes: missing) }
    }
  }

  func response(to rejection: Rejection, head: RequestHead?) -> Response {
    switch rejection {
    case .malformed: Account.failure(400, "malformed request")
    case .headTooLarge: Account.failure(431, "too large")
    case .bodyTooLarge: Account.failure(413, "too large")
    case .noRoom, .crowded, .stopping: Account.failure(503, "stopping")
    case .tooSlow: Account.failure(408, "too slow")
    case .abandoned: Account.failure(500, "not answered")
    }
  }

  /// Changes the account as a user of the stand-in does, and sends what follows from it.
  func change<Result: Sendable>(_ change: (inout Account, _ now: Int64) -> Result) -> Result {
    let now = clock.wallMilliseconds
    let (result, effects) = state.withLock { state in
      (change(&state.account, now), state.account.popEffects())
    }
    if !effects.isEmpty { onEffects(effects) }
    return result
  }

  private func after(_ delay: Duration, _ send: @escaping @Sendable () -> Void) {
    if delay > .zero {
      timer.perform(after: delay, send)
    } else {
      send()
    }
  }

  private static func decide(_ request: SandboxRequest, _ state: inout State, now: Int64) -> Decision {
    let operation = Account.operation(of: request)
    let fault = operation.flatMap { state.faults.draw($0, random: &state.random) }
    var outcome: SandboxOutcome?
    if fault?.takesEffect ?? true { outcome = state.account.answer(to: request, now: now) }
    let sending = sending(outcome?.response, fault, &state)
    let target = request.query.map { "\(request.path)?\($0)" } ?? request.path
    var exchange = SandboxExchange(
      method: request.method, target: target, operation: operation, fault: fault, note: outcome?.note)
    if case .whole(let response) = sending { exchange.status = response.status }
    return Decision(
      sending: sending, exchange: exchange,
      delay: operation.map { state.faults.concern($0) } == true ? state.faults.delay : .zero,
      effects: state.account.popEffects())
  }

  /// - Parameter response: nil if the request had no effect.
  private static func sending(
    _ response: Response?, _ fault: SandboxFault?, _ state: inout State
  ) -> Sending {
    let error = Account.failure(state.faults.status, "the sandbox fails on purpose")
    switch fault {
    case nil: return .whole(response ?? error)
    case .error, .errorAfter: return .whole(error)
    case .cut: return .broken(nil)
    case .silent, .lost: return .nothing
    case .truncated: return .broken(response)
    case .malformed:
      var half = response ?? error
      half.body = Array(half.body.prefix(half.body.count / 2))
      return .whole(half)
    case .redirect:
      return .whole(Response(status: 302, headers: [("Location", "https://elsewhere.example/")]))
    case .page:
      let page = "<!DOCTYPE html><title>Maintenance</title><p>We will be back soon.</p>"
      return .whole(Response(status: 200, type: "text/html; charset=utf-8", body: Array(page.utf8)))
    case .lie: return .whole(state.account.lie(response ?? error))
    }
  }
}
