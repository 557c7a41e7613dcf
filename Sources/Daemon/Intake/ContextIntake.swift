// Posted contexts: those that an app announces, and those that open a checkout page. Runs on libmicrohttpd's
// threads, or on the key fetcher's thread after a fetch of a token's key; it must not block.

internal import Config
internal import Cryptography
internal import Domain
internal import HTTPServer
internal import Partners
internal import Platform
internal import Service
internal import Store

/// Ingests the contexts that apps post before a web checkout.
struct ContextIntake: Sendable {
  let intake: Intake
  let gate: ClientGate
  let limits: RequestLimits
  let retention: ContextRetention
  /// Opens the checkouts that a processor makes; nil if none are opened.
  let worker: BackendWorker?

  /// For the ids of contexts, which are secrets.
  let random = SecretRandomness()

  /// What the client wants in addition to storing its context.
  enum Purpose: Sendable, Equatable {
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
  func ingest(
    _ request: Request, pathUser: String?, _ purpose: Purpose, from caller: Caller, _ app: App,
    _ exchange: Exchange
  ) {
    gate.identify(caller, app, exchange) { user in
      ingest(request, pathUser: pathUser, tokenUser: user, purpose, app, exchange)
    }
  }

  private func ingest(
    _ request: Request, pathUser: String?, tokenUser: TokenUser?, _ purpose: Purpose, _ app: App,
    _ exchange: Exchange
  ) {
    let services = intake.services
    let now = Timestamp(unixMilliseconds: services.clock.wallMilliseconds)
    let post: ContextPost
    let place: CheckoutPlace
    do throws(Problem) {
      post = try read(request, pathUser: pathUser, tokenUser: tokenUser?.id, app.userIDs)
      place = try checkoutPlace(for: post, purpose, app)
      let rule = retention.rule
      if let id = post.id, !rule.allows(id, now: now) { throw .contextIDTime(rule) }
    } catch {
      services.metrics.contexts.increment(app.slug.text, "refused")
      gate.count(app, error.slug.replacing("-", with: "_"))
      return exchange.answer(error)
    }
    let wait = limits.acquire(user: post.userID, app: app.slug)
    guard wait == .zero else {
      gate.limited(app, of: "user")
      return exchange.answer(.limited(.contexts, wait))
    }
    let form = ContextAnswer.Form(purpose, request.head)
    var random = random
    var command = IngestContext(
      app: app.slug, userID: post.userID, blob: post.blob,
      id: post.id ?? ContextID.make(now: now, random: &random), isChosen: post.id != nil,
      requestID: exchange.scope.requestID)
    // A client with the app's key may name any user, so only the user's own token opens what belongs to them.
    if tokenUser != nil { command.customerAt = place.hosted?.processor }
    let (metrics, log) = (services.metrics, services.requestLog)
    intake.store(command, app: app.slug, exchange) { outcome -> Void in
      guard let context = outcome.stored else {
        metrics.contexts.increment(app.slug.text, "refused")
        return exchange.answer { Problem.contextIDTaken.response(requestID: exchange.scope.requestID) }
      }
      metrics.contexts.increment(app.slug.text, context.isRepeat ? "repeated" : "stored")
      let answer = ContextAnswer(app: app.slug, post: post, context: context)
      let respond: CheckoutOpening.Respond = { url in
        exchange.answer {
          log.logContext(
            of: post.userID, isRepeat: context.isRepeat, app: app.slug, requestID: exchange.scope.requestID)
          return answer.response(form, checkoutURL: url)
        }
      }
      let pageURL = place.page?.address(contextID: context.id)
      guard let hosted = place.hosted, let worker else { return respond(pageURL) }
      let order = CheckoutOrder(
        contextID: context.id, price: hosted.price, postedAt: context.receivedAt, now: now,
        customerID: context.customerID, email: tokenUser?.email)
      CheckoutOpening(app: app.slug, hosted: hosted, pageURL: pageURL, respond: respond)
        .begin(order, worker, exchange)
    }
  }

  private func read(
    _ request: Request, pathUser: String?, tokenUser: UserID?, _ rules: UserIDRules
  ) throws(Problem) -> ContextPost {
    do {
      return try ContextPost.read(request, pathUser: pathUser, tokenUser: tokenUser, rules: rules)
    } catch {
      throw error.problem
    }
  }

  /// Where the context's price is paid. A client selects a page or a checkout of the configuration by its
  /// price, and cannot name a URL.
  private func checkoutPlace(
    for post: ContextPost, _ purpose: Purpose, _ app: App
  ) throws(Problem) -> CheckoutPlace {
    guard let price = post.blob.priceID else {
      if purpose == .checkout { throw .noPrice }
      return CheckoutPlace()
    }
    var place = CheckoutPlace(page: app.links?.checkout[price])
    guard purpose == .checkout else { return place }
    if worker != nil { place.hosted = CheckoutPlace.Hosted(price, app) }
    if place.page == nil, place.hosted == nil { throw .unknownPrice }
    return place
  }
}

// MARK: - ContextRetention

// How long contexts are kept, for the ids that clients choose. Thread-safe.

/// The configured retention of contexts. A reload of the configuration replaces it.
final class ContextRetention: Sendable {
  private let duration: Monitor<Duration>

  init(_ retention: Configuration.Retention) { duration = Monitor(retention.contexts) }

  /// Uses a new configuration.
  func use(_ retention: Configuration.Retention) {
    duration.update { $0 = retention.contexts }
  }

  /// Which ids the relay accepts.
  var rule: ContextIDRule { ContextIDRule(retention: duration.withLock { $0 }) }
}
