// What a commit changed, for the workers that wait for it. Values.

public import Domain

/// A receipt that was delivered for the first time.
public struct FirstDelivery: Sendable, Equatable {
  public var place: AppDestination
  /// The time from the payment to the delivery.
  public var sincePayment: Duration
}

/// The changes of a committed batch that other workers wait for.
public struct StoreChanges: Sendable, Equatable {
  /// Apps with new receipts to deliver, and when the earliest is due.
  public var dueAt: [AppSlug: Timestamp] = [:]
  /// The same for replays.
  public var replaysDueAt: [AppSlug: Timestamp] = [:]
  /// Contexts whose checkout status may have changed.
  public var contextIDs: Set<ContextID> = []
  /// When the earliest wait set by the batch ends.
  public var waitUntil: Timestamp?
  /// Whether jobs have changed.
  public var hasJobs = false
  /// Whether pauses of apps have changed.
  public var hasPauses = false
  /// State changes of receipts, for the log.
  public var transitions: [ReceiptTransition] = []
  /// Receipts that were delivered for the first time, for metrics.
  public var firstDeliveries: [FirstDelivery] = []
  /// Processors with planned lookups, and when the earliest is due.
  public var lookupsDueAt: [AppProcessor: Timestamp] = [:]
  /// Apps with planned announcements of purchases without a user, and when the earliest is due.
  public var announcementsDueAt: [AppSlug: Timestamp] = [:]
  /// Payments whose capture was ordered without an app's request.
  public var orderedCaptures: [PurchaseRowID: AppProcessor] = [:]
  /// Payers that turned out to have several owners.
  public var sharedPayers: [SharedPayer] = []

  public init() {}

  public var isEmpty: Bool {
    dueAt.isEmpty && replaysDueAt.isEmpty && contextIDs.isEmpty && waitUntil == nil && !hasJobs
      && !hasPauses && transitions.isEmpty && firstDeliveries.isEmpty && lookupsDueAt.isEmpty
      && orderedCaptures.isEmpty && sharedPayers.isEmpty && announcementsDueAt.isEmpty
  }

  /// Adds another batch's changes.
  mutating func formUnion(_ other: StoreChanges) {
    dueAt.merge(other.dueAt) { min($0, $1) }
    replaysDueAt.merge(other.replaysDueAt) { min($0, $1) }
    lookupsDueAt.merge(other.lookupsDueAt) { min($0, $1) }
    announcementsDueAt.merge(other.announcementsDueAt) { min($0, $1) }
    orderedCaptures.merge(other.orderedCaptures) { $1 }
    contextIDs.formUnion(other.contextIDs)
    sharedPayers += other.sharedPayers
    transitions += other.transitions
    firstDeliveries += other.firstDeliveries
    if let until = other.waitUntil { waitUntil = min(waitUntil ?? until, until) }
    hasJobs = hasJobs || other.hasJobs
    hasPauses = hasPauses || other.hasPauses
  }

  /// Notes an announcement that is due at that moment.
  mutating func note(announcementDueAt moment: Timestamp, of app: AppSlug) {
    announcementsDueAt[app] = min(announcementsDueAt[app] ?? moment, moment)
  }

  /// Notes a lookup that is due at that moment.
  mutating func note(lookupsDueAt moment: Timestamp, _ place: AppProcessor) {
    lookupsDueAt[place] = min(lookupsDueAt[place] ?? moment, moment)
  }

  /// Notes that any receipt of an app may be due at that moment.
  mutating func note(anythingDueAt moment: Timestamp, of app: AppSlug) {
    dueAt[app] = moment
    replaysDueAt[app] = moment
  }

  mutating func note(_ record: PurchaseRecord) {
    guard let receipt = record.receipt else { return }
    if let contextID = record.purchase.contextID { contextIDs.insert(contextID) }
    if receipt.state == .pending, let at = receipt.nextAttemptAt {
      if receipt.isReplay {
        replaysDueAt[record.app] = min(replaysDueAt[record.app] ?? at, at)
      } else {
        dueAt[record.app] = min(dueAt[record.app] ?? at, at)
      }
    }
    if receipt.state == .waiting, let until = receipt.waitUntil { waitUntil = min(waitUntil ?? until, until) }
  }
}
