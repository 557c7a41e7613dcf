// Posted contexts: those that an app announces, and those that open a checkout page. Runs on libmicrohttpd's
// threads, or on the key fetcher's thread after a fetch of a token's key; it must not block.

public import Apps
internal import Configuration
internal import Cryptography
internal import Domain
public import HTTPServer
public import HTTPService
internal import Persistence
internal import Platform
internal import Store
internal import Telemetry

/// Ingests the contexts that apps post before a web checkout.
public struct ContextIntake: Sendable {
  let intake: Intake
  let gate: ClientGate
  let limits: ContextLimits
  let retention: ContextRetention

  public init(intake: Intake, gate: ClientGate, limits: ContextLimits, retention: ContextRetention) {
    self.intake = intake
    self.gate = gate
    self.limits = limits
    self.retention = retention
  }

  /// For the ids of contexts, which are secrets.
  let random = SecretRandomness()

  /// What the client wants in addition to storing its context.
  public enum Purpose: Sendable, Equatable {
    /// The context's id.
    case context
    /// A redirect to the checkout page of its price.
    case checkout
  }

  /// Stores a posted context and answers the exchange; a refused request is answered with a problem.
  /// - Parameters:
  ///   - pathUser: the user that the path names, if the route has one.
  ///   - purpose: what the client wants in addition.
  ///   - caller: the result of `ClientGate`; its token may still have to be checked.
  public func ingest(
    _ request: Request, pathUser: String?, _ purpose: Purpose, from caller: Caller, _ app: App,
    _ exchange: Exchange
  ) {
    gate.authorize(caller, app, exchange) { user in
      ingest(request, pathUser: pathUser, tokenUser: user, purpose, app, exchange)
    }
  }

  private func ingest(
    _ request: Request, pathUser: String?, tokenUser: UserID?, _ purpose: Purpose, _ app: App,
    _ exchange: Exchange
  ) {
    let services = intake.services
    let now = Timestamp(unixMilliseconds: services.clock.wallMilliseconds)
    let post: ContextPost
    let page: CheckoutPage?
    do throws(Problem) {
      post = try read(request, pathUser: pathUser, tokenUser: tokenUser, app)
      page = try checkoutPage(for: post, purpose, app)
      let rule = retention.rule
      if let id = post.id, !rule.allows(id, now: now) { throw .contextIDTime(rule) }
    } catch {
      services.metrics.contexts.increment(app.slug.text, "refused")
      return exchange.answer(error)
    }
    let wait = limits.acquire(user: post.userID, app: app.slug)
    guard wait == .zero else {
      gate.limited(app, of: "user")
      return exchange.answer(.tooManyContexts(wait))
    }
    let form = ContextAnswer.Form(purpose, request.head)
    var random = random
    var command = IngestContext(
      app: app.slug, userID: post.userID, blob: post.blob,
      id: post.id ?? ContextID.make(now: now, random: &random), isChosen: post.id != nil,
      requestID: exchange.scope.requestID)
    command.pack(with: intake.committer.packers.receipt)
    let (metrics, log) = (services.metrics, services.requestLog)
    intake.store(command, app: app.slug, exchange) { outcome in
      guard let context = outcome.stored else {
        metrics.contexts.increment(app.slug.text, "refused")
        return { Problem.contextIDTaken.response(requestID: exchange.scope.requestID) }
      }
      metrics.contexts.increment(app.slug.text, context.isRepeat ? "repeated" : "stored")
      return {
        log.logContext(
          of: post.userID, isRepeat: context.isRepeat, app: app.slug, requestID: exchange.scope.requestID)
        return ContextAnswer(app: app.slug, post: post, context: context, page: page).response(form)
      }
    }
  }

  private func read(
    _ request: Request, pathUser: String?, tokenUser: UserID?, _ app: App
  ) throws(Problem) -> ContextPost {
    do {
      return try ContextPost.read(request, pathUser: pathUser, tokenUser: tokenUser)
    } catch {
      if error == .wrongUser { gate.count(app, "wrong_user") }
      throw error.problem
    }
  }

  /// The page where the context's price is paid. It is always one of the configured pages: a client selects
  /// one by its price and cannot name a URL.
  private func checkoutPage(
    for post: ContextPost, _ purpose: Purpose, _ app: App
  ) throws(Problem) -> CheckoutPage? {
    let page = post.blob.priceID.flatMap { app.links?.checkout[$0] }
    if purpose == .checkout, page == nil { throw post.blob.priceID == nil ? .noPrice : .unknownPrice }
    return page
  }
}
