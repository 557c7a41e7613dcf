// The writer's statements on `purchases`. The writer's thread.

internal import Domain

final class PurchaseRows {
  /// The maximum number of rows that one query by user or customer returns.
  static let relatedMax = 200

  private let byRow: StoreStatement
  private let byObject: StoreStatement
  private let copyOfObject: StoreStatement
  private let knownByCheckout: StoreStatement
  private let guessingOfUser: StoreStatement
  private let overdue: StoreStatement
  private let waitingAfter: StoreStatement
  private let earliestWait: StoreStatement
  private let inserting: StoreStatement
  private let updating: StoreStatement
  private let updatingDelivery: StoreStatement
  private let updatingWait: StoreStatement
  private let deleting: StoreStatement
  private let namesOfPending: StoreStatement
  private let pendingFor: StoreStatement
  private let pendingOfType: StoreStatement
  private let expediting: StoreStatement
  private let rescheduling: StoreStatement
  private let bringingBack: StoreStatement
  private let shifting: StoreStatement

  private let counts: CountRows
  private let joins: JoinRows
  let keys: any KeyIndex
  let readAhead: (any ReadAhead)?
  /// What the open transaction has read; nil for an engine that reads without a round trip.
  var known: KnownPurchases?
  /// Rows of which a record without its content was read.
  var withoutContent: Set<PurchaseRowID> = []
  /// The state changes of receipts in the open transaction.
  private var transitions: [ReceiptTransition] = []
  /// The cause of the present command's changes.
  var cause = ChangeCause()

  /// Exactly the condition of the index `purchases_guessing`, so that SQLite uses it: a user may have any
  /// number of other purchases.
  private static let openGuess =
    "context_source = \(Purchase.ContextSource.guess.rawValue) AND context_id IS NOT NULL AND body IS NULL"

  static let guessingSQL = """
    SELECT \(PurchaseRow.columnList) FROM purchases
    WHERE user_id = ?1 AND app = ?2 AND \(openGuess) ORDER BY row_id DESC LIMIT ?3
    """

  init(_ connection: StoreConnection, counts: CountRows, joins: JoinRows) throws(StoreFault) {
    (self.counts, self.joins) = (counts, joins)
    keys = connection.engine.keys
    readAhead = connection.engine.readAhead
    known = readAhead == nil ? nil : KnownPurchases()
    let select = "SELECT \(PurchaseRow.columnList) FROM purchases"
    byRow = try connection.prepare("\(select) WHERE row_id = ?1")
    byObject = try connection.prepare(
      "\(select) WHERE object_id = ?1 AND app = ?2 AND object_type = ?3 AND processor = ?4"
        + " AND corrects = '' AND copy_for = ''")
    copyOfObject = connection.prepareOnUse(
      "\(select) WHERE object_id = ?1 AND app = ?2 AND object_type = ?3 AND processor = ?4"
        + " AND corrects = '' AND copy_for = ?5")
    knownByCheckout = try connection.prepare(
      """
      \(select) WHERE object_id = ?1 AND session_id = object_id AND app = ?2 AND processor = ?3
        AND corrects = '' AND copy_for = '' LIMIT 1
      """)
    guessingOfUser = try connection.prepare(Self.guessingSQL)
    overdue = try connection.prepare(
      """
      SELECT row_id FROM purchases WHERE app = ?1 AND state = 'waiting' AND wait_until <= ?2
      ORDER BY wait_until LIMIT ?3
      """)
    waitingAfter = try connection.prepare(
      """
      \(select) WHERE app = ?1 AND state = 'waiting' AND wait_until >= ?2
        AND (wait_until > ?2 OR row_id > ?3)
      ORDER BY wait_until, row_id LIMIT ?4
      """)
    earliestWait = try connection.prepare(
      "SELECT min(wait_until) FROM purchases WHERE app = ?1 AND state = 'waiting' AND wait_until IS NOT NULL")
    inserting = try connection.prepare(PurchaseRow.insertSQL)
    updating = try connection.prepare(PurchaseRow.updateSQL)
    updatingDelivery = try connection.prepare(PurchaseRow.updateDeliverySQL)
    updatingWait = try connection.prepare(PurchaseRow.updateWaitSQL)
    deleting = try connection.prepare("DELETE FROM purchases WHERE row_id = ?1 AND state IS ?2")
    namesOfPending = try connection.prepare(PurchaseRow.namesOfPendingSQL)
    pendingFor = try connection.prepare(
      "SELECT row_id FROM purchases WHERE app = ?1 AND destination = ?2 AND state = 'pending' LIMIT ?3")
    pendingOfType = connection.prepareOnUse(
      """
      SELECT row_id FROM purchases
      WHERE app = ?1 AND destination = ?2 AND state = 'pending' AND object_type = ?3 AND is_reversal = 0
      LIMIT ?4
      """)
    expediting = try connection.prepare(
      """
      UPDATE purchases SET next_attempt_at = ?2
      WHERE app = ?1 AND destination = ?5 AND state = 'pending' AND is_replay = ?4 AND next_attempt_at > ?2
        AND next_attempt_at <= ?3
      """)
    rescheduling = connection.prepareOnUse(
      """
      UPDATE purchases SET next_attempt_at = ?2
      WHERE row_id = ?1 AND receipt_id = ?3 AND state = 'pending' AND next_attempt_at < ?2
      """)
    bringingBack = try connection.prepare(Self.bringingBackSQL)
    shifting = try connection.prepare(Self.shiftingSQL)
  }

