// Decides again about receipts whose wait ended.

public import Domain

/// Decides again about every receipt whose wait has ended, a slice at a time. Receipts of an app that is not
/// configured are left alone; once the app is configured again, the longest overdue come first.
public struct EndWaits: StoreCommand {
  static let slice: Int64 = 200

  /// Whose receipts; nil for all configured apps.
  public var apps: Set<AppSlug>?

  public init(_ apps: Set<AppSlug>? = nil) { self.apps = apps }

  public var scope: CommandScope { apps.map { .apps($0) } ?? .all }

  /// The time of the next call; nil if no receipt waits.
  public func apply(to store: StoreSession) throws(StoreFault) -> Timestamp? {
    let apps = store.rules.keys.filter { self.apps?.contains($0) ?? true }.sorted()
    // Each app has its share of a slice, so that one app's backlog delays no other (R11). Unused shares go to
    // the other apps.
    let share = max(10, Self.slice / Int64(max(1, apps.count)))
    var left = Self.slice
    var busy = apps
    var joiner = Joiner(store)
    while left > 0, !busy.isEmpty {
      var stillBusy: [AppSlug] = []
      for app in busy {
        let limit = min(share, left)
        let found = try store.purchases.overdue(app: app, now: store.now, limit: limit)
        for row in found {
          // An earlier purchase of this slice may have changed this one, by giving it its context.
          guard let record = try store.purchases.find(row: row), record.receipt?.state == .waiting else {
            continue
          }
          var decided = record
          try joiner.decideAndSave(&decided, before: record)
          if decided == record { try postpone(record, in: store) }
        }
        left -= Int64(found.count)
        if found.count == limit { stillBusy.append(app) }
      }
      busy = stillBusy
    }
    try joiner.offerFreedContexts()
    var next: Timestamp?
    for app in apps {
      if let wait = try store.purchases.nextWait(app: app) { next = min(next ?? wait, wait) }
    }
    return next
  }

  /// Nothing can be decided: the receipt keeps waiting, and is checked again in an hour.
  private func postpone(_ record: PurchaseRecord, in store: StoreSession) throws(StoreFault) {
    var postponed = record
    postponed.apply(.postponed(until: store.reconsideredAt), at: store.moment(of: record))
    try store.purchases.update(postponed, from: record)
  }
}
