// Persists request payloads through the committer; the answer follows the sync (R1). Runs on libmicrohttpd's
// threads, or on the key fetcher's thread after a fetch of a token's key; it must not block.

internal import Domain
internal import HTTPServer
internal import Service
internal import Store

/// Persists request payloads and answers after the commit.
struct Intake: Sendable {
  let services: ListenerServices
  let committer: Committer

  /// Answers after the command is on disk (R1), or with a problem if it cannot be stored.
  func store<Command: StoreCommand>(
    _ command: Command, app: AppSlug, _ exchange: Exchange,
    answer: @escaping @Sendable (Command.Outcome) -> @Sendable () -> Response
  ) {
    store(command, app: app, exchange) { outcome in
      exchange.answer(answer(outcome) as @Sendable () -> Response)
    }
  }

  /// Goes on after the command is on disk (R1), or answers with a problem if it cannot be stored.
  /// - Parameter then: answers the exchange. The committer's thread; must not block.
  func store<Command: StoreCommand>(
    _ command: Command, app: AppSlug, _ exchange: Exchange,
    then: @escaping @Sendable (Command.Outcome) -> Void
  ) {
    let log = services.requestLog
    let isQueued = committer.submit(WhileConfigured(app, command), from: .external(app: app)) { result in
      switch result {
      case .success(let outcome?): then(outcome)
      case .success(nil): exchange.answer(.unknownApp)
      case .failure(let error):
        exchange.answer(error.kind.isOutage ? .databaseUnavailable : .storeFailed) {
          log.couldNotStore(
            error, route: exchange.scope.route, app: app, requestID: exchange.scope.requestID)
        }
      }
    }
    if !isQueued { exchange.answer(committer.refusal(for: app)?.problem ?? .busy) }
  }
}
