// What the log says of deliveries: every try at debug, every end at info, every trouble at warning with what
// to do.

internal import Domain
internal import Platform
internal import Store

struct DeliveryLog {
  private let log: Log

  init(_ log: Log) { self.log = log }

  func write(
    _ verdict: Verdict, _ decision: Delivery.Decision, app: String, receipt: String, report: AttemptReport,
    before: Breaker, after: Breaker
  ) {
    let status = report.status.map { String($0) } ?? report.error ?? "none"
    log.debug(
      "tried to deliver",
      [
        "app": app, "receipt": receipt, "verdict": verdict.label, "status": status,
        "duration_ms": String(report.durationMilliseconds),
      ])
    switch decision {
    case .delivered(let importID):
      log.info("delivered", ["app": app, "receipt": receipt, "import_id": importID ?? ""])
    case .failed(let reason):
      log.warning(
        "a receipt failed; look at it with receiptctl receipts show, mend the cause, then replay it",
        ["app": app, "receipt": receipt, "reason": reason.text, "status": status])
    case .retry: break
    }
    guard before.state != after.state else { return }
    let cause = after.cause?.text ?? ""
    switch after.state {
    case .closed: log.info("deliveries go on", ["app": app])
    case .open:
      log.warning("the destination is down; deliveries wait and are probed", ["app": app, "cause": cause])
    case .paused:
      log.error(
        "the destination refuses this configuration; check purchasely.url and purchasely.api_key; "
          + "deliveries wait and are probed, nothing is given up",
        ["app": app, "cause": cause])
    }
  }
}
