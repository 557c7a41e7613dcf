// The copy of a purchase's receipt for a second destination: another row of the same object, whose receipt
// deliveries, attempts and lists treat as any other. It is made when the purchase's own receipt is ready,
// and follows what is decided about that until it is sent; each then ends as its destination answers. The
// writer's thread.

internal import Domain

/// A copy to write with the purchase's own row.
struct CopyChange {
  var record: PurchaseRecord
  /// Its row in the database; nil if there is none yet.
  var before: PurchaseRecord?
}

extension Joiner {
  /// Makes the copy of a receipt that becomes ready, or lets the copy follow a change.
  /// - Parameters:
  ///   - record: not saved yet; it learns the id of a new copy.
  ///   - before: its row in the database; nil if there is none yet.
  /// - Returns: what to write after the record; nil if there is nothing.
  func copy(
    of record: inout PurchaseRecord, before: PurchaseRecord?
  ) throws(StoreFault) -> CopyChange? {
    guard record.isOwn, let receipt = record.receipt else { return nil }
    guard let link = receipt.copy else { return try makeCopy(of: &record, before: before) }
    let isKnown = record.purchase == before?.purchase
    guard !isKnown || receipt.state != before?.receipt?.state || receipt.reason != before?.receipt?.reason,
      // An erasure treats each row alone, and may not be able to read one.
      receipt.reason != .erased, let old = try store.purchases.find(receipt: link.receipt),
      !old.purchase.isErased
    else { return nil }
    var copy = old
    let isFixed = try isFixed(old, receipt)
    if !isKnown { try learn(record, isFixed: isFixed, in: &copy) }
    follow(record, isFixed: isFixed, in: &copy)
    if !isKnown, !isFixed { recompose(&copy) }
    store.reverse(&copy)
    return copy == old ? nil : CopyChange(record: copy, before: old)
  }

  /// Saves a copy, after the purchase's own row.
  mutating func write(_ change: CopyChange?) throws(StoreFault) {
    guard var copy = change?.record else { return }
    copy.updatedAt = store.now
    if let before = change?.before {
      try store.purchases.update(copy, from: before)
    } else {
      try store.purchases.insert(copy)
    }
    store.changes.note(copy)
    try correctLater(copy)
  }

  /// Decides again about a copy that waits: its purchase, or its destination, may be there again.
  func decideCopy(_ record: inout PurchaseRecord) throws(StoreFault) {
    guard let receipt = record.receipt, receipt.state == .waiting, let link = receipt.copyOf else { return }
    // A correction has its own content.
    let own = receipt.corrects == nil ? try store.purchases.find(receipt: link.receipt) : nil
    let isFixed = try isFixed(record, own?.receipt)
    follow(own, isFixed: isFixed, in: &record)
  }

  private func makeCopy(
    of record: inout PurchaseRecord, before: PurchaseRecord?
  ) throws(StoreFault) -> CopyChange? {
    guard let receipt = record.receipt, receipt.state == .pending, !receipt.isReversal,
      // A receipt that is only sent again gets no copy, or a new destination would get all old purchases.
      receipt.readyAt != before?.receipt?.readyAt, let rules = store.rules(of: record.app),
      let name = rules.destinations(of: record.purchase, nil).second, name != receipt.destination,
      let payload = payload(of: record.purchase, to: name, rules),
      // Retention may have deleted the receipt of this copy (R2).
      try store.purchases.findCopy(app: record.app, key: record.purchase.key, for: name) == nil
    else { return nil }
    var copy = PurchaseRecord(
      rowID: try store.counts.makePurchaseRow(), app: record.app, purchase: record.purchase, receipt: nil,
      updatedAt: store.now)
    let id = store.receiptIdentifier(row: copy.rowID)
    let moment = store.moment(of: record, sentTo: name)
    copy.receipt = .copy(id: id, of: receipt.id, payload, at: moment)
    record.apply(.copied(ReceiptCopy(receipt: id, destination: name)), at: moment)
    return CopyChange(record: copy)
  }

  /// Whether a copy keeps its content: its destination may have it, a correction says what is right, or an
  /// operator sent it.
  private func isFixed(_ copy: PurchaseRecord, _ own: Receipt?) throws(StoreFault) -> Bool {
    if own?.correctedBy != nil || copy.receipt?.correctedBy != nil || copy.receipt?.isReplay == true {
      return true
    }
    return try !store.isUnsent(copy)
  }

  /// Adds what is known of the purchase to its copy. Content that may have been sent stays.
  private func learn(
    _ own: PurchaseRecord, isFixed: Bool, in copy: inout PurchaseRecord
  ) throws(StoreFault) {
    let known = copy.purchase
    copy.purchase = own.purchase
    guard isFixed else { return }
    copy.purchase.keepContent(of: known)
    guard known.contextSource == .guess, let id = known.contextID, id != own.purchase.contextID,
      let owner = try store.contexts.find(app: copy.app, id: id)?.purchaseRow, owner != own.rowID
    else { return }
    copy.apply(.contextDisputed, at: store.moment(of: copy))
  }

