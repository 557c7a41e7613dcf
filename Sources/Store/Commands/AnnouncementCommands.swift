// Announces paid purchases without a user to an app's webhook, each with a claim. Only a hash of a token is
// stored, so each attempt has a new claim, and one that certainly did not arrive is revoked.

public import Domain

/// Begins an attempt to announce a purchase.
public struct BeginAnnouncement: StoreCommand {
  public var receiptID: ReceiptID
  public var app: AppSlug
  /// How long the token is valid.
  public var lifetime: Duration
  /// When the next attempt follows, and when no more.
  public var retry: RetryPolicy
  /// How long the attempt may take.
  public var timeout: Duration

  public init(
    _ receiptID: ReceiptID, app: AppSlug, lifetime: Duration, retry: RetryPolicy, timeout: Duration
  ) {
    self.receiptID = receiptID
    self.app = app
    self.lifetime = lifetime
    self.retry = retry
    self.timeout = timeout
  }

  public var scope: CommandScope { .apps([app]) }

  /// - Returns: what to send; nil if nothing is to be sent now.
  public func apply(to store: StoreSession) throws(StoreFault) -> ClaimAnnouncement? {
    guard let record = try store.purchases.find(receipt: receiptID), record.app == app,
      let open = try store.announcements.find(record.rowID), open.dueAt <= store.now
    else { return nil }
    let isOverdue = store.now.duration(since: open.since) > retry.giveUpAfter
    guard !isOverdue, record.purchase.canBeClaimed(record.receipt) else {
      try store.announcements.drop(record.rowID)
      return nil
    }
    let step = min(Int(clamping: open.attempts), retry.schedule.count - 1)
    let next = store.now + timeout + retry.schedule[step]
    switch try OfferClaim(receiptID, app: app, origin: .webhook, lifetime: lifetime).apply(to: store) {
    case .offered(let claim, let token):
      try store.announcements.begin(record.rowID, nextAt: next)
      return ClaimAnnouncement(claim: claim, token: token, receiptID: receiptID, purchase: record.purchase)
    case .tooMany:
      // Nobody knows whether the messages with the open claims arrived. One that expires or is revoked makes
      // room for another attempt.
      try store.announcements.postpone(record.rowID, until: next)
      store.changes.note(announcementDueAt: next, of: app)
    case .notFound, .notClaimable: try store.announcements.drop(record.rowID)
    }
    return nil
  }
}

/// Ends an attempt to announce a purchase.
public struct EndAnnouncement: StoreCommand {
  public enum Result: Sendable {
    case accepted
    /// The webhook answered that it will never accept it.
    case refused
    /// It did not arrive, or was not accepted: the claim is revoked, and another attempt follows.
    case failed
    /// It was sent, and nobody knows whether it arrived: another attempt follows.
    case inDoubt
  }

  public var announcement: ClaimAnnouncement
  public var app: AppSlug
  public var result: Result

  public init(_ announcement: ClaimAnnouncement, app: AppSlug, _ result: Result) {
    self.announcement = announcement
    self.app = app
    self.result = result
  }

  public var scope: CommandScope { .apps([app]) }

  public func apply(to store: StoreSession) throws(StoreFault) {
    if result == .refused || result == .failed {
      _ = try store.claims.revoke(announcement.claim.id, at: store.now)
    }
    guard result == .accepted || result == .refused,
      let record = try store.purchases.find(receipt: announcement.receiptID)
    else { return }
    try store.announcements.drop(record.rowID)
  }
}

/// Makes an app's announcements that were not accepted due now: a new configuration may have corrected what
/// made them fail.
public struct RetryAnnouncements: StoreCommand {
  public var app: AppSlug

  public init(_ app: AppSlug) { self.app = app }

  public var scope: CommandScope { .apps([app]) }

  public func apply(to store: StoreSession) throws(StoreFault) {
    try store.announcements.retry(app, at: store.now)
    store.changes.note(announcementDueAt: store.now, of: app)
  }
}

extension Joiner {
  /// Plans the announcement of a receipt that begins to lack only its user. It waits for other events of the
  /// checkout, which may name the user.
  func planAnnouncement(of record: PurchaseRecord, before: PurchaseRecord?) throws(StoreFault) {
    guard record.receipt?.reason == .user, !record.isCopy, before?.receipt?.reason != .user,
      let rules = store.rules(of: record.app), rules.announcesClaims,
      record.purchase.canBeClaimed(record.receipt)
    else { return }
    let dueAt = store.now + rules.join.settle
    try store.announcements.add(record, since: store.now, dueAt: dueAt)
    store.changes.note(announcementDueAt: dueAt, of: record.app)
  }
}
