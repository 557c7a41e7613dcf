// The users to whom customers of processors belong. A row is never deleted, because the processor keeps the
// customer's stored cards. An erasure replaces both ids of a row by hashes. The
// writer's thread, except for what is static.

internal import Domain

final class PayerRows {
  static let ownerSQL = "SELECT user_id FROM payers WHERE app = ?1 AND processor = ?2 AND customer_id = ?3"

  private let owner: StoreStatement
  private let inserting: StoreStatement
  private let ofUser: StoreStatement
  private let hashing: StoreStatement

  init(_ connection: StoreConnection) throws(StoreFault) {
    owner = try connection.prepare(Self.ownerSQL)
    inserting = try connection.prepare(
      "INSERT INTO payers (app, processor, customer_id, user_id) VALUES (?1, ?2, ?3, ?4)")
    ofUser = try connection.prepare(
      "SELECT processor, customer_id FROM payers WHERE user_id = ?1 AND app = ?2 LIMIT ?3")
    hashing = try connection.prepare(
      """
      UPDATE payers SET customer_id = ?4, user_id = ?5
      WHERE app = ?1 AND processor = ?2 AND customer_id = ?3
      """)
  }

  /// Whether a customer belongs to a user; nil if it belongs to nobody.
  /// - Parameters:
  ///   - statement: `ownerSQL`.
  ///   - hash: nil until a user was erased.
  static func belongs(
    _ customer: CustomerID, to user: UserID, at place: AppProcessor, _ statement: StoreStatement,
    _ hash: ErasureHash?
  ) throws(StoreFault) -> Bool? {
    func owner(of customer: String) throws(StoreFault) -> UserID? {
      try statement.first([.text(place.app), .text(place.processor), .text(customer)]) {
        row throws(StoreFault) in try row.text(0)
      }
    }
    if let owner = try owner(of: customer.text) { return owner == user }
    // An erased owner who comes back is recognized, and nobody else gets his stored cards.
    guard let hash, let owner = try owner(of: hash.token(customer.text, app: place.app)) else { return nil }
    return owner.text == hash.token(user.text, app: place.app)
  }

  /// Makes a user the owner of a customer that belongs to nobody.
  /// - Returns: whether the customer belongs to the user now.
  func acquire(
    _ customer: CustomerID, for user: UserID, at place: AppProcessor, _ hash: ErasureHash?
  ) throws(StoreFault) -> Bool {
    if let isOwner = try Self.belongs(customer, to: user, at: place, owner, hash) { return isOwner }
    try inserting.run([.text(place.app), .text(place.processor), .text(customer), .text(user)])
    return true
  }

  /// Replaces the ids of some of a user's customers, and the user's, by hashes.
  /// - Returns: how many; fewer than `limit` when none is left.
  func erase(
    app: AppSlug, user: UserID, limit: Int64, _ hash: ErasureHash
  ) throws(StoreFault) -> Int {
    let found: [(processor: ProcessorName, customer: CustomerID)] = try ofUser.all([
      .text(user), .text(app), .integer(limit),
    ]) { row throws(StoreFault) in (try row.text(0), try row.text(1)) }
    for (processor, customer) in found {
      try hashing.run([
        .text(app), .text(processor), .text(customer), .text(hash.token(customer.text, app: app)),
        .text(hash.token(user.text, app: app)),
      ])
    }
    return found.count
  }
}
