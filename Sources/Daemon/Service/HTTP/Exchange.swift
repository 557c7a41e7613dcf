// A request and its responder, passed between the relay's threads. Thread-safe.

public import HTTPServer

/// A request with the means to answer it, from any thread.
public struct Exchange: Sendable {
  public let scope: RequestScope
  public let responder: Responder

  /// Builds the response on the thread that sends it, so that the committer, which answers many requests at
  /// once, does less work.
  public func answer(_ response: @escaping @Sendable () -> Response) {
    responder.respond { [scope] in scope.finish(response()) }
  }

  /// Answers with a response that is ready.
  public func answer(_ response: Response) { answer { response } }

  /// Answers with a problem document.
  public func answer(_ problem: Problem) { responder.respond(scope.finish(problem)) }

  /// Answers with the response, or with a problem document after a failure.
  public func answer(_ result: Result<Response, Problem>) {
    switch result {
    case .success(let response): answer(response)
    case .failure(let problem): answer(problem)
    }
  }

  /// Answers with a problem and logs.
  /// - Parameter logging: writes the log line, on the thread that sends the answer.
  public func answer(_ problem: Problem, logging: @escaping @Sendable () -> Void) {
    responder.respond { [scope] in
      logging()
      return scope.finish(problem)
    }
  }

  /// Answers with this problem when the client hangs up, unless an answer exists by then.
  public func answerOnHangUp(_ problem: Problem) {
    responder.onHangUp { [scope, weak responder] in responder?.respond(scope.finish(problem)) }
  }
}
