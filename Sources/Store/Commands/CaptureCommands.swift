// Orders to capture a payment, and what becomes of them. An order is stored before anything is sent, and its
// outcome before anybody gets an answer.

public import Domain

/// An open capture in the database, with what its calls need.
public struct OpenCapture: Sendable, Equatable {
  public var row: CaptureRowID
  public var key: PurchaseKey
  public var facts: PaymentFacts
  /// When the payment was started.
  public var startedAt: Timestamp
  public var orderedAt: Timestamp
  public var failures: Int64
  public var retryAt: Timestamp
  /// As `Capture` has it.
  public var isGivenUp: Bool

  public var reference: CaptureReference { CaptureReference(row: row, orderedAt: orderedAt) }
}

/// A capture that one transaction found, for a later one. As with `PurchaseReference`, its row alone does not
/// name it.
public struct CaptureReference: Sendable, Hashable {
  public var row: CaptureRowID
  /// It never changes.
  public var orderedAt: Timestamp

  public init(row: CaptureRowID, orderedAt: Timestamp) {
    self.row = row
    self.orderedAt = orderedAt
  }
}

/// Stores an order to capture a payment, unless it has a capture that the order shares.
public struct OrderCapture: StoreCommand {
  public var app: AppSlug
  public var order: CaptureOrder

  public init(app: AppSlug, _ order: CaptureOrder) {
    self.app = app
    self.order = order
  }

  public enum Outcome: Sendable, Equatable {
    /// The capture was stored just now.
    /// - isRepeat: as `CaptureAdmission.begin` has it.
    case begun(OpenCapture, isRepeat: Bool)
    /// Another order was stored before, and is not finished.
    case joined(OpenCapture)
    case ended(CaptureOutcome)
    /// The user has no such payment: it is another's, or was erased.
    case unknownPayment
  }

  public var reads: [ReadKey] { [.object(app: app, key: order.key), .user(app: app, id: order.user)] }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    guard let record = try store.purchases.find(app: app, key: order.key),
      record.purchase.userID == order.user, record.purchase.observations.contains(.started)
    else { return .unknownPayment }
    let row = record.rowID
    let admission = StoredCapture.admit(try store.captures.newest(ofPurchase: row))
    switch admission {
    case .ended(let outcome): return .ended(outcome)
    case .begin:
      try store.captures.add(purchase: row, of: record.place, grantID: order.grantID, at: store.now)
    case .join: break
    }
    guard let open = try store.captures.open(ofPurchase: row) else { return .unknownPayment }
    if case .begin(let isRepeat) = admission { return .begun(open, isRepeat: isRepeat) }
    return .joined(open)
  }
}

extension StoreSession {
  /// Orders the capture of a payment that is only authorised, if the configuration leaves that to the relay.
  /// Once: an order that ended without effect is the merchant's to repeat, and so is a payment that was
  /// authorised before the configuration said so.
  /// - Parameter before: nil for a new purchase.
  func captureIfAuthorised(_ record: PurchaseRecord, before: Purchase?) throws(StoreFault) {
    let purchase = record.purchase
    guard before?.observations.contains(.paid) != true || before?.payment?.isCaptured == nil else { return }
    guard purchase.payment?.isCaptured == false, purchase.observations.contains(.started),
      purchase.observations.contains(.paid), purchase.observations.isDisjoint(with: [.closed, .reversed]),
      rules(of: record.app)?.processor(of: purchase).capturesItself == true,
      try captures.newest(ofPurchase: record.rowID) == nil
    else { return }
    try captures.add(purchase: record.rowID, of: record.place, grantID: nil, at: now)
    changes.orderedCaptures[record.rowID] = record.place
  }
}

/// Stores the failures of a capture, so that a restart continues with the pause that is next, and sends
/// nothing if the processor refused it.
public struct SaveCapture: StoreCommand {
  public var capture: CaptureReference
  public var failures: Int64
  public var retryAt: Timestamp
  /// Why the last reply proved nothing; nil if it was not a reply.
  public var trouble: String?
  /// As `Capture` has it. Once stored, it stays.
  public var isGivenUp: Bool

  public init(
    _ capture: CaptureReference, failures: Int64, retryAt: Timestamp, trouble: String? = nil,
    isGivenUp: Bool = false
  ) {
    self.capture = capture
    self.failures = failures
    self.retryAt = retryAt
    self.trouble = trouble
    self.isGivenUp = isGivenUp
  }

  /// Its own row only.
  public var scope: CommandScope { .none }

  public func apply(to store: StoreSession) throws(StoreFault) {
    try store.captures.save(
      capture, failures: failures, retryAt: retryAt, trouble: trouble, isGivenUp: isGivenUp)
  }
}

/// Stores the outcome of a capture, and what is then known of the purchase. Only the first outcome counts.
public struct EndCapture: StoreCommand {
  public var app: AppSlug
  public var capture: CaptureReference
  public var outcome: CaptureOutcome
  /// Nil if nothing is known.
  public var report: PurchaseReport?

  public init(
    app: AppSlug, _ capture: CaptureReference, _ outcome: CaptureOutcome, report: PurchaseReport?
  ) {
    self.app = app
    self.capture = capture
    self.outcome = outcome
    self.report = report
  }

  public var reads: [ReadKey] { report?.reads(app: app) ?? [] }
  public var scope: CommandScope { .apps([app]) }

  /// - Returns: false if the capture has ended before, or is not there; then nothing is stored.
  public func apply(to store: StoreSession) throws(StoreFault) -> Bool {
    guard try store.captures.end(capture, outcome, at: store.now) else { return false }
    var joiner = Joiner(store)
    if let report { _ = try joiner.ingest(report, app: app, keep: false) }
    return true
  }
}

// MARK: - StorePayment

// Stores what a merchant backend knows of a payment.

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
    var joiner = Joiner(store)
    return try store.withCause(ChangeCause(requestID: requestID)) { () throws(StoreFault) in
      try joiner.ingest(report, app: app, keep: true).row != nil
    }
  }
}
