// Webhooks: verify the signature over the raw bytes, commit, then answer (R1, R6). Runs on libmicrohttpd's
// threads, which it must not block.

public import Apps
public import Domain
public import HTTPServer
public import HTTPService
internal import Persistence
internal import Platform
internal import Processors
internal import Store
internal import Telemetry

/// Ingests the webhooks of processors.
public struct WebhookIntake: Sendable {
  let intake: Intake

  public init(intake: Intake) {
    self.intake = intake
  }

  /// - Parameters:
  ///   - name: of the processor.
  ///   - token: the last part of the path, if the route has one.
  public func ingest(
    _ request: Request, processor name: ProcessorName, token: String?, _ app: App, _ exchange: Exchange
  ) {
    guard let processor = app.processors[name] else { return exchange.answer(.notFound) }
    let services = intake.services
    let now = Timestamp(unixMilliseconds: services.clock.wallMilliseconds)
    let head = request.head
    let webhook = WebhookRequest(
      body: request.body, address: services.proxies.client(head).text, pathToken: token,
      headers: { head.headers($0) })
    let authenticity = processor.authenticate(webhook, now: now)
    if case .refused(let fault) = authenticity {
      let place = AppProcessor(app.slug, name)
      services.metrics.refusedSignature(place, reason: fault.rawValue)
      services.requestLog.refusedSignature(
        fault.rawValue, of: place, advice: app.webhookAdvice[name], requestID: exchange.scope.requestID)
      return exchange.answer(.signature(fault))
    }
    let reading = processor.read(request.body, now: now)
    var command = IngestEvent(
      reading, app: app.slug, processor: name, body: request.body, isHint: authenticity == .hint)
    command.requestID = exchange.scope.requestID
    command.pack(with: intake.committer.packers.event)
    let (metrics, log) = (services.metrics, services.requestLog)
    let (eventID, type) = (command.eventID, command.type)
    intake.store(command, app: app.slug, exchange) { outcome in
      metrics.events.increment(app.slug.text, name.text, outcome.label)
      guard log.concerns(outcome) else { return { Self.received } }
      return {
        log.logEvent(eventID, type: type, outcome, app: app.slug, requestID: exchange.scope.requestID)
        return Self.received
      }
    }
  }

  /// The answer to every webhook that is on disk.
  private static let received = Response(
    status: 200, type: "application/json", body: Array(#"{"received":true}"#.utf8))
}
