// Records the outcomes of delivery attempts.

public import Domain

/// One attempt, as logged.
public struct AttemptReport: Sendable, Equatable {
  public var startedAt: Timestamp
  public var duration: Duration
  public var status: Int64?
  /// One word for why there is no complete answer, or why a success status accepted nothing.
  public var error: String?
  /// The address that the error concerns, and its error text.
  public var detail: String?
  /// Whether the request was sent but not answered: it may have arrived.
  public var isAmbiguous: Bool
  /// The beginning of the answer.
  public var response: [UInt8]

  public init(
    startedAt: Timestamp, duration: Duration, status: Int64?, error: String?,
    detail: String? = nil, isAmbiguous: Bool, response: [UInt8]
  ) {
    self.startedAt = startedAt
    self.duration = duration
    self.status = status
    self.error = error
    self.detail = detail
    self.isAmbiguous = isAmbiguous
    self.response = response
  }

  /// Whether the destination accepted the receipt.
  public var isAcceptance: Bool { status.map { (200...299).contains($0) } ?? false && !isHiddenRefusal }

  /// Whether the destination accepted nothing despite a success status.
  private var isHiddenRefusal: Bool { Reason.hiddenRefusals.contains { $0.text == error } }

  /// Why the attempt failed, if it did.
  public var cause: Reason {
    if isHiddenRefusal, let error { return Reason(error) }
    return status.map { .status(Int(clamping: $0)) } ?? Reason(error ?? "no_answer")
  }
}

extension AttemptReport {
  /// Whether the destination received, or may have received, the request.
  var mayHaveArrived: Bool { status != nil || isAmbiguous }
}

/// Logs an attempt, updates its receipt, and saves its destination's breaker, in one transaction.
public struct RecordAttempt: StoreCommand {
  /// The error of an attempt that receiptd interrupted at its own stop.
  public static let cutShort = "cancelled"

  /// Its row alone does not name it: after a failover that lost commits, another receipt may have the number.
  public var receipt: ReceiptID
  /// Where it was sent.
  public var place: AppDestination
  /// The bytes that were sent; nil if they are the receipt's.
  public var sent: [UInt8]?
  public var report: AttemptReport
  public var decision: Delivery.Decision
  public var breaker: Breaker
  /// When the decision was made; nil for now.
  public var decidedAt: Timestamp?
  /// Whether it was submitted before and failed. A database behind a network may have stored it then.
  public var isRepeat = false

  public init(
    of receipt: ReceiptID, to place: AppDestination, sent: [UInt8]? = nil, report: AttemptReport,
    decision: Delivery.Decision, breaker: Breaker, decidedAt: Timestamp? = nil
  ) {
    self.receipt = receipt
    self.place = place
    self.sent = sent
    self.report = report
    self.decision = decision
    self.breaker = breaker
    self.decidedAt = decidedAt
  }

  public var reads: [ReadKey] { ReadKey.receipt(receipt) }
  public var scope: CommandScope { .apps([place.app]) }

  /// The receipt after the change; nil if it no longer exists.
  public func apply(to store: StoreSession) throws(StoreFault) -> Receipt? {
    try store.breakers.save(breaker, of: place)
    guard let before = try store.purchases.find(receipt: receipt) else { return nil }
    let row = before.rowID
    if isRepeat, try store.attempts.contains(row: row, startedAt: report.startedAt) { return before.receipt }
    var record = before
    var joiner = Joiner(store)
    let isRedirected = isRedirected(record, store.rules(of: record.app))
    if let sent, report.mayHaveArrived, !isRedirected {
      try joiner.keepSent(sent, to: place.destination, in: &record)
    }
    let wasChangedMeanwhile = before != record
    var report = report
    // Its user was erased while the attempt was under way.
    let isErased = record.purchase.isErased
    if isErased { report.response = [] }
    try store.attempts.insert(report, row: row, at: place)
    if saysSomething {
      store.latencies.count(report.duration, report.isAcceptance ? .accepted : .failed, at: place)
    }
    if !isRedirected {
      record.apply(.attempted(attempt(on: before, now: store.now)), at: store.moment(of: record))
    }
    if let time = record.firstDelivery(after: before) {
      store.latencies.count(time, .sincePayment, at: place)
      store.changes.firstDeliveries.append(FirstDelivery(place: place, sincePayment: time))
    }
    store.reverse(&record)
    record.updatedAt = store.now
    let copy = wasChangedMeanwhile ? try joiner.copy(of: &record, before: before) : nil
    try store.purchases.update(record, from: before)
    store.changes.note(record)
    try joiner.write(copy)
    try store.followOutcome(of: record, before: before)
    if wasChangedMeanwhile { try store.planLookup(of: record, before: before) }
    try joiner.offerFreedContexts()
    return record.receipt
  }

