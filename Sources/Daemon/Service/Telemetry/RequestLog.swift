// Log lines about requests in addition to the one line per request: what was stored, and what went wrong. A
// class, because every request carries a reference to it. Thread-safe, but must not be called on the
// committer's thread.

public import Domain
public import Platform
public import Reports
public import Store

/// Logs what becomes of requests.
public final class RequestLog: Sendable {
  private let log: Log
  private let clock: any Clock
  private let limiter = LogLimiter()

  public init(_ log: Log, clock: any Clock) {
    self.log = log
    self.clock = clock
  }

  /// Whether `logEvent` would log this outcome.
  public func concerns(_ outcome: IngestEvent.Outcome) -> Bool {
    log.level >= .debug || outcome == .stored(.unparsed)
  }

  /// Logs a stored event at debug; one that was not understood also as a warning, with a limit.
  /// - Parameters:
  ///   - type: the processor's name for the kind of event.
  ///   - field: the one that could not be read; nil if that is not known.
  public func logEvent(
    _ id: EventID, type: String, _ outcome: IngestEvent.Outcome, field: String?, app: AppSlug,
    requestID: String
  ) {
    log.debug(
      "stored an event",
      ["app": app.text, "event": id.text, "type": type, "outcome": outcome.label, "request_id": requestID])
    guard outcome == .stored(.unparsed) else { return }
    warn("an event was not understood and is kept; look at it with receiptctl events show", kind: app.text) {
      leftOut in
      ["app": app.text, "event": id.text, "field": field, "left_out": leftOut, "request_id": requestID]
    }
  }

  /// Logs a stored context at debug, with a pseudonym for its user unless `log.personal` is set.
  /// - Parameter isRepeat: whether it was already stored.
  public func logContext(of user: UserID, isRepeat: Bool, app: AppSlug, requestID: String) {
    log.debug(
      "stored a context",
      [
        "app": app.text, "result": isRepeat ? "repeated" : "stored", "user": log.personal(user.text),
        "request_id": requestID,
      ])
  }

  /// Logs a purchase in an app store at debug, as a context.
  /// - Parameter isRepeat: whether it was already stored.
  public func logStorePurchase(of user: UserID, isRepeat: Bool, app: AppSlug, requestID: String) {
    log.debug(
      "stored a purchase of an app store",
      [
        "app": app.text, "result": isRepeat ? "repeated" : "stored", "user": log.personal(user.text),
        "request_id": requestID,
      ])
  }

  /// Logs a webhook that was refused for its signature, with a limit.
  /// - Parameter advice: nil if the processor is not configured any more.
  public func refusedSignature(
    _ reason: String, of place: AppProcessor, advice: WebhookAdvice?, requestID: String
  ) {
    let remedy = advice.map { "; if \($0.label) sent it, \(Self.remedy(reason, $0, of: place.app))" }
    warn(
      "refused a webhook: \(Self.refusal(reason))" + (remedy ?? ""),
      kind: "\(place.app) \(place.processor) \(reason)"
    ) { leftOut in
      ["app": place.app.text, "reason": reason, "left_out": leftOut, "request_id": requestID]
    }
  }

  private static func refusal(_ reason: String) -> String {
    switch reason {
    case "path": "the secret at the end of its path is wrong"
    case "sender": "its sender's address is not one of the processor's"
    case "coded": "its body has a Content-Encoding"
    default: "its signature is not valid"
    }
  }

  private static func remedy(_ reason: String, _ advice: WebhookAdvice, of app: AppSlug) -> String {
    switch reason {
    case "path": advice.earlierPath(of: app)
    case "sender": "correct \(advice.addresses(of: app)), and listen.proxies"
    case "coded": "keep the proxy in front from compressing requests"
    default: "compare \(advice.comparison), and look at the clock"
    }
  }

