// Webhooks: verify the signature over the raw bytes, commit, then answer (R1, R6). Runs on libmicrohttpd's
// threads, which it must not block.

internal import Domain
internal import HTTPServer
internal import Partners
internal import Platform
internal import Service
internal import Store

/// Ingests the webhooks of processors.
struct WebhookIntake: Sendable {
  let intake: Intake

  /// - Parameters:
  ///   - name: of the app's processor.
  ///   - token: the last part of the path, if the route has one.
  func ingest(
    _ request: Request, by processor: any PaymentProcessor, _ name: ProcessorName, token: String?, _ app: App,
    _ exchange: Exchange
  ) {
    let services = intake.services
    let now = Timestamp(unixMilliseconds: services.clock.wallMilliseconds)
    let authenticity = authenticity(of: request, processor, token, now)
    if case .refused(let fault) = authenticity {
      let place = AppProcessor(app.slug, name)
      services.metrics.refusedSignature(place, reason: fault.rawValue)
      services.requestLog.refusedSignature(
        fault.rawValue, of: place, advice: app.webhookAdvice[name], requestID: exchange.scope.requestID)
      return exchange.answer(.signature(fault))
    }
    let reading = processor.read(request.body, now: now)
    var command = IngestEvent(
      reading, app: app.slug, processor: name, body: request.body, isHint: authenticity == .hint,
      mentions: type(of: processor).mentions)
    command.requestID = exchange.scope.requestID
    let (metrics, log) = (services.metrics, services.requestLog)
    let (eventID, eventType) = (command.eventID, command.type)
    intake.store(command, app: app.slug, exchange) { outcome in
      metrics.events.increment(app.slug.text, name.text, outcome.label)
      guard log.concerns(outcome) else { return { Self.received } }
      return {
        let fault = type(of: processor).unreadable(in: request.body)
        log.logEvent(
          eventID, type: eventType, outcome, field: fault?.field, app: app.slug,
          requestID: exchange.scope.requestID)
        return Self.received
      }
    }
  }

  /// Refuses a webhook for an app that is not configured, or does not use the processor, as one with a wrong
  /// signature: neither the answer nor its time shows which apps exist. (A refused signature of any app costs
  /// the same.)
  /// - Parameter processor: that of any app; nil if none uses it.
  func refuse(
    _ request: Request, as processor: (any PaymentProcessor)?, token: String?, _ exchange: Exchange
  ) {
    guard let processor else { return exchange.answer(.notFound) }
    let now = Timestamp(unixMilliseconds: intake.services.clock.wallMilliseconds)
    let result = authenticity(of: request, processor, token, now)
    guard token == nil else { return exchange.answer(.signature(.path)) }
    if case .refused(let fault) = result {
      exchange.answer(.signature(fault))
    } else {
      exchange.answer(.signature(.mismatch))
    }
  }

  private func authenticity(
    of request: Request, _ processor: any PaymentProcessor, _ token: String?, _ now: Timestamp
  ) -> Authenticity {
    let head = request.head
    let webhook = WebhookRequest(
      body: request.body, address: intake.services.proxies.client(head).text, pathToken: token,
      headers: { head.headers($0) })
    let result = processor.authenticate(webhook, now: now)
    guard head.hasCodedBody else { return result }
    switch result {
    // These answers do not tell that the path exists.
    case .refused(.path), .refused(.sender): return result
    default: return .refused(.coded)
    }
  }

  /// The answer to every webhook that is on disk.
  private static let received = Response(
    status: 200, type: "application/json", body: Array(#"{"received":true}"#.utf8))
}
