// One request from its head to its answer: its id, its metric, its log line. Any thread.

internal import HTTPServer
internal import Platform

/// What every answer of a listener goes through.
struct RequestScope: Sendable {
  let route: String
  let requestID: String
  let listener: ListenerServices
  private let started: MonotonicInstant

  init(_ head: RequestHead, route: String, listener: ListenerServices) {
    self.route = route
    self.listener = listener
    requestID = listener.requestIDs.id(for: head)
    started = listener.clock.monotonic
  }

  /// Counts and labels an answer.
  func finish(_ response: Response) -> Response {
    var response = response
    response.headers.append((RequestIDs.header, requestID))
    let seconds = listener.clock.monotonic.seconds(since: started)
    listener.metrics.answered(route: route, status: response.status, seconds: seconds)
    listener.log.debug(
      "answered", ["route": route, "status": String(response.status), "request_id": requestID])
    return response
  }

  func finish(_ problem: Problem) -> Response { finish(problem.response(requestID: requestID)) }
}

/// What both listeners use.
struct ListenerServices: Sendable {
  let requestIDs = RequestIDs()
  let metrics: Metrics
  let log: Log
  let clock: any Clock
}

extension ListenerServices {
  /// The answer to a request that the server itself turns away.
  func response(to rejection: Rejection, head: RequestHead?, route: String) -> Response {
    let problem: Problem =
      switch rejection {
      case .malformed: .malformedRequest
      case .bodyTooLarge(let maximum): .tooLarge(maximum)
      case .noRoom: .busy
      case .tooSlow: .tooSlow
      case .abandoned: .internalFault
      case .stopping: .stopping
      }
    let requestID = requestIDs.id(for: head)
    metrics.answered(route: route, status: problem.status, seconds: 0)
    var response = problem.response(requestID: requestID)
    response.headers.append((RequestIDs.header, requestID))
    return response
  }
}
