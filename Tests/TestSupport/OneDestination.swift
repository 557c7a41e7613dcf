// Rules of an app with one destination, for tests that are not about destinations.

public import Domain
public import Store

extension AppRules {
  /// Every processor's purchases go to one destination.
  public init(
    join: JoinPolicy, processors: [ProcessorName: ProcessorRules], replayWindow: Int = JobWork.windowDefault,
    to name: DestinationName = "purchasely", compose: @escaping @Sendable (ReceiptContent) -> [UInt8]
  ) {
    self.init(
      join: join, processors: processors, replayWindow: replayWindow, destinations: [name],
      destination: { _ in name },
      compose: { content, destination in destination == name ? compose(content) : nil }
    )
  }
}

extension StoreReader {
  /// The due receipts of an app, for every destination: new ones before replays, the longest overdue first.
  public func due(app: AppSlug, now: Timestamp, limit: Int) throws(StoreFault) -> [DueReceipt] {
    var receipts: [DueReceipt] = []
    for row in try dueRows(app: app, now: now, limit: limit) {
      if let receipt = try due(row: row, now: now) { receipts.append(receipt) }
    }
    return receipts
  }

  /// Their rows.
  public func dueRows(app: AppSlug, now: Timestamp, limit: Int) throws(StoreFault) -> [PurchaseRowID] {
    var rows: [PurchaseRowID] = []
    let destinations = try pendingDestinations(of: app)
    for isReplay in [false, true] {
      for destination in destinations where rows.count < limit {
        rows += try dueRows(
          AppDestination(app, destination), isReplay: isReplay, now: now, limit: limit - rows.count)
      }
    }
    return rows
  }
}
