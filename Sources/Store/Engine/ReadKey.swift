// What a batch will read, as values: an engine whose reads cost a round trip reads it before the first
// command. Pure; any thread.

internal import Cryptography
public import Domain

/// A key by which a command finds rows.
public enum ReadKey: Sendable, Hashable {
  case event(app: AppSlug, processor: ProcessorName, id: EventID)
  case object(app: AppSlug, key: PurchaseKey)
  /// The purchases that a checkout sold, and those stored under the checkout's own id.
  case session(app: AppSlug, processor: ProcessorName, id: SessionID)
  /// A processor's customer's purchases, and the user in them.
  case customer(app: AppSlug, processor: ProcessorName, id: CustomerID)
  /// The user to whom a processor's customer belongs.
  case payer(app: AppSlug, processor: ProcessorName, id: CustomerID)
  /// A user's purchases.
  case user(app: AppSlug, id: UserID)
  /// A user's newest contexts.
  case contexts(app: AppSlug, user: UserID)
  /// A user's contexts with a blob that has this digest.
  case blob(app: AppSlug, user: UserID, digest: [UInt8])
  case context(app: AppSlug, id: ContextID)
  case purchase(row: PurchaseRowID)
  /// An id that an event names, which may be one of an erased user's.
  case mention(app: AppSlug, id: String)
  /// Which program owns the app.
  case lease(app: AppSlug)

  /// A receipt's id contains the row of its purchase.
  static func receipt(_ id: ReceiptID) -> [ReadKey] {
    id.purchaseRow.map { [.purchase(row: $0)] } ?? []
  }
}

extension ReadKey {
  /// The app; nil for a purchase that is only known by its row.
  var app: AppSlug? {
    switch self {
    case .event(let app, _, _), .object(let app, _), .session(let app, _, _), .customer(let app, _, _),
      .payer(let app, _, _), .user(let app, _), .contexts(let app, _), .blob(let app, _, _),
      .context(let app, _), .mention(let app, _), .lease(let app):
      app
    case .purchase: nil
    }
  }
}

extension PurchaseReport {
  /// The keys by which the join finds what the report concerns.
  func reads(app: AppSlug) -> [ReadKey] {
    var keys: [ReadKey] = [.object(app: app, key: key)]
    if let sessionID { keys.append(.session(app: app, processor: key.processor, id: sessionID)) }
    if let customerID { keys.append(.customer(app: app, processor: key.processor, id: customerID)) }
    let users = Set(namedUsers(reference: .unknown).lazy.filter { $0.standing != .refused }.map(\.id))
    for user in users {
      keys += [.user(app: app, id: user), .contexts(app: app, user: user)]
    }
    for context in namedContexts { keys.append(.context(app: app, id: context.id)) }
    if let context {
      let digest = SHA256.digest(context.text.utf8.span)
      for user in users {
        keys.append(.blob(app: app, user: user, digest: digest))
      }
    }
    return keys
  }
}

extension ErasureRows {
  /// The same key with the hash that replaces an erased user's id; nil if there is none.
  func erased(_ key: ReadKey) -> ReadKey? {
    switch key {
    case .event(let app, let processor, let id):
      token(id, app: app).map { .event(app: app, processor: processor, id: $0) }
    case .object(let app, let key):
      token(key.id, app: app).map {
        .object(app: app, key: PurchaseKey(processor: key.processor, type: key.type, id: $0))
      }
    case .session(let app, let processor, let id):
      token(id, app: app).map { .session(app: app, processor: processor, id: $0) }
    case .payer(let app, let processor, let id):
      token(id, app: app).map { .payer(app: app, processor: processor, id: $0) }
    case .context(let app, let id): name(of: id, app: app).map { .context(app: app, id: $0) }
    case .mention(let app, let id): token(ObjectID(id), app: app).map { .mention(app: app, id: $0.text) }
    case .customer, .user, .contexts, .blob, .purchase, .lease: nil
    }
  }
}
