// An operator supplies what a receipt lacks. The join's own rule chooses the context, unless the operator
// names one.

public import Domain

/// Supplies what a receipt lacks, and sends the receipt.
public struct CompleteReceipt: StoreCommand {
  public var id: ReceiptID
  public var userID: UserID?
  public var priceID: PriceID?
  /// The context to send; nil to let the join choose one, if there is any.
  public var contextID: ContextID?
  /// Whether to replace a user or a price that is known.
  public var force: Bool

  public init(
    id: ReceiptID, userID: UserID?, priceID: PriceID?, contextID: ContextID?, force: Bool = false
  ) {
    self.force = force
    self.id = id
    self.userID = userID
    self.priceID = priceID
    self.contextID = contextID
  }

  public func apply(to store: StoreSession) throws(StoreFault) -> OperatorResult {
    try change(try store.purchases.find(receipt: id), in: store)
  }

  func change(_ old: PurchaseRecord?, in store: StoreSession) throws(StoreFault) -> OperatorResult {
    guard let old else { return .notFound }
    var record = old
    if let refusal = try complete(&record, in: store) { return refusal }
    var joiner = Joiner(store)
    // No refusal may follow from here on, because the rows written so far would be kept.
    if old.purchase.contextID != record.purchase.contextID, !record.isCopy {
      if let contextID = record.purchase.contextID,
        let context = try store.contexts.find(app: record.app, id: contextID)
      {
        _ = try joiner.acquire(context, for: record.rowID)
      }
      if let former = old.purchase.contextID { try joiner.free(former, by: old) }
    }
    try joiner.write(&record, from: old)
    try joiner.offerFreedContexts()
    return .done
  }

  /// Supplies the values and makes the content, in the record only.
  /// - Returns: why this is not possible; nil on success.
  func complete(
    _ record: inout PurchaseRecord, in store: StoreSession
  ) throws(StoreFault) -> OperatorResult? {
    guard let receipt = record.receipt else { return .notFound }
    // Checked before values are supplied, so that this refusal is the one that is reported.
    guard receipt.state != .delivered, receipt.state != .pending, !receipt.isReversal else {
      return .notAllowed(receipt.state)
    }
    let contextID = record.purchase.contextID
    if let refusal = try supply(to: &record, in: store) { return refusal }
    let payload: ReceiptPayload
    do throws(Refused) { payload = try store.payload(of: record) } catch { return error.result }
    let event = ReceiptEvent.completed(payload, changesContext: contextID != record.purchase.contextID)
    return record.apply(event, at: store.moment(of: record))?.result
  }

  /// - Returns: why the operator's values cannot be used; nil if they can.
  func supply(
    to record: inout PurchaseRecord, in store: StoreSession
  ) throws(StoreFault) -> OperatorResult? {
    if record.purchase.isErased { return .erased }
    if !force {
      if let known = record.purchase.userID, let userID, userID != known { return .known(.user) }
      if let priceID, !record.purchase.prices.isEmpty, !record.purchase.prices.contains(priceID) {
        return .known(.price)
      }
    }
    if let priceID {
      record.purchase.prices = [priceID]
      record.purchase.priceSource = .checkout
    }
    if let userID, userID != record.purchase.userID {
      if record.purchase.contextID != nil { record.purchase.dropContext() }
      record.purchase.setUser(NamedUser(id: userID, source: .byOperator, standing: .counts))
    }
    guard let contextID else { return try chooseContext(for: &record, in: store) }
    guard contextID != record.purchase.contextID else { return nil }
    guard let context = try store.contexts.find(app: record.app, id: contextID),
      try record.isCopy ? context.isOf(record) : store.mayAcquire(context, for: record.rowID),
      record.purchase.userID == nil || record.purchase.userID == context.userID
    else { return .contextNotUsable }
    record.purchase.setUser(NamedUser(id: context.userID, source: .byOperator, standing: .counts))
    record.purchase.contextID = contextID
    record.purchase.context = context.blob
    record.purchase.contextSource = .byOperator
    return nil
  }

  /// Chooses a context by the join's rule, from what is known now.
  private func chooseContext(
    for record: inout PurchaseRecord, in store: StoreSession
  ) throws(StoreFault) -> OperatorResult? {
    guard record.purchase.context == nil, !record.isCopy, let rules = store.rules(of: record.app),
      let chosen = try Joiner(store).guess(for: record, rules)
    else { return nil }
    record.purchase.contextID = chosen.context.id
    record.purchase.context = chosen.context.blob
    record.purchase.contextSource = .guess
    return nil
  }
}

extension ContextRecord {
  /// Whether the purchase of a copy has it. A copy itself claims none.
  fileprivate func isOf(_ copy: PurchaseRecord) -> Bool {
    purchaseRow != nil && purchaseRow == copy.receipt?.copyOf?.receipt.purchaseRow
  }
}

/// Returns what `CompleteReceipt` would make of a receipt. Changes nothing.
public struct PreviewCompletion: StoreCommand {
  public var command: CompleteReceipt

  public init(_ command: CompleteReceipt) { self.command = command }

  public struct Outcome: Sendable, Equatable {
    public var result: OperatorResult
    /// The receipt after completion; nil if it cannot be completed.
    public var record: PurchaseRecord?
  }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    guard var record = try store.purchases.find(receipt: command.id) else {
      return Outcome(result: .notFound)
    }
    if let refusal = try command.complete(&record, in: store) { return Outcome(result: refusal) }
    return Outcome(result: .done, record: record)
  }
}
