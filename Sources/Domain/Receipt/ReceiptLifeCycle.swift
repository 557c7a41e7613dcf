// The life cycle of receipts: one function defines for each state and event what follows. ARCHITECTURE has
// the diagram; a test compares both. Pure; any thread.

extension Receipt {
  /// Makes a new receipt from the join's first decision about a purchase.
  public static func begin(
    id: ReceiptID, _ resolution: ReceiptResolution, at moment: ReceiptMoment
  ) -> Receipt {
    // A placeholder state and reason, replaced at once by `resolve`.
    var receipt = Receipt(id: id, createdAt: moment.now, state: .waiting, reason: .payment)
    receipt.resolve(resolution, at: moment)
    return receipt
  }

  /// Makes the copy of a purchase's own receipt that a second destination gets. It is due now.
  /// - Parameter own: the purchase's own receipt.
  public static func copy(
    id: ReceiptID, of own: ReceiptID, _ payload: ReceiptPayload, at moment: ReceiptMoment
  ) -> Receipt {
    var receipt = Receipt(
      id: id, createdAt: moment.now, state: .waiting, reason: .destination,
      copyOf: ReceiptCopy(receipt: own, destination: payload.destination))
    receipt.resolve(.ready(payload), at: moment)
    return receipt
  }

  /// Makes a receipt that corrects a delivered one of the same purchase. It is due now; new receipts are
  /// delivered before it, as before everything that operators send again.
  public static func correction(
    id: ReceiptID, of corrected: Receipt, _ payload: ReceiptPayload, at moment: ReceiptMoment
  ) -> Receipt {
    var receipt = Receipt(
      id: id, createdAt: moment.now, state: .waiting, reason: .byOperator, corrects: corrected.id,
      copyOf: corrected.copyOf, copy: corrected.copy)
    receipt.resolve(.ready(payload), at: moment)
    receipt.isReplay = true
    return receipt
  }

  /// Applies an event to the receipt.
  /// - Throws: `ReceiptRefusal` if its state does not allow the event; the receipt is then unchanged.
  public mutating func apply(
    _ event: ReceiptEvent, at moment: ReceiptMoment
  ) throws(ReceiptRefusal) {
    switch event {
    case .resolved(let resolution):
      guard isOpenToJoin else { throw .notAllowed(state) }
      resolve(resolution, at: moment)
    case .postponed(let until):
      guard state == .waiting else { throw .notAllowed(state) }
      waitUntil = until
    case .withdrawn(let reason, let until):
      guard state == .pending else { throw .notAllowed(state) }
      enter(.waiting, reason, until: until)
      // A reversal keeps its bytes: made again, it would be the message that was accepted before (R3).
      if !isReversal { (destination, body, readyAt, retrySince) = (nil, nil, nil, nil) }
    case .redirected(let payload):
      // No destination learns of a reversal before the purchase.
      guard state == .pending, !isReversal else { throw .notAllowed(state) }
      use(payload)
      makeDue(at: moment.now, moment)
    case .recomposed(let payload):
      guard state == .failed || state == .cancelled, !isReversal else { throw .notAllowed(state) }
      (destination, body) = (nil, nil)
      if let payload { use(payload) }
    case .foundSent(let sent):
      guard state != .delivered else { throw .notAllowed(state) }
      found(sent, at: moment)
    case .contextDisputed:
      contextDisputed = true
    case .attempted(let attempt):
      ended(attempt, at: moment)
    case .gaveUp:
      guard state == .pending else { throw .notAllowed(state) }
      isReplay = false
      enter(.failed, .gaveUp)
    case .reversed(let payload):
      guard state == (isReversal ? .waiting : .delivered) else { throw .notAllowed(state) }
      // The destination is to know of it from the receipt that counts.
      guard correctedBy == nil else { throw .isCorrected }
      use(payload)
      isReversal = true
      makeDue(at: moment.now, moment)
    case .replayed(let dueAt, let force, let payload):
      guard correctedBy == nil else { throw .isCorrected }
      guard force || state != .delivered else { throw .notAllowed(state) }
      try replay(dueAt: dueAt, payload, at: moment)
    case .cancelled(let words):
      guard state != .delivered, state != .cancelled else { throw .notAllowed(state) }
      note = words
      enter(.cancelled, .byOperator)
    case .excepted:
      // The destination of a reversal accepted the purchase, so it is still to learn of the reversal.
      guard state != .delivered, state != .cancelled || isOpenToJoin, !isReversal else {
        throw .notAllowed(state)
      }
      enter(.cancelled, .foreign)
    case .completed(let payload, let changesContext):
      try complete(with: payload, changesContext: changesContext, at: moment)
    case .corrected(let id):
      try beCorrected(by: id)
    case .copied(let copy):
      try beCopied(as: copy)
    case .followed(let resolution):
      try follow(resolution, at: moment)
    case .erased(let cancelsOpen):
      try erase(cancelsOpen: cancelsOpen)
    }
  }