  /// `purchases_by_group` begins with the app, so the condition names all apps.
  private static let isOpen =
    "app IN (SELECT app FROM receipt_counts) AND state IN ('pending', 'waiting')"

  private static let bringingBackSQL = """
    UPDATE purchases SET
      next_attempt_at = CASE WHEN next_attempt_at > updated_at THEN ?1 + next_attempt_at - updated_at
                             WHEN next_attempt_at IS NOT NULL THEN ?1 END,
      wait_until = wait_until - (updated_at - ?1), bought_at = bought_at - (updated_at - ?1),
      first_seen_at = first_seen_at - (updated_at - ?1),
      ready_at = CASE WHEN ready_at > ?1 THEN ?1 ELSE ready_at END,
      retry_since = CASE WHEN retry_since > ?1 THEN ?1 ELSE retry_since END, updated_at = ?1
    WHERE \(isOpen) AND updated_at > ?1 RETURNING app
    """

  private static let shiftingSQL = """
    UPDATE purchases SET
      next_attempt_at = CASE WHEN ?2 >= 0 OR next_attempt_at <= ?1 THEN next_attempt_at
                             WHEN next_attempt_at + ?2 <= ?1 THEN ?1 ELSE next_attempt_at + ?2 END,
      wait_until = wait_until + ?2,
      retry_since = CASE WHEN retry_since > ?1 THEN ?1 ELSE retry_since END, updated_at = ?1,
      bought_at = bought_at + CASE state WHEN 'waiting' THEN ?2 ELSE 0 END,
      first_seen_at = first_seen_at + CASE state WHEN 'waiting' THEN ?2 ELSE 0 END
    WHERE \(isOpen) AND (state = 'waiting' OR next_attempt_at > ?1) AND NOT updated_at BETWEEN ?3 AND ?1
    RETURNING app
    """

  func find(row: PurchaseRowID) throws(StoreFault) -> PurchaseRecord? {
    if let found = known?[row] { return found }
    let found = try byRow.first([.integer(row)], PurchaseRow.record)
    known?.note(found, row: row)
    return found
  }

  /// The purchase in a row, to erase or delete it: its context and its body are empty if they cannot be read.
  func findToRemove(row: PurchaseRowID) throws(StoreFault) -> PurchaseRecord? {
    if let found = known?[row], let record = found { return record }
    withoutContent.insert(row)
    return try byRow.first([.integer(row)], PurchaseRow.recordWithoutContent)
  }

  /// The purchase of a reference; nil also if its row has another purchase now.
  func find(_ reference: PurchaseReference) throws(StoreFault) -> PurchaseRecord? {
    guard let record = try find(row: reference.row), record.purchase.key == reference.key else { return nil }
    return record
  }

  func find(receipt id: ReceiptID) throws(StoreFault) -> PurchaseRecord? {
    guard let row = id.purchaseRow, let record = try find(row: row) else { return nil }
    return record.receipt?.id == id ? record : nil
  }

  /// The purchase of a receipt, to end that: its context and its body are empty if they cannot be read.
  func findToEnd(receipt id: ReceiptID) throws(StoreFault) -> PurchaseRecord? {
    guard let row = id.purchaseRow, let record = try findToRemove(row: row) else { return nil }
    return record.receipt?.id == id ? record : nil
  }

