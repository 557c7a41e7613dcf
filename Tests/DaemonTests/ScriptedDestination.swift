// A scripted destination on a real server.

import HTTPServer
import Platform
import Testing

/// Replaces Purchasely's endpoint. Its server stops with it.
final class ScriptedDestination {
  /// The answer to the n-th request, counted from 1; nil to hold it until `release`.
  typealias Script = @Sendable (_ number: Int) -> Response?

  /// The answer to a body.
  typealias Judge = @Sendable (_ body: String) -> Response

  /// A received request.
  struct Received: Sendable {
    var head: RequestHead
    var body: [UInt8]
    var at: MonotonicInstant
  }

  private struct State {
    var script: Script
    var judge: Judge?
    var received: [Received] = []
    var held: [Responder] = []
  }

  private final class Handler: RequestHandler {
    let state: Monitor<State>

    init(_ script: @escaping Script) { state = Monitor(State(script: script)) }

    func admit(_ head: RequestHead) -> Admission { .body(maximumBytes: 1 << 20) }

    func handle(_ request: Request, _ responder: Responder) {
      let received = Received(head: request.head, body: request.body, at: .now())
      let answer = state.update { state in
        state.received.append(received)
        let judged = state.judge?(String(decoding: request.body, as: UTF8.self))
        let answer = judged ?? state.script(state.received.count)
        if answer == nil { state.held.append(responder) }
        return answer
      }
      if let answer { responder.respond(answer) }
    }

    func response(to rejection: Rejection, head: RequestHead?) -> Response { Response(status: 500) }
  }

  private let handler: Handler
  private let server: Server

  init(_ script: @escaping Script = { ScriptedDestination.accepted($0) }) throws {
    handler = Handler(script)
    server = try Server(ServerConfiguration(address: "127.0.0.1"), handler: handler)
  }

  /// One that answers by the body of each request. Not an initializer: `ScriptedDestination { _ in … }` would
  /// mean it, too.
  static func judging(_ judge: @escaping Judge) throws -> ScriptedDestination {
    let destination = try ScriptedDestination()
    destination.handler.state.update { $0.judge = judge }
    return destination
  }

  /// Purchasely's answer to an accepted receipt.
  static func accepted(_ number: Int = 0) -> Response {
    Response(status: 200, type: "application/json", body: Array(#"{"id":"import-\#(number)"}"#.utf8))
  }

  static func answer(_ status: Int, retryAfter: String? = nil, body: String = "") -> Response {
    var response = Response(status: status, text: body)
    if let retryAfter { response.headers.append(("Retry-After", retryAfter)) }
    return response
  }

  var url: String { "http://127.0.0.1:\(server.port)/receipts" }

  var received: [Received] { handler.state.withLock { $0.received } }

  var heldCount: Int { handler.state.withLock { $0.held.count } }

  /// Sets the script, from the next request on.
  func use(_ script: @escaping Script) { handler.state.update { $0.script = script } }

  @discardableResult
  func waitForRequests(
    _ count: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> [Received] {
    let received = handler.state.wait(until: soon()) { $0.received.count >= count ? $0.received : nil }
    return try #require(received, sourceLocation: sourceLocation)
  }

  func waitForHeld(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let enough: Bool? = handler.state.wait(until: soon()) { $0.held.count >= count ? true : nil }
    try #require(enough != nil, sourceLocation: sourceLocation)
  }

  /// Answers all held requests.
  func release(_ response: Response = accepted()) {
    let held = handler.state.update { state in
      defer { state.held = [] }
      return state.held
    }
    for responder in held { responder.respond(response) }
  }
}
