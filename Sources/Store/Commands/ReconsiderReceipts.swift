// Decides again about the receipts of an app whose configuration changed.

public import Domain

/// Decides again about a slice of an app's receipts after a reload or a start. What a receipt waits for, and
/// where it is delivered, follow from the configuration: the waiting ones are decided again, and those that
/// are still to be delivered to a destination that the app does not have any more, or that may not get them,
/// go to the present one, or wait until there is one. Payers that are stored without their account get the
/// app's first.
public struct ReconsiderReceipts: StoreCommand, Equatable {
  static let slice: Int64 = 200

  /// Where a slice ended.
  public enum Place: Sendable, Equatable {
    /// Some payers of the app are not those of its account yet.
    case payers
    /// All receipts that wait until this moment are decided, up to this row.
    case waiting(until: Timestamp, row: PurchaseRowID)
    /// The waiting ones are decided; some pending ones remain.
    case pending
  }

  public var app: AppSlug
  /// The time of the first slice. Later changes were already decided by the present configuration.
  public var startedAt: Timestamp
  /// The end of the previous slice; nil for the first.
  public var after: Place?

  public init(app: AppSlug, startedAt: Timestamp, after: Place? = nil) {
    self.app = app
    self.startedAt = startedAt
    self.after = after
  }

  /// The start of the next slice; nil after the last one.
  public func apply(to store: StoreSession) throws(StoreFault) -> Place? {
    guard let rules = store.rules(of: app) else { return nil }
    var joiner = Joiner(store)
    let place: Place? =
      switch after {
      case nil, .payers:
        if try store.adoptPayers(of: app, rules, limit: Int(Self.slice)) {
          .payers
        } else {
          try decideWaits(after: (Timestamp(unixMilliseconds: .min), PurchaseRowID(.min)), &joiner)
        }
      case .waiting(let until, let row): try decideWaits(after: (until, row), &joiner)
      case .pending: try redirect(rules, &joiner)
      }
    try joiner.offerFreedContexts()
    return place
  }

  private func decideWaits(
    after start: (until: Timestamp, row: PurchaseRowID), _ joiner: inout Joiner
  ) throws(StoreFault) -> Place? {
    let store = joiner.store
    let found = try store.purchases.waiting(app: app, after: start, limit: Self.slice)
    for seen in found where seen.updatedAt <= startedAt {
      // An earlier purchase of this slice may have changed this one, by giving it its context.
      guard let record = try store.purchases.find(row: seen.rowID), record.receipt?.state == .waiting else {
        continue
      }
      var decided = record
      try joiner.decideAndSave(&decided, before: record)
    }
    guard found.count == Self.slice, let last = found.last, let until = last.receipt?.waitUntil else {
      return .pending
    }
    return .waiting(until: until, row: last.rowID)
  }

  /// Each redirected receipt leaves the set that is read, so the next slice begins at the start again.
  private func redirect(_ rules: AppRules, _ joiner: inout Joiner) throws(StoreFault) -> Place? {
    let store = joiner.store
    var rows: [PurchaseRowID] = []
    func left() -> Int64 { Self.slice - Int64(rows.count) }
    for destination in try store.purchases.pendingDestinations(of: app)
    where !rules.destinations.contains(destination) && left() > 0 {
      rows += try store.purchases.pending(AppDestination(app, destination), limit: left())
    }
    for exclusion in rules.exclusions where left() > 0 {
      rows += try store.purchases.pending(app, concernedBy: exclusion, limit: left())
    }
    for row in rows {
      guard let record = try store.purchases.find(row: row) else { continue }
      var redirected = record
      try store.redirect(&redirected)
      try joiner.save(&redirected, before: record)
    }
    return left() > 0 ? nil : .pending
  }
}

extension StoreSession {
  /// Sends a pending receipt to its present destination; without one, it waits. A reversal
  /// waits for the destination that accepted the purchase, and a copy for its own.
  fileprivate func redirect(_ record: inout PurchaseRecord) throws(StoreFault) {
    if record.receipt?.isReversal == false, let payload = try? payload(of: record) {
      record.apply(.redirected(payload), at: moment(of: record))
    } else {
      record.apply(.withdrawn(.destination, until: reconsideredAt), at: moment(of: record))
    }
  }
}
