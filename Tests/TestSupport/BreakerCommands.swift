// Attempts to deliver, and the breaker of Purchasely, the destination of most tests.

public import Domain
public import Store

extension AttemptReport {
  /// An attempt with an answer without a body.
  public init(at startedAt: Timestamp, status: Int64? = 200, duration: Duration = .milliseconds(1)) {
    self.init(
      startedAt: startedAt, duration: duration, status: status, error: nil, isAmbiguous: false, response: [])
  }
}

extension RecordAttempt {
  public init(
    of receipt: ReceiptID, app: AppSlug, sent: [UInt8]? = nil, report: AttemptReport,
    decision: Delivery.Decision, breaker: Breaker = Breaker()
  ) {
    self.init(
      of: receipt, to: AppDestination(app, "purchasely"), sent: sent, report: report, decision: decision,
      breaker: breaker)
  }
}

extension PurchaseRecord {
  /// The id of its receipt; empty without one.
  public var receiptID: ReceiptID { receipt?.id ?? "" }
}

extension SaveBreaker {
  public init(app: AppSlug, breaker: Breaker) { self.init(AppDestination(app, "purchasely"), breaker) }
}

extension [AppDestination: Breaker] {
  /// The breaker of Purchasely.
  public subscript(app: AppSlug) -> Breaker? { self[AppDestination(app, "purchasely")] }
}
