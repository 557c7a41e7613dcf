// The public listener: finds out what a request asks for and whether it may, and hands it to the part that
// answers. Runs on libmicrohttpd's threads and must not block them: what has to reach the disk goes to the
// committer with the responder.

internal import HTTPServer
internal import Processors

/// Serves the contract's public paths.
struct PublicListener: RequestHandler {
  let services: ListenerServices
  let limits: Configuration.Limits
  let apps: AppRegistry
  let committer: Committer
  let checkouts: CheckoutBoard
  private let gate: ClientGate
  private let contextLimits: ContextLimits
  private let contexts: ContextIntake
  private let webhooks: WebhookIntake
  private let returnPage: ReturnPage

  init(
    services: ListenerServices, limits: Configuration.Limits, apps: AppRegistry, committer: Committer,
    checkouts: CheckoutBoard, keyFetcher: KeyFetcher? = nil
  ) {
    self.services = services
    self.limits = limits
    self.apps = apps
    self.committer = committer
    self.checkouts = checkouts
    let intake = Intake(services: services, committer: committer)
    gate = ClientGate(services: services, apps: apps, fetcher: keyFetcher)
    contextLimits = ContextLimits(limits, clock: services.clock)
    contexts = ContextIntake(intake: intake, gate: gate, limits: contextLimits)
    webhooks = WebhookIntake(intake: intake)
    returnPage = ReturnPage(checkouts: checkouts, clock: services.clock)
  }

  /// The last connections are for webhooks: a payment that is not reported costs more than a screen that
  /// has to ask again.
  func mayUseReserve(_ head: RequestHead) -> Bool {
    if case .success(.app(_, .webhook)) = PublicRoute.find(head) { true } else { false }
  }

  func admit(_ head: RequestHead) -> Admission {
    switch PublicRoute.find(head) {
    case .failure(let refusal):
      return .answer(RequestScope(head, route: "none", listener: services).finish(refusal.problem))
    case .success(.app(let slug, let route)): return admit(head, slug, route)
    case .success(.associationFile(let kind)):
      let scope = RequestScope(head, route: PublicRoute.associationFile(kind).label, listener: services)
      guard let file = apps.current.associations.answer(to: head, kind) else {
        return .answer(scope.finish(.unknownHost))
      }
      return .answer(scope.finish(file))
    }
  }

  private func admit(_ head: RequestHead, _ slug: String, _ route: AppRoute) -> Admission {
    guard let app = apps.current[slug] else {
      return .answer(RequestScope(head, route: route.label, listener: services).finish(.unknownApp))
    }
    let caller: Caller
    do throws(Problem) {
      caller = try self.caller(of: route, head, app)
    } catch {
      return .answer(RequestScope(head, route: route.label, app: app.slug, listener: services).finish(error))
    }
    return .body(maximumBytes: bodyBytesMax(route)) { request, responder in
      handle(request, slug, route, caller, responder)
    }
  }

  private func bodyBytesMax(_ route: AppRoute) -> Int {
    switch route {
    case .postContext: limits.contextBodyBytes
    case .webhook: limits.webhookBodyBytes
    case .contextStatus, .returnPage, .swedbank, .trampoline: 0
    }
  }

  /// Who the request is from.
  /// - Throws: what can be said against it before its body is read.
  private func caller(of route: AppRoute, _ head: RequestHead, _ app: App) throws(Problem) -> Caller {
    var caller = Caller.app
    switch route {
    case .postContext:
      let wait = contextLimits.take(head, proxies: services.proxies)
      guard wait == 0 else {
        gate.limited(app, of: "address")
        throw .tooManyContexts(wait)
      }
      caller = try gate.poster(head, app).get()
      if ContextPost.mediaType(head) == nil { throw .wrongMediaType }
    case .webhook(let processor):
      if app.processors[processor] == nil { throw .notFound }
    case .contextStatus: caller = try gate.asker(head, app).get()
    case .returnPage:
      if app.links == nil { throw .notFound }
    case .swedbank, .trampoline:
      if SwedbankHelpers(app) == nil { throw .notFound }
    }
    if route.isStored, let problem = committer.refusal(for: app.slug)?.problem { throw problem }
    return caller
  }

  /// Nothing is admitted without its own.
  func handle(_ request: Request, _ responder: Responder) {}

  private func handle(
    _ request: Request, _ slug: String, _ route: AppRoute, _ caller: Caller, _ responder: Responder
  ) {
    guard let app = apps.current[slug] else {
      // The app was taken out of the configuration while the body came in.
      let scope = RequestScope(request.head, route: "none", listener: services)
      return responder.respond(scope.finish(.unknownApp))
    }
    let exchange = Exchange(
      scope: RequestScope(request.head, route: route.label, app: app.slug, listener: services),
      responder: responder)
    switch route {
    case .postContext(let user, let purpose):
      contexts.take(request, pathUser: user, purpose, from: caller, app, exchange)
    case .webhook(let processor): webhooks.take(request, processor: processor, app, exchange)
    case .contextStatus(let id):
      let client = services.proxies.client(request.head).group
      gate.settle(caller, app, exchange) { [checkouts] user in
        checkouts.answer(
          contextID: id, app: app.slug, user: user, client: client, request.head, exchange)
      }
    case .returnPage:
      guard let links = app.links else { return exchange.answer(.notFound) }
      returnPage.answer(request.head, app, links, exchange)
    case .swedbank(let helper):
      guard let helpers = SwedbankHelpers(app) else { return exchange.answer(.notFound) }
      helpers.answer(helper, request.head, exchange, returnPage)
    case .trampoline:
      exchange.answer(SwedbankHelpers(app)?.trampoline(request.head) ?? .failure(.notFound))
    }
  }

  func response(to rejection: Rejection, head: RequestHead?) -> Response {
    let route = head.flatMap { try? PublicRoute.find($0).get().label } ?? "none"
    return services.response(to: rejection, head: head, route: route)
  }
}