  /// The purchase with a key: the row that the join decides about, and no correction of its receipt.
  func find(app: AppSlug, key: PurchaseKey) throws(StoreFault) -> PurchaseRecord? {
    if let found = known?[key.id] {
      return found.first { $0.app == app && $0.purchase.key == key && $0.isOwn }
    }
    return try byObject.first(
      [.text(key.id), .text(app), .text(key.type), .text(key.processor)],
      PurchaseRow.record)
  }

  /// The row of a purchase's copy for a destination.
  func findCopy(app: AppSlug, key: PurchaseKey, for name: DestinationName) throws(StoreFault)
    -> PurchaseRecord?
  {
    if let found = known?[key.id] {
      return found.first { record in
        record.app == app && record.purchase.key == key && record.receipt?.corrects == nil
          && record.receipt?.copyOf?.destination == name
      }
    }
    return try copyOfObject.first(
      [.text(key.id), .text(app), .text(key.type), .text(key.processor), .text(name)], PurchaseRow.record)
  }

  /// The purchase stored under its checkout's id.
  func find(
    app: AppSlug, _ processor: ProcessorName, knownByCheckout sessionID: SessionID
  ) throws(StoreFault) -> PurchaseRecord? {
    if let found = known?[ObjectID(sessionID.text)] {
      return found.first { record in
        record.place == AppProcessor(app, processor) && record.purchase.sessionID == sessionID
          && record.isOwn
      }
    }
    return try knownByCheckout.first([.text(sessionID), .text(app), .text(processor)], PurchaseRow.record)
  }

  /// A user's purchases with a guessed context and no body made from it.
  func withOpenGuess(app: AppSlug, user: UserID) throws(StoreFault) -> [PurchaseRecord] {
    if let found = try knownOpenGuesses(app: app, user: user) { return found }
    return try guessingOfUser.all(
      [.text(user), .text(app), .integer(Int64(Self.relatedMax))], PurchaseRow.record)
  }

  /// The rows of an app's waiting receipts whose wait has ended, the longest overdue first.
  func overdue(app: AppSlug, now: Timestamp, limit: Int64) throws(StoreFault) -> [PurchaseRowID] {
    try overdue.all([.text(app), .time(now), .integer(limit)]) { row throws(StoreFault) in row.integer(0) }
  }

  /// An app's waiting receipts in the order of their waits, from a position on.
  func waiting(
    app: AppSlug, after place: (until: Timestamp, row: PurchaseRowID), limit: Int64
  ) throws(StoreFault) -> [PurchaseRecord] {
    try waitingAfter.all(
      [.text(app), .time(place.until), .integer(place.row), .integer(limit)], PurchaseRow.record)
  }

  /// When the next wait of an app ends.
  func nextWait(app: AppSlug) throws(StoreFault) -> Timestamp? {
    try earliestWait.first([.text(app)]) { row throws(StoreFault) in row.timestamp(0) } ?? nil
  }

  func insert(_ record: PurchaseRecord) throws(StoreFault) {
    try inserting.run(PurchaseRow.values(of: record))
    note(record)
    for key in record.keys { try keys.add(key, row: record.rowID.number) }
    note(from: nil, to: record)
  }

  /// - Parameter old: the row as it was read.
  /// - Throws: `constraint` if it has another state in the database.
  func update(_ record: PurchaseRecord, from old: PurchaseRecord) throws(StoreFault) {
    try assertIsStored(old)
    // SQLite rewrites an index for each of its columns in the SET list, changed or not. A wait and a delivery
    // change no column by which purchases are found.
    if let values = PurchaseRow.waitValues(of: record, from: old) {
      try updatingWait.changeOne(values, for: Self.change)
    } else if let values = PurchaseRow.deliveryValues(of: record, from: old) {
      try updatingDelivery.changeOne(values, for: Self.change)
    } else {
      var values = PurchaseRow.values(of: record)
      values.append(.optional(old.receipt?.state.rawValue))
      try updating.changeOne(values, for: Self.change)
      if !record.purchase.hasKeys(of: old.purchase) {
        try keys.move(row: record.rowID, from: old.keys, to: record.keys)
      }
    }
    note(record)
    note(from: old, to: record)
  }

