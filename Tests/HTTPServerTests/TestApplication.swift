// An application for the tests: closures define its answers, and tests can wait for its events.

import HTTPServer
import Platform
import Testing

/// Answers with closures and records its calls.
final class TestApplication: RequestHandler {
  typealias Handle = @Sendable (Request, Responder) -> Void
  typealias Admit = @Sendable (RequestHead) -> Admission

  struct Seen {
    var heads: [RequestHead] = []
    var rejections: [Rejection] = []
    var responders: [Responder] = []
    var log: [String] = []
  }

  let seen = Monitor(Seen())
  private let admitting: Admit
  private let handling: Handle?

  /// Keeps the responders without answering.
  convenience init() { self.init(admit: { _ in .body(maximumBytes: 1000) }, handle: nil) }

  convenience init(handle: @escaping Handle) {
    self.init(admit: { _ in .body(maximumBytes: 1000) }, handle: handle)
  }

  init(admit: @escaping Admit, handle: Handle?) {
    admitting = admit
    handling = handle
  }

  /// Answers with the method, the target and the body.
  static func echo(_ maximumBytes: Int = 1000) -> TestApplication {
    TestApplication(admit: { _ in .body(maximumBytes: maximumBytes) }) { request, responder in
      responder.respond(Self.echo(request))
    }
  }

  static func echo(_ request: Request) -> Response {
    let body = String(decoding: request.body, as: UTF8.self)
    return Response(status: 200, text: "\(request.head.method) \(request.head.target) \(body)")
  }

  func admit(_ head: RequestHead) -> Admission {
    seen.update { $0.heads.append(head) }
    return admitting(head)
  }

  func mayUseReserve(_ head: RequestHead) -> Bool { head.path == "/reserved" }

  func handle(_ request: Request, _ responder: Responder) {
    if let handling { return handling(request, responder) }
    seen.update { $0.responders.append(responder) }
  }

  func response(to rejection: Rejection, head: RequestHead?) -> Response {
    seen.update { $0.rejections.append(rejection) }
    switch rejection {
    case .malformed: return Response(status: 400, text: "malformed")
    case .headTooLarge: return Response(status: 431, text: "large head")
    case .bodyTooLarge(let maximumBytes): return Response(status: 413, text: "at most \(maximumBytes)")
    case .noRoom: return Response(status: 503, text: "no room")
    case .crowded: return Response(status: 503, text: "crowded")
    case .tooSlow: return Response(status: 408, text: "too slow")
    case .abandoned: return Response(status: 500, text: "abandoned")
    case .stopping: return Response(status: 503, text: "stopping")
    }
  }

  /// Waits until `condition` returns a value.
  func waitFor<Result>(_ condition: (inout Seen) -> Result?) throws -> Result {
    let deadline = MonotonicInstant.now().advanced(by: .seconds(300))
    let result = seen.wait(until: deadline, condition)
    return try #require(result)
  }

  /// Waits for the next request, and removes its responder from the queue.
  func nextResponder() throws -> Responder {
    try waitFor { $0.responders.isEmpty ? nil : $0.responders.removeFirst() }
  }

  var rejections: [Rejection] { seen.withLock { $0.rejections } }

  /// Starts a server with this application on a free port.
  func serve(_ change: (inout ServerConfiguration) -> Void = { _ in }) throws(ServerError) -> Server {
    var configuration = ServerConfiguration(address: "127.0.0.1")
    // A busy machine may stop a test for a while; tests of the timeout set a short one.
    configuration.requestTimeout = .seconds(300)
    change(&configuration)
    let seen = seen
    return try Server(configuration, handler: self) { message in seen.update { $0.log.append(message) } }
  }
}
