// Waits that ran out, and waits that are decided again because the configuration is another one.

public import Domain

/// Decides again about every receipt whose wait has run out, a slice at a time. Receipts of an app that is
/// not configured keep their place: once it is configured again, those that are overdue come first.
public struct EndWaits: StoreCommand {
  static let slice: Int64 = 200

  public init() {}

  /// When to come again; nil when nothing waits.
  public func apply(to store: StoreSession) throws(StoreFault) -> Timestamp? {
    let apps = store.rules.keys.sorted()
    // Each app has its share of a slice, so that none waits for another one's thousands (R11); what some do
    // not need is for the others.
    let share = max(10, Self.slice / Int64(max(1, apps.count)))
    var left = Self.slice
    var busy = apps
    while left > 0, !busy.isEmpty {
      var stillBusy: [String] = []
      for app in busy {
        let limit = min(share, left)
        let found = try store.purchases.overdue(app: app, now: store.now, limit: limit)
        for row in found {
          // One purchase may give its context to another one of this slice.
          guard let record = try store.purchases.find(row: row), record.receipt?.state == .waiting else {
            continue
          }
          var settled = record
          try store.settle(&settled, before: record)
          if settled == record { try postpone(record, in: store) }
        }
        left -= Int64(found.count)
        if found.count == limit { stillBusy.append(app) }
      }
      busy = stillBusy
    }
    try store.offerFreedContexts()
    var next: Timestamp?
    for app in apps {
      if let wait = try store.purchases.nextWait(app: app) { next = min(next ?? wait, wait) }
    }
    return next
  }

  /// Nothing can be decided about it: it stays waiting, and is looked at again in an hour.
  private func postpone(_ record: PurchaseRecord, in store: StoreSession) throws(StoreFault) {
    var postponed = record
    postponed.apply(.postponed(until: store.reconsideredAt), at: store.moment(of: record.app))
    try store.purchases.update(postponed, from: record)
  }
}

/// Decides again about a slice of an app's waiting receipts, whose waits follow from the configuration: it
/// was read again, or the program was started with another one.
public struct ReconsiderWaits: StoreCommand, Equatable {
  static let slice: Int64 = 200

  /// Where a slice ended.
  public struct Place: Sendable, Equatable {
    var until: Timestamp
    var row: Int64
  }

  public var app: String
  /// When the first slice was taken: what changed since then was decided by the configuration in force.
  public var startedAt: Timestamp
  /// Where the slice before ended; nil for the first.
  public var after: Place?

  public init(app: String, startedAt: Timestamp, after: Place? = nil) {
    self.app = app
    self.startedAt = startedAt
    self.after = after
  }

  /// Where the next slice begins; nil when this was the last.
  public func apply(to store: StoreSession) throws(StoreFault) -> Place? {
    let start = (until: after?.until ?? Timestamp(unixMilliseconds: .min), row: after?.row ?? .min)
    let found = try store.purchases.waiting(app: app, after: start, limit: Self.slice)
    for seen in found where seen.updatedAt < startedAt {
      // One purchase may give its context to another one of this slice.
      guard let record = try store.purchases.find(row: seen.rowID), record.receipt?.state == .waiting else {
        continue
      }
      var settled = record
      try store.settle(&settled, before: record)
    }
    try store.offerFreedContexts()
    guard found.count == Self.slice, let last = found.last, let until = last.receipt?.waitUntil else {
      return nil
    }
    return Place(until: until, row: last.rowID)
  }
}