  private func payload(
    of purchase: Purchase, to name: DestinationName?, _ rules: AppRules
  ) -> ReceiptPayload? {
    guard case .success(let ready) = Join.content(of: purchase, rules.processor(of: purchase)) else {
      return nil
    }
    return rules.payload(ready.content, ready.priceMismatch, to: name)
  }

  /// Applies to a copy what is decided about the purchase's own receipt.
  /// - Parameter own: nil if retention has deleted it: then the copy's content is all there is.
  private func follow(_ own: PurchaseRecord?, isFixed: Bool, in copy: inout PurchaseRecord) {
    guard let rules = store.rules(of: copy.app) else { return }
    let moment = store.moment(of: copy)
    switch CopyStep(after: own?.receipt, isFixed: isFixed, copy.receipt) {
    case .nothing: return
    case .except: copy.apply(.excepted, at: moment)
    case .follow(let resolution): copy.apply(.followed(resolution), at: moment)
    case .send:
      let place = rules.destinations(of: copy.purchase, copy.receipt).present
      guard let payload = payload(of: copy.purchase, to: place, rules) else {
        guard copy.receipt?.state == .waiting else { return }
        copy.apply(.followed(.waiting(.destination, until: store.reconsideredAt)), at: moment)
        return
      }
      send(payload, isFixed: isFixed, &copy, at: moment)
    }
  }

  /// A copy that ended unsent has the content that a replay would send.
  private func recompose(_ copy: inout PurchaseRecord) {
    guard let receipt = copy.receipt, receipt.body != nil,
      receipt.state == .failed || receipt.state == .cancelled
    else { return }
    copy.apply(.recomposed(try? store.payload(of: copy)), at: store.moment(of: copy))
  }

  /// Makes a copy due with the content that is known, unless it has this content already or ended otherwise.
  private func send(
    _ payload: ReceiptPayload, isFixed: Bool, _ copy: inout PurchaseRecord, at moment: ReceiptMoment
  ) {
    guard let receipt = copy.receipt, receipt.state != .delivered else { return }
    let isSame = receipt.body == payload.body
    if receipt.state == .waiting || (receipt.state == .pending && !isSame && !isFixed) {
      copy.apply(.followed(.ready(payload)), at: moment)
    } else if receipt.reason == .foreign, isFixed {
      copy.apply(.replayed(dueAt: store.now, force: false, payload: nil), at: moment)
    } else if receipt.reason == .foreign || receipt.reason.map(Reason.ofJoin.contains) ?? false {
      copy.apply(.followed(.ready(payload)), at: moment)
    }
  }
}

// MARK: - Correction

extension Joiner {
  /// Says to the second destination, too, what a correction says to the first.
  /// - Parameters:
  ///   - own: the purchase whose receipt is corrected.
  ///   - right: what is right.
  mutating func correctCopy(of own: PurchaseRecord, as right: Purchase) throws(StoreFault) {
    guard let rules = store.rules(of: own.app), let link = own.receipt?.copy,
      let payload = payload(of: right, to: link.destination, rules),
      let old = try newest(link.receipt), let receipt = old.receipt, !old.purchase.isErased
    else { return }
    var copy = old
    if receipt.state != .delivered {
      let isUnsent = try store.isUnsent(old)
      // What may have arrived is repeated as it was.
      guard isUnsent || receipt.state != .pending else { return }
      copy.purchase = right
      let moment = store.moment(of: copy)
      if !isUnsent {
        copy.apply(.completed(payload, changesContext: true), at: moment)
      } else if copy.apply(.followed(.ready(payload)), at: moment) != nil {
        copy.apply(.recomposed(payload), at: moment)
      }
      return try write(CopyChange(record: copy, before: old))
    }
    // An operator has corrected it alone.
    guard receipt.body != payload.body else { return }
    let row = try store.counts.makePurchaseRow()
    let id = store.receiptIdentifier(row: row)
    let moment = store.moment(of: copy)
    guard copy.apply(.corrected(by: id), at: moment) == nil else { return }
    try write(CopyChange(record: copy, before: old))
    try write(
      CopyChange(
        record: PurchaseRecord(
          rowID: row, app: own.app, purchase: right,
          receipt: .correction(id: id, of: receipt, payload, at: moment), updatedAt: store.now)))
  }

  /// The receipt that counts: the one that corrects the last one of a chain.
  private func newest(_ id: ReceiptID) throws(StoreFault) -> PurchaseRecord? {
    var found = try store.purchases.find(receipt: id)
    while let next = found?.receipt?.correctedBy { found = try store.purchases.find(receipt: next) }
    return found
  }
}