  /// Asserts that the values a change is based on equal the row in the database, in every column.
  private func assertIsStored(_ old: PurchaseRecord) throws(StoreFault) {
    #if DEBUG
      // What is known of the row is what was read from it.
      guard known == nil else { return }
      let stored = try findToRemove(row: old.rowID)
      // The statement itself refuses a row in another state.
      guard stored?.receipt?.state == old.receipt?.state else { return }
      assert(stored == old, "the purchase in row \(old.rowID) was read before its last change")
    #endif
  }

  private static let change = "change a purchase"

  private func note(from old: PurchaseRecord?, to new: PurchaseRecord) {
    counts.move(
      from: old.flatMap(CountRows.Group.init), to: CountRows.Group(new),
      madeAt: new.receipt?.createdAt)
    joins.move(from: old, to: new)
    if let transition = ReceiptTransition(from: old, to: new, cause: cause) { transitions.append(transition) }
  }

  /// Returns and clears the collected state changes.
  func drainTransitions() -> [ReceiptTransition] {
    defer { transitions = [] }
    return transitions
  }

  /// - Parameter record: the row as it was read.
  /// - Throws: `constraint` if it has another state in the database.
  func delete(_ record: PurchaseRecord) throws(StoreFault) {
    try deleting.changeOne(
      [.integer(record.rowID), .optional(record.receipt?.state.rawValue)], for: "delete a purchase")
    known?.remove(record)
    for key in record.keys { try keys.remove(key, row: record.rowID.number) }
    counts.move(from: .init(record), to: nil)
    joins.move(from: record, to: nil)
  }

  /// Sets times in the future to now; see `FollowClock`.
  /// - Returns: the app of each changed receipt.
  func bringBack(to now: Timestamp) throws(StoreFault) -> [AppSlug] {
    forgetKnown()
    return try bringingBack.all([.time(now)]) { row throws(StoreFault) in try row.text(0) }
  }

  /// Moves due times with the clock; see `FollowClock`.
  /// - Parameter exceptSince: later changes already follow the new clock.
  /// - Returns: the app of each changed receipt.
  func shift(by jump: Duration, now: Timestamp, exceptSince: Timestamp) throws(StoreFault) -> [AppSlug] {
    forgetKnown()
    return try shifting.all([.time(now), .duration(jump), .time(exceptSince)]) { row throws(StoreFault) in
      try row.text(0)
    }
  }

  /// Makes an app's receipts that are due until a time due now.
  func expedite(_ place: AppDestination, now: Timestamp, until: Timestamp) throws(StoreFault) {
    forgetKnown()
    for isReplay in [false, true] {
      try expediting.run([
        .text(place.app), .time(now), .time(until), .flag(isReplay), .text(place.destination),
      ])
    }
  }

  /// Makes a pending receipt due later.
  func reschedule(_ id: ReceiptID, until moment: Timestamp) throws(StoreFault) {
    guard let row = id.purchaseRow else { return }
    forgetKnown()
    try rescheduling.run([.integer(row), .time(moment), .text(id)])
  }

  /// The rows of pending receipts for a destination, in any order.
  func pending(_ place: AppDestination, limit: Int64) throws(StoreFault) -> [PurchaseRowID] {
    try pendingFor.all([.text(place.app), .text(place.destination), .integer(limit)]) {
      row throws(StoreFault) in row.integer(0)
    }
  }

  /// The rows of an app's pending receipts that an exclusion concerns, in any order.
  func pending(
    _ app: AppSlug, concernedBy exclusion: DestinationExclusion, limit: Int64
  ) throws(StoreFault) -> [PurchaseRowID] {
    try pendingOfType.all([
      .text(app), .text(exclusion.destination), .text(exclusion.type), .integer(limit),
    ]) { row throws(StoreFault) in row.integer(0) }
  }

  /// The destinations of an app's pending receipts.
  func pendingDestinations(of app: AppSlug) throws(StoreFault) -> [DestinationName] {
    try namesOfPending.all([.text(app)]) { row throws(StoreFault) in try row.text(0) }
  }
}

// MARK: - Keys

// Finds purchases by the ids in `KeyIndex`. The writer's thread.

extension PurchaseRows {
  /// How many of the newest purchases with a key are looked at: a user of an app may have any number.
  static let candidatesMax = 1_000

  /// The purchase that a checkout sold, once the processor has named it.
  func find(
    app: AppSlug, _ processor: ProcessorName, soldBy sessionID: SessionID
  ) throws(StoreFault) -> PurchaseRecord? {
    try first(RowKey(.session, sessionID, app: app)) { record in
      record.purchase.sessionID == sessionID && record.place == AppProcessor(app, processor)
        && record.purchase.key.id.text != sessionID.text && record.isOwn
    }
  }

