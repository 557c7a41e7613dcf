// The users to whom customers of processors belong, in all apps of a merchant's account. A row is never
// deleted, because the processor keeps the customer's stored cards. An erasure replaces both ids of a row by
// hashes. The writer's thread, except for `Payer`.

internal import Domain

/// A processor's customer as an app names it.
struct Payer: Sendable {
  /// Rows of an unknown account (`adopt`) count for any: rather nobody gets the cards than another user.
  static let ownersSQL = """
    SELECT app, account, user_id FROM payers
    WHERE processor = ?1 AND account IN (?2, '') AND payer = ?3
    """

  let customer: CustomerID
  let place: AppProcessor
  let account: AccountID?

  init(_ customer: CustomerID, at place: AppProcessor, _ account: AccountID?) {
    (self.customer, self.place, self.account) = (customer, place, account)
  }

  /// The scope of an erased payer's hash.
  static func scope(_ processor: ProcessorName, _ account: AccountID, app: AppSlug) -> String {
    account.text.isEmpty ? app.text : "\(processor) \(account)"
  }

  /// Whether it belongs to a user; nil if it belongs to nobody. With two owners, it is neither's.
  /// - Parameters:
  ///   - statement: `ownersSQL`.
  ///   - hash: nil until a user was erased.
  ///   - apps: other apps of the account. Payers that were erased before owners were those of an account have
  ///     hashes of their app.
  func belongs(
    to user: UserID, _ statement: StoreStatement, _ hash: ErasureHash?, apps: [AppSlug] = []
  ) throws(StoreFault) -> Bool? {
    let key = customer.payerKey
    var owners: [Bool] = []
    func search(_ payer: String, _ user: String) throws(StoreFault) {
      owners += try statement.all([
        .text(place.processor), .text(account?.text ?? ""), .text(payer),
      ]) { row throws(StoreFault) -> Bool? in
        let app: AppSlug = try row.text(0)
        guard account != nil || app == place.app else { return nil }
        return UserID(try row.text(2)) == UserID(user)
      }.compactMap(\.self)
    }
    for payer in Set([key, customer]) { try search(payer.text, user.text) }
    // An erased owner who comes back is recognized, and nobody else gets his stored cards.
    if let hash {
      var scopes = Set((apps + [place.app]).map(\.text))
      if let account { scopes.insert(Self.scope(place.processor, account, app: place.app)) }
      for scope in scopes {
        for payer in Set([key, customer]) {
          try search(hash.token(payer.text, in: scope), hash.token(user.text, in: scope))
        }
      }
    }
    return owners.isEmpty ? nil : !owners.contains(false)
  }
}

final class PayerRows {
  private let owners: StoreStatement
  private let inserting: StoreStatement
  private let ofUser: StoreStatement
  private let hashing: StoreStatement
  private let withoutAccount: StoreStatement
  private let adopting: StoreStatement

  init(_ connection: StoreConnection) throws(StoreFault) {
    owners = try connection.prepare(Payer.ownersSQL)
    inserting = try connection.prepare(
      """
      INSERT INTO payers (app, processor, account, payer, customer_id, user_id)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      """)
    ofUser = try connection.prepare(
      "SELECT processor, account, customer_id, payer FROM payers WHERE user_id = ?1 AND app = ?2 LIMIT ?3")
    hashing = try connection.prepare(
      """
      UPDATE payers SET payer = ?6, customer_id = ?7, user_id = ?8
      WHERE app = ?1 AND processor = ?2 AND account = ?3 AND payer = ?4 AND customer_id = ?5
      """)
    withoutAccount = try connection.prepare(
      """
      SELECT payer, customer_id FROM payers WHERE processor = ?1 AND account = '' AND app = ?2 LIMIT ?3
      """)
    adopting = try connection.prepare(
      """
      UPDATE payers SET account = ?5, payer = ?6
      WHERE app = ?1 AND processor = ?2 AND account = '' AND payer = ?3 AND customer_id = ?4
      """)
  }

  /// Makes a user the owner of a customer that belongs to nobody.
  /// - Parameter apps: see `Payer.belongs`.
  /// - Returns: whether the customer belongs to the user now.
  func acquire(
    _ payer: Payer, for user: UserID, _ hash: ErasureHash?, apps: [AppSlug]
  ) throws(StoreFault) -> Bool {
    if let isOwner = try payer.belongs(to: user, owners, hash, apps: apps) { return isOwner }
    try inserting.run([
      .text(payer.place.app), .text(payer.place.processor), .text(payer.account?.text ?? ""),
      .text(payer.customer.payerKey), .text(payer.customer), .text(user),
    ])
    return true
  }

  /// Gives some payers of an app, which older versions stored, to the account that the app uses.
  /// - Returns: how many; fewer than `limit` when none is left.
  func adopt(
    _ place: AppProcessor, by account: AccountID, limit: Int
  ) throws(StoreFault) -> Int {
    let found: [(payer: String, customer: CustomerID)] = try withoutAccount.all([
      .text(place.processor), .text(place.app), .integer(Int64(limit)),
    ]) { row throws(StoreFault) in (try row.text(0), try row.text(1)) }
    for (payer, customer) in found {
      let key = Purchase.isErased(customer) ? customer : customer.payerKey
      try adopting.run([
        .text(place.app), .text(place.processor), .text(payer), .text(customer), .text(account), .text(key),
      ])
    }
    return found.count
  }

  /// Replaces the ids of some of a user's customers, and the user's, by hashes.
  /// - Returns: how many; fewer than `limit` when none is left.
  func erase(
    app: AppSlug, user: UserID, limit: Int64, _ hash: ErasureHash
  ) throws(StoreFault) -> Int {
    typealias Found = (processor: ProcessorName, account: AccountID, customer: CustomerID, payer: String)
    let found: [Found] = try ofUser.all([.text(user), .text(app), .integer(limit)]) {
      row throws(StoreFault) in (try row.text(0), try row.text(1), try row.text(2), try row.text(3))
    }
    for (processor, account, customer, payer) in found {
      let scope = Payer.scope(processor, account, app: app)
      try hashing.run([
        .text(app), .text(processor), .text(account), .text(payer), .text(customer),
        .text(hash.token(payer, in: scope)), .text(hash.token(customer.text, in: scope)),
        .text(hash.token(user.text, in: scope)),
      ])
    }
    return found.count
  }
}
