// Opens the checkout of a stored context at its processor, through the backend worker: the request holds no
// thread while the processor answers. The context is on disk before the call, so nothing is lost with it.
// Values; called from any thread.

internal import Config
internal import Domain
internal import Partners
internal import Service

/// Where the price of a context is paid.
struct CheckoutPlace: Sendable {
  /// A checkout that a processor makes for the context.
  struct Hosted: Sendable {
    let price: PriceID
    let processor: ProcessorName
    let checkouts: any HostedCheckouts

    /// - Returns: nil if no processor of the app makes checkouts for the price.
    init?(_ price: PriceID, _ app: App) {
      for (name, processor) in app.processors {
        guard let checkouts = processor.checkouts, checkouts.offers(price) else { continue }
        (self.price, self.processor, self.checkouts) = (price, name, checkouts)
        return
      }
      return nil
    }
  }

  /// A configured page.
  var page: CheckoutPage?
  /// Takes precedence over the page.
  var hosted: Hosted?
}

/// One checkout that a processor is asked for.
struct CheckoutOpening: Sendable {
  /// Answers the request with the URL of the checkout.
  typealias Respond = @Sendable (_ url: String?) -> Void

  let app: AppSlug
  let hosted: CheckoutPlace.Hosted
  /// The configured page of the price, to which customers go if the processor makes no checkout: a sale does
  /// not wait for it. Nil if there is none.
  let pageURL: String?
  let respond: Respond

  /// Calls the processor, and answers the request.
  func begin(_ order: CheckoutOrder, _ worker: BackendWorker, _ exchange: Exchange) {
    let requestID = exchange.scope.requestID
    let client = BackendClient(
      requestID: requestID, route: exchange.scope.route,
      answer: { answer in
        if let url = answer.headers["Location"] ?? pageURL { return respond(url) }
        exchange.answer { answer.completed(requestID: requestID).response }
      },
      refuse: { _ in fail(exchange) })
    let flow = BackendFlow(
      place: AppProcessor(app, hosted.processor), endpoint: hosted.checkouts, client: client,
      step: hosted.checkouts.open(order))
    // If the client hangs up, its connection is freed. The checkout is opened anyway, for the next request.
    exchange.answerOnHangUp(.hungUp)
    if !worker.begin(flow) { fail(exchange) }
  }

  private func fail(_ exchange: Exchange) {
    if let pageURL { respond(pageURL) } else { exchange.answer(.checkoutUnavailable) }
  }
}

extension Problem {
  /// Not the problem of the part that failed: that would say that nothing was stored.
  static let checkoutUnavailable = unavailable(
    "checkout-unavailable",
    "The context is stored, but its checkout could not be opened now. Send the request again: one checkout "
      + "is opened, however often it is sent.",
    retryAfterSeconds: 5)
}
