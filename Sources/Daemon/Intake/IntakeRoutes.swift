// The routes for apps and payment processors. Runs on libmicrohttpd's threads and must not block them:
// commands go to the committer together with the responder.

internal import Config
internal import Domain
internal import HTTPServer
internal import Partners
internal import Service

/// The routes of contexts, checkouts, their states, purchases in app stores, webhooks, and merchant backends.
struct IntakeRoutes: Sendable {
  private let services: ListenerServices
  private let limits: Configuration.Limits
  private let apps: AppRegistry
  private let committer: Committer
  private let checkouts: CheckoutPolls
  private let processors: ProcessorRegistry
  private let gate: ClientGate
  private let requestLimits: RequestLimits
  private let contexts: ContextIntake
  private let claims: ClaimIntake
  private let storePurchases: StorePurchaseIntake
  private let webhooks: WebhookIntake
  /// Nil if no requests to merchant backends are served.
  private let backends: BackendIntake?

  /// - Parameters:
  ///   - keyFetcher: nil if no keys are fetched.
  ///   - backendWorker: nil if no requests to merchant backends are served.
  ///   - processors: the registered processors; each gets a webhook route.
  ///   - retention: of contexts.
  init(
    services: ListenerServices, limits: Configuration.Limits, apps: AppRegistry, committer: Committer,
    checkouts: CheckoutPolls, keyFetcher: KeyFetcher? = nil, backendWorker: BackendWorker? = nil,
    processors: ProcessorRegistry, retention: ContextRetention
  ) {
    self.processors = processors
    self.services = services
    self.limits = limits
    self.apps = apps
    self.committer = committer
    self.checkouts = checkouts
    let intake = Intake(services: services, committer: committer)
    gate = ClientGate(services: services, apps: apps, fetcher: keyFetcher)
    requestLimits = RequestLimits(limits, clock: services.clock)
    contexts = ContextIntake(
      intake: intake, gate: gate, limits: requestLimits, retention: retention, worker: backendWorker)
    claims = ClaimIntake(intake: intake, gate: gate, limits: requestLimits, checkouts: checkouts)
    storePurchases = StorePurchaseIntake(intake: intake, gate: gate, limits: requestLimits)
    webhooks = WebhookIntake(intake: intake)
    backends = backendWorker.map { [gate, requestLimits] worker in
      BackendIntake(
        services: services, apps: apps, gate: gate, limits: requestLimits, committer: committer,
        worker: worker)
    }
  }

  var routes: [Route] {
    [
      post("/v1/{app}/contexts", .context), post("/v1/{app}/users/{user}/contexts", .context),
      post("/v1/{app}/checkout", .checkout), post("/v1/{app}/users/{user}/checkout", .checkout),
      status, claim, claimStatus, offerOnPage, storePurchase,
    ] + processors.kinds.filter(\.hasWebhooks).map(webhook)
      + (backends.map { processors.kinds.flatMap($0.routes) } ?? [])
  }

  /// The origins of the web pages that may use an app's routes for clients.
  var pageOrigins: Router.PageOrigins {
    Router.PageOrigins { [apps] slug in apps.current[slug]?.clientOrigins ?? [] }
  }

  /// The forms of problems about unknown paths of merchant backends, which SDKs parse.
  var problemRoots: [ProblemRoot] {
    processors.kinds.flatMap { kind -> [ProblemRoot] in
      guard let form = BackendForm.of(kind, apps) else { return [] }
      return ["/v1/{app}/\(kind.name)/", "/v1/{app}/users/{user}/\(kind.name)/"].map {
        ProblemRoot($0, form: form)
      }
    }
  }

  private func post(_ path: String, _ purpose: ContextIntake.Purpose) -> Route {
    Route(
      ["POST"], path, label: purpose.label, bodyBytesMax: limits.contextBodyBytes, isForPages: true
    ) { visit throws(Problem) in
      let app = try apps.app(of: visit)
      let wait = requestLimits.acquire(visit.head, proxies: services.proxies)
      guard wait == .zero else {
        gate.limited(app, of: "address")
        throw .limited(.contexts, wait)
      }
      let caller = try gate.poster(visit.head, app).get()
      if visit.head.mediaType == nil { throw .wrongMediaType }
      try checkRoom(app.slug)
      return apps.handler(of: app.slug) { request, app, exchange in
        contexts.ingest(request, pathUser: visit["user"], purpose, from: caller, app, exchange)
      }
    }
  }

  private var status: Route {
    Route(
      Route.reading, "/v1/{app}/contexts/{context}", label: "context_status", isForPages: true
    ) { visit throws(Problem) in
      let app = try apps.app(of: visit)
      let caller = try gate.reader(visit.head, app).get()
      return apps.handler(of: app.slug) { request, app, exchange in
        let client = services.proxies.client(request.head).group
        gate.authorize(caller, app, exchange) { [checkouts] user in
          checkouts.answer(
            contextID: ContextID(visit["context"] ?? ""), app: app.slug, user: user, client: client,
            request.head,
            exchange)
        }
      }
    }
  }