  /// A user's waiting purchases, and those that wait for their user and named this one as a reference.
  func waiting(app: AppSlug, namedFor user: UserID) throws(StoreFault) -> [PurchaseRecord] {
    try all(RowKey(.user, user, app: app)) { record in
      let purchase = record.purchase
      guard record.app == app, record.receipt?.state == .waiting, !record.isCopy else { return false }
      return purchase.userID == user || (purchase.lacksNamedUser && purchase.unknownReferences.contains(user))
    }
  }

  /// Whether a user has a receipt in an app. One that was corrected went to a wrong user.
  func haveReceipt(app: AppSlug, of user: UserID) throws(StoreFault) -> Bool {
    try first(RowKey(.user, user, app: app)) { record in
      record.purchase.userID == user && record.app == app && !record.isCopy
        && record.receipt.map { $0.correctedBy == nil } ?? false
    } != nil
  }

  /// The other purchases of a customer that may get a user: no event names one, and the receipt waits or is
  /// due, or there is none yet.
  func lackingUser(
    app: AppSlug, _ processor: ProcessorName, customer: CustomerID, besides own: PurchaseRowID?
  ) throws(StoreFault) -> [PurchaseRecord] {
    try all(RowKey(.customer, customer, app: app), besides: own) { record in
      record.purchase.customerID == customer && record.place == AppProcessor(app, processor)
        && record.purchase.lacksNamedUser && !record.purchase.isForeign && !record.isCopy
        && record.receipt.map { $0.state == .waiting || $0.state == .pending && record.isOwn } ?? true
    }
  }

  /// The users of a customer's other purchases, those that were inferred left out; two if there are more.
  /// - Parameter counts: whether a purchase says something about the customer.
  func users(
    _ place: AppProcessor, ofCustomer customer: CustomerID, besides own: PurchaseRowID?,
    where counts: (PurchaseRecord) -> Bool
  ) throws(StoreFault) -> Set<UserID> {
    var users: Set<UserID> = []
    _ = try first(RowKey(.customer, customer, app: place.app)) { record in
      guard record.rowID != own, record.purchase.customerID == customer, record.place == place,
        !record.purchase.lacksNamedUser, counts(record)
      else { return false }
      for name in record.purchase.allNames where name.standing == .counts { users.insert(name.id) }
      return users.count > 1
    }
    return users
  }

  /// The customers of a user's purchases that were known at a moment; two if there are more.
  /// - Parameter counts: whether a purchase says something about the customer.
  func customers(
    of user: UserID, at place: AppProcessor, until moment: Timestamp,
    where counts: (PurchaseRecord) -> Bool
  ) throws(StoreFault) -> Set<CustomerID> {
    var customers: Set<CustomerID> = []
    _ = try first(RowKey(.user, user, app: place.app)) { record in
      guard let customer = record.purchase.customerID, record.purchase.userID == user, record.place == place,
        record.purchase.createdAt <= moment, !record.purchase.lacksNamedUser, counts(record)
      else { return false }
      customers.insert(customer)
      return customers.count > 1
    }
    return customers
  }

  /// The newest purchase with a key that meets a condition.
  private func first(
    _ key: RowKey, where isWanted: (PurchaseRecord) -> Bool
  ) throws(StoreFault) -> PurchaseRecord? {
    let rows = try keys.rows(key, limit: Self.candidatesMax)
    try load(rows)
    for row in rows {
      if let record = try find(row: PurchaseRowID(row)), isWanted(record) { return record }
    }
    return nil
  }

  /// Those with a key that meet a condition, newest first.
  /// - Parameter own: a row that is not read.
  private func all(
    _ key: RowKey, besides own: PurchaseRowID? = nil, where isWanted: (PurchaseRecord) -> Bool
  ) throws(StoreFault) -> [PurchaseRecord] {
    var found: [PurchaseRecord] = []
    let rows = try keys.rows(key, limit: Self.candidatesMax)
    try load(rows)
    for row in rows {
      guard found.count < Self.relatedMax else { break }
      guard row != own?.number, let record = try find(row: PurchaseRowID(row)) else { continue }
      if isWanted(record) { found.append(record) }
    }
    return found
  }
}
