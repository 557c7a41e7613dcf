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
  /// Another receipt corrects it.
  case corrected
  /// A correction would say the same as the receipt.
  case unchanged
  /// It reports that the money went back, which nothing corrects.
  case reversed
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
    guard let rules = store.rules(of: old.app) else { return .notAllowed(receipt.state) }
    var payload: ReceiptPayload?
    do throws(SendingObstacle) {
      let destinations = rules.destinations(of: old.purchase, receipt)
      let content = try old.purchase.contentToReplay(
        receipt, to: destinations, rules.processor(of: old.purchase))
      if case .new(let content, let priceMismatch) = content {
        payload = try rules.payloadToSend(content, priceMismatch, to: destinations.present)
      }
    } catch {
      return error.result
    }
    var joiner = Joiner(store)
    return try joiner.apply(.replayed(dueAt: dueAt, force: force, payload: payload), to: old)
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
    // A receipt that cannot be read can be cancelled, too: that changes no column of its content.
    try change(try store.purchases.findToEnd(receipt: id), in: store)
  }

  func change(_ old: PurchaseRecord?, in store: StoreSession) throws(StoreFault) -> OperatorResult {
    guard let old, old.receipt != nil else { return .notFound }
    var joiner = Joiner(store)
    let result = try joiner.apply(.cancelled(note: note), to: old)
    try joiner.offerFreedContexts()
    return result
  }
}

extension StoreSession {
  /// Makes the body of a purchase's receipt from what is known now. Only the rules of its app can make it.
  func payload(of record: PurchaseRecord) throws(Refused) -> ReceiptPayload {
    guard let rules = rules(of: record.app) else {
      throw Refused(.notAllowed(record.receipt?.state ?? .waiting))
    }
    do throws(SendingObstacle) {
      let destinations = rules.destinations(of: record.purchase, record.receipt)
      let ready = try record.purchase.contentToSend(to: destinations, rules.processor(of: record.purchase))
      return try rules.payloadToSend(ready.content, ready.priceMismatch, to: destinations.present)
    } catch {
      throw Refused(error.result)
    }
  }
}

/// The refusal of an operator's change.
struct Refused: Error {
  let result: OperatorResult

  init(_ result: OperatorResult) { self.result = result }
}

extension SendingObstacle {
  var result: OperatorResult {
    switch self {
    case .erased: .erased
    case .corrected: .corrected
    case .lacks(let reason): .lacks(reason)
    }
  }
}

extension ReceiptRefusal {
  var result: OperatorResult {
    switch self {
    case .notAllowed(let state): .notAllowed(state)
    case .hasNoBody: .notAllowed(.waiting)
    case .isCorrected: .corrected
    }
  }
}

// MARK: - ReceiptChange

// The bulk commands' changes of single receipts, as one command type.

/// One change of one receipt.
public enum ReceiptChange: StoreCommand {
  case replay(ReplayReceipt)
  case cancel(CancelReceipt)
  case complete(CompleteReceipt)
  case correct(CorrectReceipt)

  public var reads: [ReadKey] {
    switch self {
    case .replay(let command): command.reads
    case .cancel(let command): command.reads
    // The app and user, by which the context is found, are known only from the row.
    case .complete, .correct: []
    }
  }

  public func apply(to store: StoreSession) throws(StoreFault) -> OperatorResult {
    switch self {
    case .replay(let command): try command.apply(to: store)
    case .cancel(let command): try command.apply(to: store)
    case .complete(let command): try command.apply(to: store)
    case .correct(let command): try command.apply(to: store)
    }
  }
}
