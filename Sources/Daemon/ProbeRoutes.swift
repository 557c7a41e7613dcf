// Probes on the admin listener: liveness, readiness and metrics. libmicrohttpd's threads.

internal import Domain
internal import Formats
internal import HTTPServer
internal import Platform
internal import Reports
internal import Service
internal import Store

/// Probes and metrics.
struct ProbeRoutes: Sendable {
  let services: ListenerServices
  let apps: AppRegistry
  let committer: Committer
  let readiness: Readiness
  /// Shared by scrapes, which are rare; no other request waits for it.
  let reader: Monitor<StoreReader>
  let space: @Sendable () -> StoreSpace
  let gauges: @Sendable () -> ListenerGauges

  /// The labels of routes without a password: an orchestrator has none. They read no tables, and are answered
  /// while other routes wait for the database.
  static let openLabels: Set = ["healthz", "readyz"]

  var routes: [Route] {
    [
      Route(read: "/healthz", label: "healthz") { _, exchange in
        exchange.answer(Response(status: 200, text: "ok\n"))
      },
      Route(read: "/readyz", label: "readyz") { _, exchange in answerReadiness(exchange) },
      Route(read: "/metrics", label: "metrics") { _, exchange in answerMetrics(exchange) },
    ]
  }

  private func answerReadiness(_ exchange: Exchange) {
    let reasons = readiness.reasons()
    let body: JSONValue = [
      "ready": .bool(reasons.isEmpty), "reasons": .array(reasons.map { .string($0.text) }),
      "details": .array(
        reasons.map { HealthReport.Reason(name: $0.name, text: $0.text, advice: $0.advice).json }),
    ]
    exchange.answer(
      Response(status: reasons.isEmpty ? 200 : 503, type: "application/json", body: body.serialized()))
  }

  private func answerMetrics(_ exchange: Exchange) {
    let scrape = Scrape(
      metrics: services.metrics, places: apps.current.places, queueDepth: committer.depth,
      isReady: readiness.reasons().isEmpty, droppedLogLines: services.log.droppedLines,
      listener: gauges(),
      space: space(),
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
        "could not read the metrics. \(error.kind.advice)",
        ["error": error.description, "request_id": exchange.scope.requestID])
      exchange.answer(.pageUnreadable)
    }
  }
}
