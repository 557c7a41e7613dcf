// One request from its head to its answer: its id, its metric, its log line. Thread-safe.

public import Domain
public import HTTPServer
public import Platform

/// Finishes every answer of a listener.
public struct RequestScope: Sendable {
  public let route: String
  public let requestID: String
  public let listener: ListenerServices
  private let problemForm: Route.ProblemForm?
  private let app: AppSlug?
  private let started: MonotonicInstant
  /// Added to the answer, whichever it is.
  private let fields: [(name: String, value: String)]
  /// For the log line of the request; nil if none is written.
  private let logged: (method: String, peer: String, app: AppSlug?)?

  /// - Parameters:
  ///   - app: a configured app.
  ///   - problemForm: the form of its problems; nil for a problem document.
  ///   - fields: header fields of the answer, whichever it is.
  public init(
    _ head: RequestHead, route: String, app: AppSlug? = nil, problemForm: Route.ProblemForm? = nil,
    fields: [(name: String, value: String)] = [], listener: ListenerServices
  ) {
    self.route = route
    self.fields = fields
    self.problemForm = problemForm
    self.app = app
    self.listener = listener
    logged = listener.log.level >= .debug ? (head.method, listener.proxies.client(head).text, app) : nil
    requestID = listener.requestIDs.id(for: head)
    started = listener.clock.monotonic
  }

  /// Counts an answer and adds the request id.
  public func finish(_ response: Response) -> Response {
    var response = response
    response.headers.append((RequestIDs.header, requestID))
    response.headers += fields
    let seconds = listener.clock.monotonic.seconds(since: started)
    listener.metrics.answered(route: route, status: response.status, seconds: seconds)
    if let logged {
      listener.log.debug(
        "answered",
        [
          "method": logged.method, "route": route, "status": String(response.status),
          "duration_ms": String(Int64(seconds * 1000)), "bytes": String(response.body.count),
          "app": logged.app?.text, "peer": listener.log.personal(logged.peer), "request_id": requestID,
        ])
    }
    return response
  }

  public func finish(_ problem: Problem) -> Response {
    finish(problemForm?(problem, requestID, app) ?? problem.response(requestID: requestID))
  }
}

/// The services that both listeners share.
public struct ListenerServices: Sendable {
  public let requestIDs = RequestIDs()
  public let metrics: Metrics
  public let log: Log
  public let clock: any Clock
  public let requestLog: RequestLog
  /// The proxies whose `X-Forwarded-For` is trusted.
  public var proxies = TrustedProxies(prefixes: [])

  public init(metrics: Metrics, log: Log, clock: any Clock) {
    self.metrics = metrics
    self.log = log
    self.clock = clock
    requestLog = RequestLog(log, clock: clock)
  }
}

extension ListenerServices {
  /// The answer to a request that the HTTP server rejects.
  /// - Parameters:
  ///   - app: the one that the path names.
  ///   - problemForm: of the route; nil for a problem document.
  public func response(
    to rejection: Rejection, head: RequestHead?, route: String, app: AppSlug? = nil,
    problemForm: Route.ProblemForm? = nil
  ) -> Response {
    let problem: Problem =
      switch rejection {
      case .malformed: .malformedRequest
      case .headTooLarge: .headTooLarge
      case .bodyTooLarge(let maximum): .tooLarge(maximum)
      case .noRoom: .busy
      case .crowded: .crowded
      case .tooSlow: .tooSlow
      case .abandoned: .internalFault
      case .stopping: .stopping
      }
    let requestID = requestIDs.id(for: head)
    metrics.answered(route: route, status: problem.status, seconds: 0)
    log.debug(
      "turned away",
      [
        "method": head?.method, "route": route, "status": String(problem.status),
        "peer": head.map { log.personal(proxies.client($0).text) }, "request_id": requestID,
      ])
    var response = problemForm?(problem, requestID, app) ?? problem.response(requestID: requestID)
    response.headers.append((RequestIDs.header, requestID))
    return response
  }
}
