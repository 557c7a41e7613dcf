// What purchases and contexts are found by, besides their own ids.

package import Domain

extension RowKey {
  /// The keys of a purchase with these ids.
  /// - Parameter users: every user that a source named.
  package static func keys(
    app: AppSlug, object: ObjectID, session: SessionID?, customer: CustomerID?, users: [UserID]
  ) -> [RowKey] {
    var keys: [RowKey] = []
    keys.reserveCapacity(3)
    if let session, session.text != object.text { keys.append(RowKey(.session, session, app: app)) }
    if let customer { keys.append(RowKey(.customer, customer, app: app)) }
    for user in users { keys.append(RowKey(.user, user, app: app)) }
    return keys
  }

  /// The keys of a context; none if it was erased.
  package static func keys(app: AppSlug, contextOf user: UserID, digest: [UInt8]) -> [RowKey] {
    user.text.isEmpty
      ? [] : [RowKey(.contextUser, user, app: app), RowKey(contextOf: user, digest: digest, app: app)]
  }
}

extension PurchaseRecord {
  var keys: [RowKey] {
    RowKey.keys(
      app: app, object: purchase.key.id, session: purchase.sessionID, customer: purchase.customerID,
      users: purchase.allNames.map(\.id))
  }
}

extension Purchase {
  /// Whether another version of the purchase has the same keys.
  func hasKeys(of other: Purchase) -> Bool {
    sessionID == other.sessionID && customerID == other.customerID && userID == other.userID
      && otherNames == other.otherNames && key.id == other.key.id
  }
}

extension KeyIndex {
  /// Replaces the keys of a row.
  func move(row: PurchaseRowID, from old: [RowKey], to new: [RowKey]) throws(StoreFault) {
    for key in old where !new.contains(key) { try remove(key, row: row.number) }
    for key in new where !old.contains(key) { try add(key, row: row.number) }
  }
}

// MARK: - NamesColumn

// The users besides the one that counts, as one column of `purchases`. Pure; any thread.

extension [NamedUser] {
  /// One to a line: standing, a space, source, a tab, and the id, which has no control characters. Nil if
  /// there is none.
  var stored: String? {
    isEmpty
      ? nil : map { "\($0.standing.rawValue) \($0.source.rawValue)\t\($0.id.text)\n" }.joined()
  }

  /// - Parameter text: as `stored` returned it. A line that is invalid names nobody.
  init(stored text: String?) {
    self =
      text?.split(separator: "\n").compactMap { line in
        let parts = line.split(separator: "\t", maxSplits: 1)
        let numbers = parts[0].split(separator: " ").compactMap { Int64($0) }
        guard parts.count == 2, numbers.count == 2, let standing = NamedUser.Standing(rawValue: numbers[0]),
          let source = Purchase.UserSource(rawValue: numbers[1])
        else { return nil }
        return NamedUser(id: UserID(String(parts[1])), source: source, standing: standing)
      } ?? []
  }
}

/// The column of a purchase's other users.
package enum NamesColumn {
  /// The ids in a row: the user that counts, and the others.
  package static func users(_ user: UserID?, others: String?) -> [UserID] {
    (user.map { [$0] } ?? []) + [NamedUser](stored: others).map(\.id)
  }

  /// A part of the column that only a line of this user has, for `instr`.
  static func part(of user: UserID) -> StoreValue { .text("\t\(user.text)\n") }
}
