// The admin listener: whether the process runs, whether it can store, its metrics, and the dashboard. Runs on
// libmicrohttpd's threads.

internal import Domain
internal import HTTPServer
internal import JSON
internal import Platform
internal import Store

/// Serves the contract's admin paths.
struct AdminListener: RequestHandler {
  let services: ListenerServices
  let apps: AppRegistry
  let committer: Committer
  let readiness: Readiness
  /// Shared by scrapes, which are few; nobody else waits for them.
  let reader: Monitor<StoreReader>
  let databasePath: String
  let gauges: @Sendable () -> ListenerGauges
  let access: AdminAccess
  let dashboard: Dashboard

  func admit(_ head: RequestHead) -> Admission {
    let route = AdminRoute(head.path)
    let scope = RequestScope(head, route: route?.label ?? "none", listener: services)
    func refuse(_ problem: Problem) -> Admission {
      guard route?.isPage ?? true else { return .answer(scope.finish(problem)) }
      return .answer(scope.finish(problem.page(requestID: scope.requestID)))
    }
    var visitor = ""
    // Before anything else, so that nobody learns which paths there are.
    if route?.isProbe != true {
      switch access.visitor(head) {
      case .success(let name): visitor = name
      case .failure(let problem):
        if problem == .passwordNeeded, head.header("Authorization") != nil {
          services.requestLog.refusedPassword(from: head.remoteAddress)
        }
        return refuse(problem)
      }
    }
    guard let route else { return refuse(.notFound) }
    guard route.methods.contains(head.method) else {
      return refuse(.wrongMethod(route.methods.joined(separator: ", ")))
    }
    if head.method == "POST" {
      guard AdminAccess.isOfThisSite(head) else { return refuse(.foreignForm) }
      guard ContextPost.mediaType(head) == .form else { return refuse(.wrongMediaType) }
    }
    let bytesMax = head.method == "POST" ? AdminRoute.formBytesMax : 0
    return .body(maximumBytes: bytesMax) { [visitor] request, responder in
      handle(request, route, visitor: visitor, responder)
    }
  }

  /// Nothing is admitted without its own.
  func handle(_ request: Request, _ responder: Responder) {}

  private func handle(_ request: Request, _ route: AdminRoute, visitor: String, _ responder: Responder) {
    let exchange = Exchange(
      scope: RequestScope(request.head, route: route.label, listener: services), responder: responder)
    switch route {
    case .health: exchange.answer(Response(status: 200, text: "ok\n"))
    case .readiness: answerReadiness(exchange)
    case .metrics: answerMetrics(exchange)
    default: dashboard.answer(request, route, visitor: visitor, exchange)
    }
  }

  func response(to rejection: Rejection, head: RequestHead?) -> Response {
    let route = head.flatMap { AdminRoute($0.path) }
    return services.response(to: rejection, head: head, route: route?.label ?? "none")
  }

  private func answerReadiness(_ exchange: Exchange) {
    let reasons = readiness.reasons()
    let body: JSONValue = [
      "ready": .bool(reasons.isEmpty), "reasons": .array(reasons.map { .string($0.text) }),
    ]
    exchange.answer(
      Response(status: reasons.isEmpty ? 200 : 503, type: "application/json", body: body.serialized()))
  }

  private func answerMetrics(_ exchange: Exchange) {
    let scrape = Scrape(
      metrics: services.metrics, apps: apps.current.slugs, queueDepth: committer.depth,
      isReady: readiness.reasons().isEmpty, droppedLogLines: services.log.droppedLines,
      listener: gauges(),
      databasePath: databasePath,
      now: Timestamp(unixMilliseconds: services.clock.wallMilliseconds))
    let text: Result<String, StoreFault> = reader.withLock { reader in
      do throws(StoreFault) {
        return .success(try scrape.text(reader: reader))
      } catch {
        return .failure(error)
      }
    }
    switch text {
    case .success(let text):
      exchange.answer(
        Response(status: 200, type: "text/plain; version=0.0.4; charset=utf-8", body: Array(text.utf8)))
    case .failure(let error):
      services.log.error(
        "could not read what /metrics says. \(error.kind.advice)",
        ["error": error.description, "request_id": exchange.scope.requestID])
      exchange.answer(.pageUnreadable)
    }
  }
}
