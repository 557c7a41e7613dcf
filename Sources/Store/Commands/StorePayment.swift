// Stores what a merchant backend knows of a payment.

public import Domain

/// Merges a report into its payment, like an event's, but without an event: it comes from a request of the
/// app, which is answered after this is on disk (R1).
public struct StorePayment: StoreCommand {
  public var app: AppSlug
  public var report: PurchaseReport
  /// For the log.
  public var requestID: String?

  public init(app: AppSlug, _ report: PurchaseReport, requestID: String? = nil) {
    self.app = app
    self.report = report
    self.requestID = requestID
  }

  public var reads: [ReadKey] { report.reads(app: app) }

  /// - Returns: whether it is stored; false for a payment whose user was erased, or whose receipt retention
  ///   deleted.
  public func apply(to store: StoreSession) throws(StoreFault) -> Bool {
    if store.erasures.isInUse,
      try store.erasures.isErased(report.key, sessionID: report.sessionID, app: app)
    {
      return false
    }
    return try store.withCause(ChangeCause(requestID: requestID)) { () throws(StoreFault) in
      try store.ingest(report, app: app, keep: true).row != nil
    }
  }
}
