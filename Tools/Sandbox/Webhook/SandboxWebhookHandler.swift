// How the simulated receiver judges a webhook. Runs on the server's threads and must not block them: a
// delayed answer goes to the timer with its responder.

internal import Cryptography
internal import Formats
internal import HTTPServer
internal import Platform

/// Answers 200 to a genuine webhook, 401 to another one, and 422 if its body is not as documented.
final class SandboxWebhookHandler: RequestHandler {
  struct State {
    var behaviour: SandboxBehaviour
    var random: SeededGenerator
    var seen: [String: Seen] = [:]
    /// By arrival, the oldest first.
    var ids: [String] = []
  }

  struct Seen {
    var digest: [UInt8]
    var count: Int
  }

  static let bodyBytesMax = 1 << 20
  /// Older ids are forgotten, half of them at once.
  static let idsMax = 100_000

  let state: Monitor<State>
  private let verifier: WebhookVerifier
  private let clock: any Clock
  private let timer: DelayedAnswers
  private let onReceipt: @Sendable (SandboxWebhookReceipt) -> Void

  init(
    _ verifier: WebhookVerifier, _ behaviour: SandboxBehaviour, seed: UInt64, clock: any Clock,
    timer: DelayedAnswers, onReceipt: @escaping @Sendable (SandboxWebhookReceipt) -> Void
  ) {
    state = Monitor(State(behaviour: behaviour, random: SeededGenerator(seed: seed)))
    self.verifier = verifier
    self.clock = clock
    self.timer = timer
    self.onReceipt = onReceipt
  }

  func admit(_ head: RequestHead) -> Admission {
    guard head.method == "POST" else {
      var response = Self.response(405, "webhooks are posted")
      response.headers.append(("Allow", "POST"))
      return .answer(response)
    }
    return .body(maximumBytes: Self.bodyBytesMax)
  }

  func handle(_ request: Request, _ responder: Responder) {
    let head = request.head
    let headers = WebhookVerifier.Headers(
      id: head.header("webhook-id"), timestamp: head.header("webhook-timestamp"),
      signature: head.header("webhook-signature"))
    let verdict = verifier.verify(headers, body: request.body, now: clock.wallMilliseconds)
    var (message, fault): (WebhookMessage?, String?)
    if verdict.isAcceptable {
      do throws(WebhookMessage.Fault) {
        message = try WebhookMessage(parsing: request.body)
      } catch {
        fault = error.description
      }
    }
    let (status, repetition, delay) = state.withLock { state in
      // Only genuine ids count: others may be anyone's.
      let id = verdict.isAcceptable ? headers.id : nil
      let repetition = id.map { Self.remember($0, request.body, &state) } ?? .first
      return (Self.status(verdict, fault, &state), repetition, state.behaviour.delay)
    }
    onReceipt(
      SandboxWebhookReceipt(
        headers: headers, body: request.body, verdict: verdict, message: message, fault: fault,
        repetition: repetition, status: status))
    let text = status < 300 ? "ok" : fault ?? (verdict.isAcceptable ? "on purpose" : verdict.text)
    if delay > .zero {
      timer.answer(responder, Self.response(status, text), after: delay)
    } else {
      responder.respond(Self.response(status, text))
    }
  }

  func response(to rejection: Rejection, head: RequestHead?) -> Response {
    switch rejection {
    case .malformed: Self.response(400, "malformed request")
    case .headTooLarge: Self.response(431, "too large")
    case .bodyTooLarge: Self.response(413, "too large")
    case .noRoom, .crowded, .stopping: Self.response(503, "stopping")
    case .tooSlow: Self.response(408, "too slow")
    case .abandoned: Self.response(500, "not answered")
    }
  }

  private static func status(_ verdict: WebhookVerdict, _ fault: String?, _ state: inout State) -> Int {
    if let status = state.behaviour.status { return status }
    let share = Double.random(in: 0..<1, using: &state.random)
    if share < state.behaviour.failRate { return 503 }
    return verdict.isAcceptable ? fault == nil ? 200 : 422 : 401
  }

  private static func remember(
    _ id: String, _ body: [UInt8], _ state: inout State
  ) -> SandboxWebhookReceipt.Repeat {
    let digest = SHA256.digest(body)
    if var seen = state.seen[id] {
      seen.count += 1
      state.seen[id] = seen
      return seen.digest == digest ? .same(count: seen.count) : .different(count: seen.count)
    }
    if state.ids.count >= idsMax {
      let half = state.ids.count / 2
      for id in state.ids.prefix(half) { state.seen[id] = nil }
      state.ids.removeFirst(half)
    }
    state.seen[id] = Seen(digest: digest, count: 1)
    state.ids.append(id)
    return .first
  }

  private static func response(_ status: Int, _ text: String) -> Response {
    let body: JSONValue = status < 300 ? ["received": true] : ["error": .string(text)]
    return Response(status: status, type: "application/json", body: body.serialized())
  }
}
