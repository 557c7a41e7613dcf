// The admin listener: whether the process runs, whether it can store, and its metrics. Runs on
// libmicrohttpd's threads.

internal import Domain
internal import HTTPServer
internal import JSON
internal import Platform
internal import SQLite
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

  private static let paths = ["/healthz", "/readyz", "/metrics"]

  func admit(_ head: RequestHead) -> Admission {
    let scope = RequestScope(head, route: Self.label(head), listener: services)
    guard Self.paths.contains(head.path) else { return .answer(scope.finish(.notFound)) }
    guard head.method == "GET" || head.method == "HEAD" else {
      return .answer(scope.finish(.wrongMethod("GET, HEAD")))
    }
    return .body(maximumBytes: 0)
  }

  private static func label(_ head: RequestHead) -> String {
    paths.contains(head.path) ? String(head.path.dropFirst()) : "none"
  }

  func handle(_ request: Request, _ responder: Responder) {
    let exchange = Exchange(
      scope: RequestScope(request.head, route: Self.label(request.head), listener: services),
      responder: responder)
    switch request.head.path {
    case "/healthz": exchange.answer(Response(status: 200, text: "ok\n"))
    case "/readyz": answerReadiness(exchange)
    default: answerMetrics(exchange)
    }
  }

  func response(to rejection: Rejection, head: RequestHead?) -> Response {
    services.response(to: rejection, head: head, route: head.map(Self.label) ?? "none")
  }

  private func answerReadiness(_ exchange: Exchange) {
    let reasons = readiness.reasons()
    let body: JSONValue = ["ready": .bool(reasons.isEmpty), "reasons": .array(reasons.map(JSONValue.string))]
    exchange.answer(
      Response(status: reasons.isEmpty ? 200 : 503, type: "application/json", body: body.serialized()))
  }

  private func answerMetrics(_ exchange: Exchange) {
    let scrape = Scrape(
      metrics: services.metrics, apps: apps.current.slugs, queueDepth: committer.depth,
      isReady: readiness.reasons().isEmpty, databasePath: databasePath,
      now: Timestamp(unixMilliseconds: services.clock.wallMilliseconds))
    let text: Result<String, SQLiteError> = reader.withLock { reader in
      do throws(SQLiteError) {
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
        "could not read what /metrics says; look at the disk",
        ["error": error.description, "request_id": exchange.scope.requestID])
      exchange.answer(.storeFailed)
    }
  }
}

/// Whether the daemon can store what comes in.
struct Readiness: Sendable {
  /// Longer than any sync should take.
  static let stuckMilliseconds: Int64 = 10_000

  /// Where the daemon stands.
  enum Phase {
    /// The public listener is not open yet.
    case starting
    case serving, stopping
  }

  let committer: Committer
  let phase: Monitor<Phase>
  let clock: any Clock

  /// Why it cannot; empty when it can.
  func reasons() -> [String] {
    var reasons: [String] = []
    switch phase.withLock({ $0 }) {
    case .starting: reasons.append("starting")
    case .serving: break
    case .stopping: reasons.append("stopping")
    }
    if committer.isDiskFull {
      reasons.append("the disk is full")
    } else if let fault = committer.fault {
      reasons.append("the last write failed: \(fault.kind.rawValue)")
    }
    if !committer.hasRoom { reasons.append("the write queue is full") }
    let busy = committer.busyMilliseconds(now: clock.monotonic)
    if busy > Self.stuckMilliseconds { reasons.append("a write has been under way for \(busy / 1000) s") }
    return reasons
  }
}
