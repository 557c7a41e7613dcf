// The erasure of a user (Regulation (EU) 2016/679, Article 17), as short commands that leave the writer free
// in between. Each can be repeated: it skips what is already erased.

public import Domain

/// Erases the personal data of exactly these rows: ids become hashes, counts and states stay.
public struct ForgetPurchases: StoreCommand {
  /// The maximum number of rows in one command.
  public static let rowsMax = 100

  public var rows: [PurchaseRowID]
  /// Whether to cancel receipts that are still to be delivered; otherwise they and their data are not
  /// changed.
  public var cancelsOpen: Bool
  /// Other rows that an erasure finds only through one of these, besides those that its receipt names.
  public var leads: [PurchaseRowID: [PurchaseRowID]]

  public init(
    rows: [PurchaseRowID], cancelsOpen: Bool, leads: [PurchaseRowID: [PurchaseRowID]] = [:]
  ) {
    self.rows = rows
    self.cancelsOpen = cancelsOpen
    self.leads = leads
  }

  public struct Outcome: Sendable, Equatable {
    public var receipts = 0
    /// Purchases without a receipt.
    public var others = 0
    public var events = 0
    public var cancelled = 0
    /// Receipts that are still to be delivered and were not changed.
    public var open: [ReceiptID] = []
    /// Payments that are being captured and were not changed: the customer may be charged.
    public var capturing: [PurchaseRowID] = []
    /// Those that lead to a row that is not erased yet: without them nothing would find it again.
    public var held: [PurchaseRowID] = []
  }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    try store.prepareErasure()
    var outcome = Outcome()
    var erased: Set<Int64> = []
    var rest: [PurchaseRowID]
    outcome.held = rows
    repeat {
      (rest, outcome.held) = (outcome.held, [])
      for row in rest where try forget(row, in: store, &outcome) { erased.insert(row.number) }
    } while !outcome.held.isEmpty && outcome.held.count < rest.count
    try store.erasures.forgetNotes()
    try store.search.erase(erased, of: .payments)
    try store.search.erase(store.erasures.drainEvents(), of: .events)
    return outcome
  }

  /// - Returns: whether the row was erased now.
  private func forget(
    _ row: PurchaseRowID, in store: StoreSession, _ outcome: inout Outcome
  ) throws(StoreFault) -> Bool {
    guard let found = try store.purchases.findToRemove(row: row), !found.purchase.isErased else {
      return false
    }
    if try store.captures.isOpen(row) {
      outcome.capturing.append(row)
      return false
    }
    var record = found
    if let receipt = found.receipt,
      record.apply(.erased(cancelsOpen: cancelsOpen), at: store.moment(of: record)) != nil
    {
      outcome.open.append(receipt.id)
      return false
    }
    if try leadsFurther(found, in: store) {
      outcome.held.append(row)
      return false
    }
    if let state = found.receipt?.state, state == .waiting || state == .pending { outcome.cancelled += 1 }
    if record != found {
      var joiner = Joiner(store)
      try joiner.write(&record, from: found)
    }
    outcome.events += try store.erasures.empty(record, at: store.now)
    store.forgetKnown()
    try store.lookups.drop(row: row)
    try store.captures.empty(row)
    try store.claims.drop(row: row)
    try store.announcements.drop(row)
    if record.receipt == nil { outcome.others += 1 } else { outcome.receipts += 1 }
    return true
  }

  /// Whether a purchase leads to a row that is not erased.
  private func leadsFurther(_ record: PurchaseRecord, in store: StoreSession) throws(StoreFault) -> Bool {
    for id in [record.receipt?.corrects, record.receipt?.copy?.receipt].compactMap(\.self) {
      if let next = try store.purchases.findToEnd(receipt: id), !next.purchase.isErased { return true }
    }
    for row in leads[record.rowID] ?? [] {
      if let next = try store.purchases.findToRemove(row: row), !next.purchase.isErased { return true }
    }
    return false
  }
}

/// Erases some of the rows that a user has in a table.
public struct ForgetUserRows: StoreCommand {
  public static let rowsMax = 200

  /// In the order in which an erasure changes them.
  public enum Table: Sendable, CaseIterable {
    /// Other users' purchases that a source named for this one, too: they lose the name, and so do their
    /// events.
    case names
    /// After that no purchase can get an unused one.
    case contexts
    /// Their ids become hashes. They stay the user's: the stored cards are still at the processor, and nobody
    /// else may get them.
    case payers
    /// Only the user in them, who may have claimed a purchase that is another user's now.
    case claims
    /// The customers of whom events named the user.
    case customers
  }

  public var table: Table
  public var app: AppSlug
  public var userID: UserID

  public init(_ table: Table, app: AppSlug, userID: UserID) {
    self.table = table
    self.app = app
    self.userID = userID
  }

  /// - Returns: how many were erased; fewer than `rowsMax` when none is left.
  public func apply(to store: StoreSession) throws(StoreFault) -> Int {
    try store.prepareErasure()
    let limit = Int64(Self.rowsMax)
    switch table {
    case .contexts:
      defer { store.forgetKnown() }
      let count = try store.erasures.emptyContexts(app: app, user: userID, limit: limit)
      try store.erasures.forgetNotes()
      return count
    case .payers:
      guard let hash = store.erasures.currentHash else { return 0 }
      return try store.payers.erase(app: app, user: userID, limit: limit, hash)
    case .claims:
      guard let hash = store.erasures.currentHash else { return 0 }
      return try store.claims.erase(app: app, user: userID, limit: limit, hash)
    case .names:
      defer { store.forgetKnown() }
      let count = try store.erasures.forgetNames(app: app, user: userID, limit: limit)
      try store.erasures.forgetNotes()
      try store.search.erase(store.erasures.drainEvents(), of: .events)
      return count
    case .customers:
      try store.customers.forget(app: app, user: userID)
      return 0
    }
  }
}

/// Erases events that belong to no purchase.
public struct ForgetEvents: StoreCommand {
  public static let rowsMax = 100

  public var rows: [EventRowID]

  public init(rows: [EventRowID]) { self.rows = rows }

  public func apply(to store: StoreSession) throws(StoreFault) {
    try store.prepareErasure()
    for row in rows { try store.erasures.empty(eventRow: row) }
    try store.erasures.forgetNotes()
    try store.search.erase(store.erasures.drainEvents(), of: .events)
    store.forgetKnown()
  }
}

/// Keeps hashes of a user's identifiers in an app, so that later events that name them are stored without
/// their bodies, and removes the identifiers from jobs and the audit.
public struct ForgetIdentifiers: StoreCommand {
  public var app: AppSlug
  public var names: UserIdentifiers

  public init(_ names: UserIdentifiers, app: AppSlug) { (self.names, self.app) = (names, app) }

  public func apply(to store: StoreSession) throws(StoreFault) {
    try store.prepareErasure()
    try store.erasures.note(names, app: app, remembers: true)
    try store.erasures.forgetNotes()
  }
}

/// Returns the hash that replaces a user in the audit.
public struct NameErasure: StoreCommand {
  public var app: AppSlug
  public var userID: UserID

  public init(app: AppSlug, userID: UserID) {
    self.app = app
    self.userID = userID
  }

  public func apply(to store: StoreSession) throws(StoreFault) -> String {
    try store.prepareErasure()
    return store.erasures.token(userID, app: app)?.text ?? Purchase.erasedPrefix
  }
}
