// When pending receipts are due, and for which destinations. The writer's thread.

internal import Domain

extension PurchaseRows {
  /// Makes an app's receipts that are due until a time due now.
  func expedite(_ place: AppDestination, now: Timestamp, until: Timestamp) throws(StoreFault) {
    forgetKnown()
    for isReplay in [false, true] {
      try expediting.run([
        .text(place.app), .time(now), .time(until), .flag(isReplay), .text(place.destination),
      ])
    }
  }

  /// Makes a pending receipt due later.
  func reschedule(_ id: ReceiptID, until moment: Timestamp) throws(StoreFault) {
    guard let row = id.purchaseRow else { return }
    forgetKnown()
    try rescheduling.run([.integer(row), .time(moment), .text(id)])
  }

  /// The rows of pending receipts for a destination, in any order.
  func pending(_ place: AppDestination, limit: Int64) throws(StoreFault) -> [PurchaseRowID] {
    try pendingFor.all([.text(place.app), .text(place.destination), .integer(limit)]) {
      row throws(StoreFault) in row.integer(0)
    }
  }

  /// The rows of an app's pending receipts that an exclusion concerns, in any order.
  func pending(
    _ app: AppSlug, concernedBy exclusion: DestinationExclusion, limit: Int64
  ) throws(StoreFault) -> [PurchaseRowID] {
    try pendingOfType.all([
      .text(app), .text(exclusion.destination), .text(exclusion.type), .integer(limit),
    ]) { row throws(StoreFault) in row.integer(0) }
  }

  /// The destinations of an app's pending receipts.
  func pendingDestinations(of app: AppSlug) throws(StoreFault) -> [DestinationName] {
    try namesOfPending.all([.text(app)]) { row throws(StoreFault) in try row.text(0)
    }
  }
}