  private mutating func complete(
    with payload: ReceiptPayload, changesContext: Bool, at moment: ReceiptMoment
  ) throws(ReceiptRefusal) {
    // The bytes of a pending receipt may be under way, and those of a delivered one have arrived. A
    // reversal lacks nothing.
    guard state != .delivered, state != .pending, !isReversal else { throw .notAllowed(state) }
    if changesContext { contextDisputed = false }
    use(payload)
    readyAt = moment.now
    beginReplay(dueAt: moment.now, at: moment)
  }

  private mutating func beCopied(as copy: ReceiptCopy) throws(ReceiptRefusal) {
    guard state == .pending, !isReversal, corrects == nil, copyOf == nil, self.copy == nil else {
      throw .notAllowed(state)
    }
    self.copy = copy
  }

  private mutating func beCorrected(by id: ReceiptID) throws(ReceiptRefusal) {
    guard correctedBy == nil else { throw .isCorrected }
    guard state == .delivered, !isReversal else { throw .notAllowed(state) }
    correctedBy = id
  }

  /// A copy that ended in its own way keeps its end.
  private mutating func follow(_ resolution: ReceiptResolution, at moment: ReceiptMoment)
    throws(ReceiptRefusal)
  {
    let isOpen =
      state == .waiting || state == .pending
      || (state != .delivered && reason.map { Reason.ofJoin.contains($0) || $0 == .foreign } ?? false)
    guard copyOf != nil, !isReversal, isOpen else { throw .notAllowed(state) }
    if case .waiting = resolution {
      (destination, body, readyAt, retrySince) = (nil, nil, nil, nil)
    }
    resolve(resolution, at: moment)
  }

  private mutating func erase(cancelsOpen: Bool) throws(ReceiptRefusal) {
    switch state {
    case .delivered, .cancelled: break
    case .failed: enter(.cancelled, .erased)
    case .waiting, .pending:
      guard cancelsOpen else { throw .notAllowed(state) }
      enter(.cancelled, .erased)
    }
  }

  private mutating func resolve(_ resolution: ReceiptResolution, at moment: ReceiptMoment) {
    switch resolution {
    case .waiting(let reason, let until): enter(.waiting, reason, until: until)
    case .failed(let reason): enter(.failed, reason)
    case .cancelled(let reason): enter(.cancelled, reason)
    case .ready(let payload):
      use(payload)
      readyAt = moment.now
      isReplay = false
      makeDue(at: moment.now, moment)
    }
  }

  private mutating func found(_ sent: SentReceipt, at moment: ReceiptMoment) {
    destination = sent.destination
    body = sent.body
    if let content = sent.content {
      priceID = content.priceID
      priceMismatch = content.priceMismatch
      contextDisputed = content.contextDisputed
    }
    // What the join decided about other content meanwhile is void: open to the join, it would be sent again
    // with other bytes (R2).
    guard state == .waiting || isOpenToJoin else { return readyAt = readyAt ?? moment.now }
    readyAt = moment.now
    makeDue(at: moment.now, moment)
  }

  private mutating func ended(_ attempt: ReceiptAttempt, at moment: ReceiptMoment) {
    lastStatus = attempt.status ?? lastStatus
    switch attempt.decision {
    case .delivered(let importID):
      // Also for a receipt that an operator cancelled meanwhile: the destination accepted it, so it must not
      // be sent again (R3).
      attempts += 1
      lastCause = nil
      isReplay = false
      self.importID = importID
      deliveredAt = moment.now
      enter(.delivered, nil)
    case .retry(let at, let spent):
      if spent {
        attempts += 1
        spentAttempts += 1
      }
      guard state == .pending else { return }
      nextAttemptAt = at
      if let cause = attempt.cause { lastCause = cause }
    case .failed(let reason):
      attempts += 1
      guard state == .pending else { return }
      if let cause = attempt.cause { lastCause = cause }
      isReplay = false
      enter(.failed, reason)
    }
  }

  private mutating func replay(
    dueAt: Timestamp, _ payload: ReceiptPayload?, at moment: ReceiptMoment
  ) throws(ReceiptRefusal) {
    if let payload, destination != payload.destination {
      guard state == .delivered || !isReversal else { throw .notAllowed(state) }
      use(payload)
    }
    guard body != nil else { throw .hasNoBody }
    beginReplay(dueAt: dueAt, at: moment)
  }

  private mutating func beginReplay(dueAt: Timestamp, at moment: ReceiptMoment) {
    deliveredAt = nil
    isReplay = true
    readyAt = readyAt ?? moment.now
    makeDue(at: max(dueAt, moment.now), moment)
  }

  private mutating func use(_ payload: ReceiptPayload) {
    destination = payload.destination
    isReversal = false
    priceID = payload.priceID
    priceMismatch = payload.priceMismatch
    body = payload.body
  }

  /// Makes it pending and due at that time, with its whole retry budget.
  private mutating func makeDue(at dueAt: Timestamp, _ moment: ReceiptMoment) {
    enter(.pending, nil)
    spentAttempts = 0
    retrySince = max(moment.now, dueAt)
    pausedBase = moment.pausedTime
    nextAttemptAt = dueAt
  }

  /// The only place that changes the state, so that values which belong to certain states are cleared.
  private mutating func enter(_ state: ReceiptState, _ reason: Reason?, until: Timestamp? = nil) {
    self.state = state
    self.reason = reason
    waitUntil = until
    nextAttemptAt = nil
  }
}
