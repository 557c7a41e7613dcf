// What an operator does to receipts. Each is decided again inside its transaction, whatever was shown before
// it.

public import Domain
public import SQLite

/// What became of one receipt that an operator named.
public enum OperatorResult: Sendable, Equatable {
  case done
  case notFound
  /// It is delivered already, and was not to be sent again without force (R3).
  case delivered
  /// It cannot be sent while this is not known.
  case lacks(Reason)
  /// Its state does not allow it.
  case notAllowed(ReceiptState)
  /// The context that was named is none of this app and user, or it serves another purchase (R5).
  case contextNotUsable
  /// Its user was forgotten; there is nothing left to send.
  case erased
  /// It is known already, and was not to be replaced without force: `user` or `price`.
  case known(Reason)
}

/// Takes a receipt up again: due at a moment, with its whole retry budget and its history.
public struct ReplayReceipt: StoreCommand {
  public var id: String
  /// Whether a delivered one is sent again.
  public var force: Bool
  /// When it is due; a past moment is now.
  public var dueAt: Timestamp

  public init(id: String, force: Bool, dueAt: Timestamp) {
    self.id = id
    self.force = force
    self.dueAt = dueAt
  }

  public func apply(to store: StoreSession) throws(SQLiteError) -> OperatorResult {
    try change(try store.purchases.find(receipt: id), in: store)
  }

  func change(_ old: PurchaseRecord?, in store: StoreSession) throws(SQLiteError) -> OperatorResult {
    guard let old, var receipt = old.receipt else { return .notFound }
    var record = old
    if receipt.state == .delivered && !force { return .delivered }
    if receipt.body == nil {
      // It never became ready; if nothing is lacking any more, an operator may send it as it is.
      switch store.compose(&receipt, for: record) {
      case .done: break
      case let refusal: return refusal
      }
    }
    receipt.state = .pending
    receipt.reason = nil
    receipt.waitUntil = nil
    receipt.deliveredAt = nil
    receipt.isReplay = true
    receipt.readyAt = receipt.readyAt ?? store.now
    store.restartBudget(of: &receipt, app: record.app, at: max(dueAt, store.now))
    try store.write(receipt, to: &record, from: old)
    return .done
  }
}

/// Stops a receipt.
public struct CancelReceipt: StoreCommand {
  public var id: String
  /// The operator's words.
  public var note: String

  public init(id: String, note: String) {
    self.id = id
    self.note = note
  }

  public func apply(to store: StoreSession) throws(SQLiteError) -> OperatorResult {
    try change(try store.purchases.find(receipt: id), in: store)
  }

  func change(_ old: PurchaseRecord?, in store: StoreSession) throws(SQLiteError) -> OperatorResult {
    guard let old, var receipt = old.receipt else { return .notFound }
    var record = old
    guard receipt.state != .delivered, receipt.state != .cancelled else { return .notAllowed(receipt.state) }
    receipt.state = .cancelled
    receipt.reason = .byOperator
    receipt.note = note
    receipt.waitUntil = nil
    receipt.nextAttemptAt = nil
    try store.write(receipt, to: &record, from: old)
    try store.offerFreedContexts()
    return .done
  }
}

extension StoreSession {
  /// Fixes the bytes of a receipt from what is known, however that came about.
  func compose(_ receipt: inout Receipt, for record: PurchaseRecord) -> OperatorResult {
    if record.purchase.isErased { return .erased }
    if record.purchase.awaitsSubscription { return .lacks(.subscription) }
    guard let rules = rules(of: record.app) else { return .notAllowed(receipt.state) }
    switch Join.content(of: record.purchase) {
    case .failure(let lack): return .lacks(lack.reason)
    case .success(let ready):
      receipt.priceID = ready.content.priceID
      receipt.priceMismatch = ready.priceMismatch
      receipt.body = rules.compose(ready.content)
      return .done
    }
  }

  func write(
    _ receipt: Receipt, to record: inout PurchaseRecord, from old: PurchaseRecord
  ) throws(SQLiteError) {
    record.receipt = receipt
    record.updatedAt = now
    try purchases.update(record, from: old)
    changes.note(record)
    noteWeakerClaim(of: record, before: old)
    try planLookUp(of: record, before: old)
  }
}