  /// Logs why a payment processor could not serve an app's request, with a limit.
  /// - Parameters:
  ///   - words: what happened, and what to do.
  ///   - reason: one of a fixed set.
  ///   - isGrave: whether no request can be served until an operator acts.
  ///   - failure: the failure of the connection; nil if there was none.
  public func processorTrouble(
    _ words: String, reason: String, isGrave: Bool, of place: AppProcessor, failure: String?,
    requestID: String?
  ) {
    let level: Log.Level = isGrave ? .error : .warning
    guard log.level >= level,
      let count = limiter.admit("\(place.app) \(place.processor) \(reason)", now: clock.monotonic)
    else { return }
    let fields: LogFields = [
      "app": place.app.text, "processor": place.processor.text, "reason": reason, "failure": failure,
      "left_out": count > 0 ? String(count) : nil, "request_id": requestID,
    ]
    if isGrave { log.error(words, fields) } else { log.warning(words, fields) }
  }

  /// Logs a refused client, without a request id, because none exists yet.
  public func refusedClient(_ reason: String, app: AppSlug) {
    // Not a warning: tokens expire, and any client can send a request without one.
    guard log.level >= .info, let count = limiter.admit("\(app) client \(reason)", now: clock.monotonic)
    else { return }
    log.info(
      "refused a client; if the app's own are refused, compare its client with what they send",
      ["app": app.text, "reason": reason, "left_out": count > 0 ? String(count) : nil])
  }

  /// Limited over all addresses. `FailedLogins` limits each address, but their number is unlimited, and it
  /// does not count a header without a password.
  public func refusedPassword(from address: String) {
    warn("refused at the admin listener: wrong password or token", kind: "password") { leftOut in
      ["from": log.personal(address), "left_out": leftOut]
    }
  }

  /// - Parameter kind: which limit: "user" or "address". The user or address itself is not logged.
  public func limitedContext(of kind: String, app: AppSlug) {
    guard log.level >= .info, let count = limiter.admit("\(app) limit \(kind)", now: clock.monotonic)
    else { return }
    log.info(
      "refused a context: too many came for one user or from one address; if all clients share one address, "
        + "set listen.proxies",
      ["app": app.text, "limit": kind, "left_out": count > 0 ? String(count) : nil])
  }

  /// Logs that a payment processor refused an app's request, with the processor's own id of the error, for
  /// which its support asks.
  public func processorRefusal(
    _ errorID: String, status: Int, of place: AppProcessor, requestID: String
  ) {
    guard log.level >= .info,
      let count = limiter.admit("\(place.app) \(place.processor) refusal", now: clock.monotonic)
    else { return }
    log.info(
      "a payment processor refused a request",
      [
        "app": place.app.text, "processor": place.processor.text, "status": String(status),
        "error_id": errorID, "left_out": count > 0 ? String(count) : nil, "request_id": requestID,
      ])
  }

  /// Limited over all apps and routes, because every request meets the same fault.
  public func couldNotStore(_ error: StoreFault, route: String, app: AppSlug, requestID: String) {
    guard let count = limiter.admit("store \(error.kind.rawValue)", now: clock.monotonic) else { return }
    log.error(
      "could not store a request; the sender is asked to retry. \(error.kind.advice)",
      [
        "app": app.text, "route": route, "error": error.description,
        "left_out": count > 0 ? String(count) : nil, "request_id": requestID,
      ])
  }

  /// Limited over all apps, because every request meets the same fault.
  public func couldNotRead(_ error: StoreFault, of place: AppProcessor, requestID: String?) {
    guard let count = limiter.admit("read \(error.kind.rawValue)", now: clock.monotonic) else { return }
    log.error(
      "could not read what a request asks for. \(error.kind.advice)",
      [
        "app": place.app.text, "processor": place.processor.text, "error": error.description,
        "left_out": count > 0 ? String(count) : nil, "request_id": requestID,
      ])
  }

  /// Logs what any client can cause: one line per interval, with the number of suppressed ones.
  private func warn(
    _ message: @autoclosure () -> String, kind: String, _ fields: (_ leftOut: String?) -> LogFields
  ) {
    guard log.level >= .warning, let count = limiter.admit(kind, now: clock.monotonic) else { return }
    log.warning(message(), fields(count > 0 ? String(count) : nil))
  }
}

extension IngestEvent.Outcome {
  /// The label in metrics and the log.
  public var label: String {
    switch self {
    case .stored(let outcome): outcome.rawValue
    case .repeated: "duplicate"
    case .unmatched: "unmatched"
    }
  }
}
