// An operator corrects a receipt that was delivered. The destination has its bytes, so a second receipt says
// what is right. It is in its own row of `purchases`, with the same object: deliveries, attempts, lists,
// retention and erasure treat it as any other receipt, and the join never finds it.

public import Domain

/// Makes a second receipt for the purchase of a delivered one, with another user, price or context. If the
/// purchase has a copy for a second destination, that is corrected, too.
public struct CorrectReceipt: StoreCommand {
  public var id: ReceiptID
  /// The right user; nil to keep the user. With another user, the join's rule chooses a context of that one.
  public var userID: UserID?
  /// The right price; nil to keep the price.
  public var priceID: PriceID?
  /// The context to send.
  public var contextID: ContextID?

  public init(id: ReceiptID, userID: UserID?, priceID: PriceID?, contextID: ContextID?) {
    self.id = id
    self.userID = userID
    self.priceID = priceID
    self.contextID = contextID
  }

  public func apply(to store: StoreSession) throws(StoreFault) -> OperatorResult {
    try change(try store.purchases.find(receipt: id), in: store)
  }

  /// The row of a correction that is not made yet: no row has a negative number.
  private static let noRow = PurchaseRowID(-1)

  /// What a correction would be, or why there is none.
  enum Plan {
    case refused(OperatorResult)
    case made(PurchaseRecord)
  }

  func change(_ old: PurchaseRecord?, in store: StoreSession) throws(StoreFault) -> OperatorResult {
    guard let old else { return .notFound }
    let planned: PurchaseRecord
    switch try plan(old, in: store) {
    case .refused(let result): return result
    case .made(let record): planned = record
    }
    guard let payload = planned.receipt?.payload else { return .notAllowed(.waiting) }
    // No refusal may follow from here on, because the rows written so far would be kept.
    var record = planned
    record.rowID = try store.counts.makePurchaseRow()
    let moment = store.moment(of: record)
    let correction = store.receiptIdentifier(row: record.rowID)
    guard let receipt = old.receipt else { return .notFound }
    record.receipt = .correction(id: correction, of: receipt, payload, at: moment)
    var corrected = old
    corrected.apply(.corrected(by: correction), at: moment)
    var joiner = Joiner(store)
    try joiner.write(&corrected, from: old)
    try store.insert(record)
    // The purchase keeps a context that the correction sends, too.
    if let contextID = record.purchase.contextID, contextID != old.purchase.contextID, !record.isCopy,
      let context = try store.contexts.find(app: record.app, id: contextID)
    {
      _ = try joiner.acquire(context, for: record.rowID)
    }
    try joiner.correctCopy(of: old, as: record.purchase)
    try joiner.offerFreedContexts()
    return .done
  }

  /// Changes nothing in the store.
  func plan(_ old: PurchaseRecord, in store: StoreSession) throws(StoreFault) -> Plan {
    guard let receipt = old.receipt else { return .refused(.notFound) }
    if receipt.state == .delivered, receipt.isReversal { return .refused(.reversed) }
    var corrected = old
    if let refusal = corrected.apply(.corrected(by: id), at: store.moment(of: old)) {
      return .refused(refusal.result)
    }
    var record = PurchaseRecord(
      rowID: Self.noRow, app: old.app, purchase: old.purchase, receipt: receipt, updatedAt: store.now)
    let supplied = CompleteReceipt(
      id: id, userID: userID, priceID: priceID, contextID: contextID, force: true)
    if let refusal = try supplied.supply(to: &record, in: store) { return .refused(refusal) }
    // What the receipt said of its user is wrong, so the correction does not say it as another name.
    if let wrong = old.purchase.userID, wrong != record.purchase.userID { record.purchase.forget(wrong) }
    let payload: ReceiptPayload
    do throws(Refused) { payload = try store.payload(of: record) } catch {
      return .refused(error.result)
    }
    let saysTheSame =
      record.purchase.userID == old.purchase.userID && payload.priceID == receipt.priceID
      && record.purchase.context == old.purchase.context
    guard !saysTheSame else { return .refused(.unchanged) }
    record.receipt = .correction(id: id, of: receipt, payload, at: store.moment(of: record))
    return .made(record)
  }
}

extension Receipt {
  /// What it sends; nil if that is not known yet.
  fileprivate var payload: ReceiptPayload? {
    guard let destination, let body else { return nil }
    return ReceiptPayload(
      destination: destination, priceID: priceID, priceMismatch: priceMismatch, body: body)
  }
}

/// Returns what `CorrectReceipt` would make. Changes nothing.
public struct PreviewCorrection: StoreCommand {
  public var command: CorrectReceipt

  public init(_ command: CorrectReceipt) { self.command = command }

  public func apply(to store: StoreSession) throws(StoreFault) -> PreviewCompletion.Outcome {
    guard let old = try store.purchases.find(receipt: command.id) else { return .init(result: .notFound) }
    return switch try command.plan(old, in: store) {
    case .refused(let result): .init(result: result)
    case .made(let record): .init(result: .done, record: record)
    }
  }
}
