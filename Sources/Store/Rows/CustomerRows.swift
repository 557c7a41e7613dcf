// The users of processors' customers that events without a purchase named. The writer's thread.

internal import Domain

final class CustomerRows {
  private typealias Known = (place: AppProcessor, user: UserID, source: Purchase.UserSource, at: Timestamp)

  private static let columns = "customer_id, app, processor, user_id, source, at"

  private let any: StoreStatement
  private let finding: StoreStatement
  private let adding: StoreStatement
  private let replacing: StoreStatement
  private let forgetting: StoreStatement
  private let deleting: StoreStatement
  /// Whether there are any; otherwise nothing is looked up.
  private var isInUse = false
  /// What the open transaction has looked for; nil for an engine that reads without a round trip.
  private var asked: [CustomerID: [Known]]?

  init(_ connection: StoreConnection) throws(StoreFault) {
    asked = connection.engine.readAhead == nil ? nil : [:]
    any = try connection.prepare("SELECT 1 FROM customer_users WHERE customer_id > '' LIMIT 1")
    finding = try connection.prepare("SELECT \(Self.columns) FROM customer_users WHERE customer_id = ?1")
    adding = try connection.prepare(
      """
      INSERT INTO customer_users (customer_id, app, processor, user_id, source, at)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      ON CONFLICT (customer_id, app, processor, source, user_id)
        DO UPDATE SET at = CASE WHEN customer_users.at > ?6 THEN customer_users.at ELSE ?6 END
      """)
    let ofMetadata = Purchase.UserSource.allCases.filter(\.isOfCustomersMetadata).map { "\($0.rawValue)" }
    replacing = try connection.prepare(
      """
      DELETE FROM customer_users
      WHERE customer_id = ?1 AND app = ?2 AND processor = ?3
        AND source IN (\(ofMetadata.joined(separator: ", "))) AND at <= ?4
      """)
    forgetting = try connection.prepare("DELETE FROM customer_users WHERE user_id = ?1 AND app = ?2")
    deleting = try connection.prepare(
      """
      DELETE FROM customer_users WHERE (customer_id, app, processor, source, user_id) IN
        (SELECT customer_id, app, processor, source, user_id FROM customer_users
         WHERE at < ?1 ORDER BY at LIMIT ?2)
      """)
  }

  /// Called at the start of each transaction: another process may have stored some.
  func begin() throws(StoreFault) {
    if asked != nil { isInUse = true }
    if !isInUse { isInUse = try any.first([]) { _ throws(StoreFault) in true } ?? false }
  }

  /// Invalidates the cache after a rollback.
  func invalidate() { isInUse = false }

  /// The users of a customer that events without a purchase named.
  /// - Parameter isNeeded: whether to read them if that costs a round trip.
  func users(
    _ customer: CustomerID, at place: AppProcessor, isNeeded: Bool
  ) throws(StoreFault) -> [NamedUser] {
    if !isNeeded, let asked, asked[customer] == nil { return [] }
    return try known(customer).filter { $0.place == place }
      .map { NamedUser(id: $0.user, source: $0.source, standing: .counts) }.sorted()
  }

  private func known(_ customer: CustomerID) throws(StoreFault) -> [Known] {
    guard isInUse else { return [] }
    if let known = asked?[customer] { return known }
    return try finding.all([.text(customer)], Self.known)
  }

  private static func known(_ row: StoreRow) throws(StoreFault) -> Known {
    (
      AppProcessor(try row.text(1), try row.text(2)), try row.text(3),
      Purchase.UserSource(rawValue: row.integer(4)) ?? .customer, Timestamp(unixMilliseconds: row.integer(5))
    )
  }

  /// Stores the users that an event named. The customer's own metadata replace older ones.
  /// - Parameter names: those that count.
  func learn(_ facts: CustomerFacts, _ names: [NamedUser], at place: AppProcessor) throws(StoreFault) {
    let customer = facts.customerID
    if facts.areOfCustomer {
      let others = try known(customer).filter { $0.place == place && $0.source.isOfCustomersMetadata }
      // An event that comes late names nobody any more.
      if others.contains(where: { $0.at > facts.happenedAt }) { return }
      if !others.isEmpty {
        try replacing.run([
          .text(customer), .text(place.app), .text(place.processor), .time(facts.happenedAt),
        ])
      }
    }
    for name in names {
      try adding.run([
        .text(customer), .text(place.app), .text(place.processor), .text(name.id),
        .integer(name.source.rawValue), .time(facts.happenedAt),
      ])
      isInUse = true
    }
    forgetKnown()
  }

  /// Forgets a user who is erased.
  func forget(app: AppSlug, user: UserID) throws(StoreFault) {
    try forgetting.run([.text(user), .text(app)])
    forgetKnown()
  }

  /// Deletes what is old.
  func delete(before cutoff: Timestamp, limit: Int64) throws(StoreFault) {
    guard isInUse else { return }
    try deleting.run([.time(cutoff), .integer(limit)])
    forgetKnown()
  }

  /// Called at the start of a transaction, and after a change.
  func forgetKnown() { asked?.removeAll(keepingCapacity: true) }

  func reads(_ customers: Set<CustomerID>) -> [BulkRead] {
    [BulkRead(Self.columns, of: "customer_users", where: "customer_id", in: customers.map { .text($0) })]
  }

  /// Notes that these are being read. `add` follows for those that are found.
  func expect(_ customers: Set<CustomerID>) {
    guard asked != nil else { return }
    for customer in customers { asked?[customer] = [] }
  }

  /// Notes a row that was read ahead.
  func add(_ row: StoreRow) throws(StoreFault) {
    asked?[try row.text(0), default: []].append(try Self.known(row))
  }
}