  private var claim: Route {
    Route(
      ["POST"], "/v1/{app}/users/{user}/claims", label: "claims", bodyBytesMax: limits.contextBodyBytes,
      isForPages: true
    ) { visit throws(Problem) in
      let app = try apps.app(of: visit)
      let wait = requestLimits.acquire(visit.head, proxies: services.proxies)
      guard wait == .zero else {
        gate.count(app, "limited")
        services.metrics.claims.increment(app.slug.text, "limited")
        throw .limited(.claims, wait)
      }
      let caller = try gate.poster(visit.head, app).get()
      if visit.head.mediaType == nil { throw .wrongMediaType }
      try checkRoom(app.slug)
      return apps.handler(of: app.slug) { request, app, exchange in
        claims.ingest(request, pathUser: visit["user"], from: caller, app, exchange)
      }
    }
  }

  /// The button of the return page. It is a POST, because scanners and previews follow every link.
  private var offerOnPage: Route {
    Route(
      ["POST"], "/v1/{app}/return/claim", label: "return_claim", bodyBytesMax: ClaimIntake.formBytesMax
    ) { visit throws(Problem) in
      let app = try apps.app(of: visit)
      if app.links == nil { throw .notFound }
      let wait = requestLimits.acquire(visit.head, proxies: services.proxies)
      guard wait == .zero else {
        services.metrics.claims.increment(app.slug.text, "limited")
        throw .limited(.claims, wait)
      }
      guard visit.head.mediaType == .form else { throw .wrongMediaType }
      try checkRoom(app.slug)
      return apps.handler(of: app.slug) { request, app, exchange in
        claims.offer(request, app, exchange)
      }
    }
  }

  private var claimStatus: Route {
    Route(
      Route.reading, "/v1/{app}/users/{user}/claims/{claim}", label: "claim_status", isForPages: true
    ) { visit throws(Problem) in
      let app = try apps.app(of: visit)
      let caller = try gate.poster(visit.head, app).get()
      return apps.handler(of: app.slug) { request, app, exchange in
        gate.authorize(caller, app, exchange) { [checkouts] tokenUser in
          do throws(Problem) {
            let user = try ClaimIntake.user(
              request.head, pathUser: visit["user"], tokenUser: tokenUser, app)
            checkouts.answer(
              claimID: ClaimID(visit["claim"] ?? ""), app: app.slug, user: user, exchange)
          } catch {
            exchange.answer(error)
          }
        }
      }
    }
  }

  private var storePurchase: Route {
    Route(
      ["POST"], "/v1/{app}/users/{user}/store-purchases", label: "store_purchases",
      bodyBytesMax: StorePurchaseIntake.bodyBytesMax, isForPages: true
    ) { visit throws(Problem) in
      let app = try apps.app(of: visit)
      let wait = requestLimits.acquire(visit.head, proxies: services.proxies)
      guard wait == .zero else {
        storePurchases.limited(app)
        throw .limited(.storePurchases, wait)
      }
      let caller = try gate.poster(visit.head, app).get()
      guard visit.head.mediaType == .json else { throw .onlyJSON }
      try checkRoom(app.slug)
      return apps.handler(of: app.slug) { request, app, exchange in
        storePurchases.ingest(request, pathUser: visit["user"], from: caller, app, exchange)
      }
    }
  }

  private func webhook(_ kind: ProcessorKind) -> Route {
    let name = kind.name
    let path = "/v1/{app}/webhooks/\(name)" + (kind.hasPathToken ? "/{token}" : "")
    return Route(
      ["POST"], path, label: "webhooks_\(name)", bodyBytesMax: limits.webhookBodyBytes,
      usesReserve: true, readsCodedBodies: true
    ) { visit throws(Problem) in
      let slug = AppSlug(visit["app"] ?? "")
      try checkRoom(slug)
      return { [apps, webhooks] request, exchange in
        // Uses the configuration that is current when the request is complete.
        let current = apps.current
        if let app = current[slug], let processor = app.processors[name] {
          webhooks.ingest(request, by: processor, name, token: visit["token"], app, exchange)
        } else {
          let other = current.apps.values.lazy.compactMap { $0.processors[name] }.first
          webhooks.refuse(request, as: other, token: visit["token"], exchange)
        }
      }
    }
  }

  /// Refuses a request that could not be stored, before its body arrives.
  private func checkRoom(_ app: AppSlug) throws(Problem) {
    if let problem = committer.refusal(for: app)?.problem { throw problem }
  }
}

extension ContextIntake.Purpose {
  var label: String {
    switch self {
    case .context: "contexts"
    case .checkout: "checkout"
    }
  }
}
