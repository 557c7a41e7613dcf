// Logs deliveries as they happen: every attempt at debug, every state change of a breaker. `ReceiptLog` logs
// the outcome of a receipt after it is on disk. The dispatcher's thread.

internal import Domain
internal import Formats
internal import Platform
internal import Reports
internal import Store

struct DeliveryLog {
  private let log: Log

  init(_ log: Log) { self.log = log }

  func write(
    _ verdict: Verdict, at place: AppDestination, receipt: ReceiptID, report: AttemptReport, isProbe: Bool,
    before: Breaker, after: Breaker, advice: DestinationAdvice
  ) {
    // Evaluated only if there is a line to write.
    var lane: LogFields { ["app": place.app.text, "destination": place.destination.text] }
    log.debug(
      "attempted a delivery",
      lane + [
        "receipt": receipt.text, "verdict": verdict.label,
        "status": report.status.map { String($0) },
        "error": report.error, "detail": report.detail, "duration_ms": String(report.duration.milliseconds),
        "bytes": String(report.response.count), "probe": isProbe ? "true" : nil,
        "ambiguous": report.isAmbiguous ? "true" : nil,
      ])
    guard before.state != after.state else { return }
    let stop: LogFields = ["cause": after.cause?.text, "detail": after.detail]
    switch after.state {
    case .closed: log.info("deliveries resume", lane)
    case .open where after.cause?.isOfProxy == true:
      log.error(
        "the proxy lets nothing through to the destination; deliveries wait and are probed. Repair the "
          + "proxy, or correct https_proxy or no_proxy in receiptd's environment and restart receiptd",
        lane + stop)
    case .open:
      log.warning(
        "the destination is down; deliveries wait, are probed and resume automatically. Nothing to do here: "
          + "check whether the destination knows about it",
        lane + stop)
    case .paused:
      log.error(
        "the destination refuses this configuration; correct \(advice.correction(for: after.cause)); "
          + "deliveries wait and are probed, nothing is given up",
        lane + stop)
    }
  }
}
