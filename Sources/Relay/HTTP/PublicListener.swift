// The public listener: contexts from apps, webhooks from processors, the state of a checkout. Runs on
// libmicrohttpd's threads and must not block them: what has to reach the disk goes to the committer with the
// responder.

internal import Cryptography
internal import Domain
internal import HTTPServer
internal import Platform
internal import Processors
internal import SQLite
internal import Store

/// Serves the contract's public paths.
struct PublicListener: RequestHandler {
  let services: ListenerServices
  let limits: Configuration.Limits
  let apps: AppRegistry
  let committer: Committer
  let checkouts: CheckoutBoard
  /// For the ids of contexts, which are a secret.
  let random = SecretRandomness()

  func admit(_ head: RequestHead) -> Admission {
    switch PublicRoute.find(head) {
    case .failure(let refusal):
      return .answer(RequestScope(head, route: "none", listener: services).finish(refusal.problem))
    case .success(let route):
      guard let problem = refusal(of: route, head) else {
        return .body(maximumBytes: bodyBytesMax(route)) { request, responder in
          handle(request, route, responder)
        }
      }
      let app = apps.current[route.app]?.slug
      return .answer(RequestScope(head, route: route.label, app: app, listener: services).finish(problem))
    }
  }

  private func bodyBytesMax(_ route: PublicRoute) -> Int {
    switch route {
    case .postContext: limits.contextBodyBytes
    case .webhook: limits.webhookBodyBytes
    case .contextStatus: 0
    }
  }

  /// What can be said against a request before its body is read.
  private func refusal(of route: PublicRoute, _ head: RequestHead) -> Problem? {
    guard let app = apps.current[route.app] else { return .unknownApp }
    switch route {
    case .postContext:
      if !app.accepts(clientKey: ContextPost.clientKey(head)) { return .unauthorized }
      if ContextPost.mediaType(head) == nil { return .wrongMediaType }
    case .webhook(_, let processor):
      if app.processors[processor] == nil { return .notFound }
    case .contextStatus: break
    }
    return route.isStored ? committer.refusal(for: app.slug)?.problem : nil
  }

  /// Nothing is admitted without its own.
  func handle(_ request: Request, _ responder: Responder) {}

  private func handle(_ request: Request, _ route: PublicRoute, _ responder: Responder) {
    guard let app = apps.current[route.app] else {
      // The app was taken out of the configuration while the body came in.
      let scope = RequestScope(request.head, route: "none", listener: services)
      return responder.respond(scope.finish(.unknownApp))
    }
    let exchange = Exchange(
      scope: RequestScope(request.head, route: route.label, app: app.slug, listener: services),
      responder: responder)
    switch route {
    case .postContext(_, let user): postContext(request, pathUser: user, app, exchange)
    case .webhook(_, let processor): takeWebhook(request, processor: processor, app, exchange)
    case .contextStatus(_, let id): checkouts.answer(contextID: id, app: app.slug, request.head, exchange)
    }
  }

  func response(to rejection: Rejection, head: RequestHead?) -> Response {
    let route = head.flatMap { try? PublicRoute.find($0).get().label } ?? "none"
    return services.response(to: rejection, head: head, route: route)
  }

  private func postContext(_ request: Request, pathUser: String?, _ app: App, _ exchange: Exchange) {
    let post: ContextPost
    do {
      post = try ContextPost.read(request, pathUser: pathUser)
    } catch {
      services.metrics.contexts.increment(app.slug, "refused")
      return exchange.answer(error.problem)
    }
    var random = random
    let now = Timestamp(unixMilliseconds: services.clock.wallMilliseconds)
    let command = TakeContext(
      app: app.slug, userID: post.userID, blob: post.blob, digest: SHA256.digest(post.blob.text.utf8.span),
      id: Identifier.make(prefix: Identifier.contextPrefix, now: now, random: &random),
      requestID: exchange.scope.requestID)
    let (metrics, log) = (services.metrics, services.requestLog)
    store(command, app: app.slug, exchange) { outcome in
      metrics.contexts.increment(app.slug, outcome.isRepeat ? "repeated" : "stored")
      return {
        log.tookContext(
          of: post.userID, isRepeat: outcome.isRepeat, app: app.slug, requestID: exchange.scope.requestID)
        return ContextAnswer(app: app.slug, post: post, outcome: outcome).response
      }
    }
  }

  private func takeWebhook(_ request: Request, processor name: String, _ app: App, _ exchange: Exchange) {
    guard let processor = app.processors[name] else { return exchange.answer(.notFound) }
    let now = Timestamp(unixMilliseconds: services.clock.wallMilliseconds)
    let signatures = request.head.headers(type(of: processor).signatureHeader)
    if case .refused(let fault) = processor.verify(signatures: signatures, body: request.body, now: now) {
      services.metrics.signatureFailures.increment(app.slug, fault.rawValue)
      services.requestLog.refusedSignature(
        fault.rawValue, app: app.slug, requestID: exchange.scope.requestID)
      return exchange.answer(.signature(fault))
    }
    let reading = processor.read(request.body, now: now)
    var command = TakeEvent(reading, app: app.slug, processor: name, body: request.body)
    command.requestID = exchange.scope.requestID
    let (metrics, log) = (services.metrics, services.requestLog)
    let (eventID, type) = (command.eventID, command.type)
    store(command, app: app.slug, exchange) { outcome in
      metrics.events.increment(app.slug, name, outcome.label)
      guard log.concerns(outcome) else { return { Self.received } }
      return {
        log.tookEvent(eventID, type: type, outcome, app: app.slug, requestID: exchange.scope.requestID)
        return Self.received
      }
    }
  }

  /// The answer to every webhook that is on disk.
  private static let received = Response(
    status: 200, type: "application/json", body: Array(#"{"received":true}"#.utf8))

  /// Answers once the command is on disk (R1), or says that it is not.
  private func store<Command: StoreCommand>(
    _ command: Command, app: String, _ exchange: Exchange,
    answer: @escaping @Sendable (Command.Outcome) -> @Sendable () -> Response
  ) {
    let log = services.requestLog
    let isQueued = committer.submit(command, from: .outside(app: app)) { result in
      switch result {
      case .success(let outcome): exchange.answer(answer(outcome) as @Sendable () -> Response)
      case .failure(let error):
        exchange.answer(.storeFailed) {
          log.couldNotStore(
            error.description, route: exchange.scope.route, app: app, requestID: exchange.scope.requestID)
        }
      }
    }
    if !isQueued { exchange.answer(committer.refusal(for: app)?.problem ?? .busy) }
  }
}

/// A request with the means to answer it, from any thread.
struct Exchange: Sendable {
  let scope: RequestScope
  let responder: Responder

  /// On the thread that sends it: the committer answers many at once, and has better things to do.
  func answer(_ response: @escaping @Sendable () -> Response) {
    responder.respond { [scope] in scope.finish(response()) }
  }
  func answer(_ response: Response) { answer { response } }
  func answer(_ problem: Problem) { responder.respond(scope.finish(problem)) }
  /// - Parameter saying: what is to be logged, on the thread that sends the answer.
  func answer(_ problem: Problem, saying: @escaping @Sendable () -> Void) {
    responder.respond { [scope] in
      saying()
      return scope.finish(problem)
    }
  }
}

extension Committer.Refusal {
  var problem: Problem {
    switch self {
    case .busy: .busy
    case .diskFull: .diskFull
    case .stopping: .stopping
    }
  }
}

extension PublicRoute {
  /// Whether answering it means writing.
  var isStored: Bool {
    if case .contextStatus = self { return false }
    return true
  }
}
