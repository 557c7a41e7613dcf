// A request on its way through the relay's threads: what came, with the means to answer it. Any thread.

public import HTTPServer

/// A request with the means to answer it, from any thread.
public struct Exchange: Sendable {
  public let scope: RequestScope
  public let responder: Responder

  public init(scope: RequestScope, responder: Responder) {
    self.scope = scope
    self.responder = responder
  }

  /// On the thread that sends it: the committer answers many at once, and has better things to do.
  public func answer(_ response: @escaping @Sendable () -> Response) {
    responder.respond { [scope] in scope.finish(response()) }
  }
  public func answer(_ response: Response) { answer { response } }
  public func answer(_ problem: Problem) { responder.respond(scope.finish(problem)) }
  public func answer(_ result: Result<Response, Problem>) {
    switch result {
    case .success(let response): answer(response)
    case .failure(let problem): answer(problem)
    }
  }
  /// - Parameter saying: what is to be logged, on the thread that sends the answer.
  public func answer(_ problem: Problem, saying: @escaping @Sendable () -> Void) {
    responder.respond { [scope] in
      saying()
      return scope.finish(problem)
    }
  }

  /// Answers with this problem as soon as the client hangs up, unless there is an answer by then.
  public func answerOnHangUp(_ problem: Problem) {
    responder.onHangUp { [scope, weak responder] in responder?.respond(scope.finish(problem)) }
  }
}
