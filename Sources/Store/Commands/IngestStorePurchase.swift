// Ingests a purchase in an app store that a client reported.

public import Domain

/// Stores a purchase and makes its receipt, unless the purchase is known.
public struct IngestStorePurchase: StoreCommand {
  public var app: AppSlug
  public var userID: UserID
  public let report: PurchaseReport
  /// For the log.
  public var requestID: String?

  /// - Parameter report: names the user.
  public init(app: AppSlug, userID: UserID, report: PurchaseReport, requestID: String? = nil) {
    self.app = app
    self.userID = userID
    self.report = report
    self.requestID = requestID
  }

  /// A purchase as it is stored.
  public struct Stored: Sendable, Equatable {
    public var receiptID: ReceiptID
    public var state: ReceiptState
    public var productID: PriceID?
    /// When it was reported first.
    public var receivedAt: Timestamp

    /// - Returns: nil for a purchase without a receipt.
    init?(_ record: PurchaseRecord) {
      guard let receipt = record.receipt else { return nil }
      receiptID = receipt.id
      state = receipt.state
      productID = receipt.priceID ?? record.purchase.prices.first
      receivedAt = record.purchase.createdAt
    }
  }

  public enum Outcome: Sendable, Equatable {
    case stored(Stored)
    /// The same user reported it before. Nothing was changed.
    case repeated(Stored)
    /// It is another user's. Nothing was changed, because a wrong user is worse than none.
    case otherUser
    /// Its user was erased, or its receipt was deleted. Nothing was changed.
    case gone
  }

  public var reads: [ReadKey] { report.reads(app: app) }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    if let known = try store.purchases.find(app: app, key: report.key) {
      return try outcome(of: known, in: store)
    }
    if store.erasures.isInUse, try store.erasures.isErased(report.key, app: app) { return .gone }
    var joiner = Joiner(store)
    let ingested = try store.withCause(ChangeCause(requestID: requestID)) { () throws(StoreFault) in
      try joiner.ingest(report, app: app, keep: true)
    }
    guard let row = ingested.row, let record = try store.purchases.find(row: row), let stored = Stored(record)
    else { return .gone }
    return .stored(stored)
  }

  /// - Parameter known: the purchase's own row. If an operator corrected its receipt, the correction says
  ///   whose purchase it is.
  private func outcome(
    of known: PurchaseRecord, in store: StoreSession
  ) throws(StoreFault) -> Outcome {
    var record = known
    while let id = record.receipt?.correctedBy, let correction = try store.purchases.find(receipt: id) {
      record = correction
    }
    guard record.purchase.userID == userID, let stored = Stored(record) else { return .otherUser }
    return .repeated(stored)
  }
}