  /// Whether the receipt may not go to the destination any more, and did not arrive there. It goes to the
  /// present destination (`ReconsiderReceipts`), so the outcome decides nothing about it.
  private func isRedirected(_ record: PurchaseRecord, _ rules: AppRules?) -> Bool {
    if case .delivered = decision { return false }
    return rules.map { !$0.allows(record, to: place.destination) } ?? false
  }

  /// An attempt interrupted by a stop says nothing about the destination.
  private var saysSomething: Bool { report.status != nil || report.error != Self.cutShort }

  /// - Parameter before: the purchase as it was when the attempt had ended.
  private func attempt(on before: PurchaseRecord, now: Timestamp) -> ReceiptAttempt {
    var decision = decision
    switch decision {
    case .delivered where before.purchase.isErased: decision = .delivered(importID: nil)
    case .failed(.gaveUp):
      // The time that is used up is that of the attempt. A replay since then has its own.
      if let receipt = before.receipt, let dueAt = receipt.nextAttemptAt, let began = receipt.retrySince,
        began > report.startedAt
      {
        decision = .retry(at: dueAt, spent: false)
      }
    case .retry(let at, let spent):
      // If the clock was set back since the decision, the retry keeps its distance from it.
      let ahead = max(.zero, (decidedAt ?? now).duration(since: now))
      decision = .retry(at: at.advanced(by: .zero - ahead), spent: spent)
    case .delivered, .failed: break
    }
    return ReceiptAttempt(
      status: report.status, cause: saysSomething ? report.cause : nil, decision: decision)
  }
}

extension PurchaseRecord {
  /// How long its payment waited for the delivery that this change is; nil if it is none, or a repeated one.
  fileprivate func firstDelivery(after old: PurchaseRecord) -> Duration? {
    guard let receipt, receipt.state == .delivered, let before = old.receipt, before.state != .delivered,
      before.deliveredAt == nil, !before.isReplay, !before.isReversal,
      let boughtAt = purchase.boughtAt, let deliveredAt = receipt.deliveredAt
    else { return nil }
    return max(.zero, deliveredAt.duration(since: boughtAt))
  }
}

/// Fails an app's receipts whose time for attempts ended while its destination is known to be down: without
/// attempts, nothing else would notice it.
public struct GiveUp: StoreCommand {
  /// The maximum number of receipts in one command.
  public static let rowsMax = 500

  public var app: AppSlug
  public var receipts: [ReceiptID]
  /// Receipts that became due, or were replayed, later than this have time left.
  public var cutoff: Timestamp

  public init(app: AppSlug, receipts: [ReceiptID], cutoff: Timestamp) {
    self.app = app
    self.receipts = receipts
    self.cutoff = cutoff
  }

  public var reads: [ReadKey] { receipts.flatMap(ReadKey.receipt) }
  public var scope: CommandScope { .apps([app]) }

  /// How many receipts failed, and when the oldest of them was made.
  public func apply(to store: StoreSession) throws(StoreFault) -> (count: Int, madeSince: Timestamp)? {
    var count = 0
    var madeSince = store.now
    for id in receipts {
      guard let old = try store.purchases.find(receipt: id) else { continue }
      var record = old
      if let began = old.receipt?.retrySince, began > cutoff { continue }
      guard record.apply(.gaveUp, at: store.moment(of: record)) == nil else { continue }
      record.updatedAt = store.now
      try store.purchases.update(record, from: old)
      store.changes.note(record)
      count += 1
      if let receipt = record.receipt { madeSince = min(madeSince, receipt.createdAt) }
    }
    return count > 0 ? (count, madeSince) : nil
  }
}

/// Saves the breaker of an app's destination.
public struct SaveBreaker: StoreCommand {
  public var place: AppDestination
  public var breaker: Breaker

  public init(_ place: AppDestination, _ breaker: Breaker) {
    self.place = place
    self.breaker = breaker
  }

  public var scope: CommandScope { .apps([place.app]) }

  public func apply(to store: StoreSession) throws(StoreFault) { try store.breakers.save(breaker, of: place) }
}

// MARK: - Reschedule

// Changes when receipts are due, without an attempt.

/// Makes pending receipts due later, without counting an attempt. It decides nothing from them, so it works
/// for a receipt that cannot be read.
public struct Reschedule: StoreCommand {
  public var receipts: [ReceiptID]
  public var until: Timestamp

  public init(_ receipts: [ReceiptID], until: Timestamp) {
    self.receipts = receipts
    self.until = until
  }

  public var reads: [ReadKey] { receipts.flatMap(ReadKey.receipt) }

  public func apply(to store: StoreSession) throws(StoreFault) {
    for id in receipts { try store.purchases.reschedule(id, until: until) }
  }
}
