// Persists request payloads through the committer; the answer follows the sync (R1). Runs on libmicrohttpd's
// threads, or on the key fetcher's thread after a fetch of a token's key; it must not block.

internal import Domain
internal import HTTPServer
public import HTTPService
public import Persistence
internal import Platform
internal import Store
internal import Telemetry

/// Persists request payloads and answers after the commit.
public struct Intake: Sendable {
  let services: ListenerServices
  let committer: Committer

  public init(services: ListenerServices, committer: Committer) {
    self.services = services
    self.committer = committer
  }

  /// Answers after the command is on disk (R1), or with a problem if it cannot be stored.
  func store<Command: StoreCommand>(
    _ command: Command, app: AppSlug, _ exchange: Exchange,
    answer: @escaping @Sendable (Command.Outcome) -> @Sendable () -> Response
  ) {
    let log = services.requestLog
    let isQueued = committer.submit(WhileConfigured(app, command), from: .external(app: app)) { result in
      switch result {
      case .success(let outcome?): exchange.answer(answer(outcome) as @Sendable () -> Response)
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
