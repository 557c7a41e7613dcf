// An operator's changes of receipts. Each is decided inside its transaction from the present state, whatever
// was displayed before.

public import Domain

/// The result for one receipt that an operator named.
public enum OperatorResult: Sendable, Equatable {
  case done
  case notFound
  /// It is already delivered, and force was not set (R3).
  case delivered
  /// It cannot be sent without this value.
  case lacks(Reason)
  /// Its state does not allow it.
  case notAllowed(ReceiptState)
  /// The named context belongs to another app or user, or another purchase has it (R5).
  case contextNotUsable
  /// Its user was erased; there is nothing left to send.
  case erased
  /// The value is known, and force was not set: `user` or `price`.
  case known(Reason)
}

/// Replays a receipt: due at a moment, with its whole retry budget. Its history stays.
public struct ReplayReceipt: StoreCommand {
  public var id: ReceiptID
  /// Whether to send a delivered receipt again.
  public var force: Bool
  /// When it is due; a past moment means now.
  public var dueAt: Timestamp

  public init(id: ReceiptID, force: Bool, dueAt: Timestamp) {
    self.id = id
    self.force = force
    self.dueAt = dueAt
  }

  public var reads: [ReadKey] { ReadKey.receipt(id) }

  public func apply(to store: StoreSession) throws(StoreFault) -> OperatorResult {
    try change(try store.purchases.find(receipt: id), in: store)
  }

  func change(_ old: PurchaseRecord?, in store: StoreSession) throws(StoreFault) -> OperatorResult {
    guard let old, let receipt = old.receipt else { return .notFound }
    if receipt.state == .delivered && !force { return .delivered }
    var payload: ReceiptPayload?
    let rules = store.rules(of: old.app)
    if receipt.isReversal, receipt.state != .delivered {
      // Only the destination that accepted the purchase is to know of its reversal, in the bytes made for it.
      guard let own = receipt.destination, rules?.destinations.contains(own) == true else {
        return .lacks(.destination)
      }
    } else if receipt.body == nil || receipt.destination != rules?.destination(old.purchase.key.processor) {
      // It never became ready, or its bytes are for another destination than the present one. If nothing is
      // missing, an operator may send it as it is.
      switch store.payload(of: old) {
      case .success(let made): payload = made
      case .failure(let refusal): return refusal.result
      }
    }
    return try store.apply(.replayed(dueAt: dueAt, force: force, payload: payload), to: old)
  }
}

/// Cancels a receipt.
public struct CancelReceipt: StoreCommand {
  public var id: ReceiptID
  /// The operator's note.
  public var note: String

  public init(id: ReceiptID, note: String) {
    self.id = id
    self.note = note
  }

  public var reads: [ReadKey] { ReadKey.receipt(id) }

  public func apply(to store: StoreSession) throws(StoreFault) -> OperatorResult {
    try change(try store.purchases.find(receipt: id), in: store)
  }

  func change(_ old: PurchaseRecord?, in store: StoreSession) throws(StoreFault) -> OperatorResult {
    guard let old, old.receipt != nil else { return .notFound }
    let result = try store.apply(.cancelled(note: note), to: old)
    try store.offerFreedContexts()
    return result
  }
}

extension StoreSession {
  /// Makes the body of a purchase's receipt from what is known now.
  func payload(of record: PurchaseRecord) -> Result<ReceiptPayload, PayloadRefusal> {
    if record.purchase.isErased { return .failure(.erased) }
    if record.purchase.awaitsObject { return .failure(.lacks(.subscription)) }
    guard let rules = rules(of: record.app) else { return .failure(.appNotConfigured(record.receipt?.state)) }
    switch Join.content(of: record.purchase, rules.processor(of: record.purchase)) {
    case .failure(let lack): return .failure(.lacks(lack.reason))
    case .success(let ready):
      guard let payload = rules.payload(ready.content, ready.priceMismatch) else {
        return .failure(.lacks(.destination))
      }
      return .success(payload)
    }
  }

  /// Applies an operator's change to a receipt, and saves it.
  func apply(_ event: ReceiptEvent, to old: PurchaseRecord) throws(StoreFault) -> OperatorResult {
    var record = old
    if let refusal = record.apply(event, at: moment(of: old)) { return refusal.result }
    try write(&record, from: old)
    return .done
  }

  func write(_ record: inout PurchaseRecord, from old: PurchaseRecord) throws(StoreFault) {
    record.updatedAt = now
    try purchases.update(record, from: old)
    changes.note(record)
    noteWeakerClaim(of: record, before: old)
    try planLookup(of: record, before: old)
  }
}

/// Why no body can be made for a purchase.
enum PayloadRefusal: Error {
  case erased
  case lacks(Reason)
  /// Only the rules of its app can make the body.
  case appNotConfigured(ReceiptState?)

  var result: OperatorResult {
    switch self {
    case .erased: .erased
    case .lacks(let reason): .lacks(reason)
    case .appNotConfigured(let state): .notAllowed(state ?? .waiting)
    }
  }
}

extension ReceiptRefusal {
  var result: OperatorResult {
    switch self {
    case .notAllowed(let state): .notAllowed(state)
    case .hasNoBody: .notAllowed(.waiting)
    }
  }
}
