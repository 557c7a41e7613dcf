// Claims: a token is made for a receipt that lacks only its user, and a user brings it. The writer decides
// from the present state, so of two users who bring tokens at the same time one gets the purchase.

public import Domain

/// Makes a claim of a receipt that lacks its user.
public struct OfferClaim: StoreCommand {
  public var receiptID: ReceiptID
  public var app: AppSlug
  public var origin: ClaimOrigin
  /// Who makes it, as in the audit; nil for receiptd.
  public var actor: String?
  /// How long the token is valid.
  public var lifetime: Duration

  public init(
    _ receiptID: ReceiptID, app: AppSlug, origin: ClaimOrigin, actor: String? = nil, lifetime: Duration
  ) {
    self.receiptID = receiptID
    self.app = app
    self.origin = origin
    self.actor = actor
    self.lifetime = lifetime
  }

  public enum Outcome: Sendable, Equatable {
    /// The only time that the token is known.
    case offered(Claim, ClaimToken)
    case notFound
    /// The purchase is not paid, has a user, or ended; or its receipt lacks something else.
    case notClaimable
    /// The receipt has as many open claims as it may have.
    case tooMany
  }

  public var scope: CommandScope { .apps([app]) }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    guard let record = try store.purchases.find(receipt: receiptID), record.app == app else {
      return .notFound
    }
    guard record.purchase.canBeClaimed(record.receipt) else { return .notClaimable }
    guard try store.claims.countOpen(record.rowID, now: store.now) < Claim.openMax else { return .tooMany }
    let (id, token) = store.makeClaim()
    let claim = Claim(
      id: id, origin: origin, actor: actor, offeredAt: store.now, expiresAt: store.now + lifetime)
    try store.claims.add(claim, token, to: record) { store.randomBytes(ClaimHash.keyBytes) }
    return .offered(claim, token)
  }
}

/// Gives the purchase of a token to the user who brings it, if the purchase still has none.
public struct UseClaim: StoreCommand {
  public var token: ClaimToken
  public var app: AppSlug
  public var userID: UserID
  /// For the log.
  public var requestID: String?

  public init(_ token: ClaimToken, app: AppSlug, userID: UserID, requestID: String? = nil) {
    self.token = token
    self.app = app
    self.userID = userID
    self.requestID = requestID
  }

  public enum Outcome: Sendable, Equatable {
    case claimed(ClaimID, ReceiptID)
    /// The user has claimed the purchase before.
    case repeated(ClaimID, ReceiptID)
    /// Another user has claimed it.
    case otherUser
    /// The token expired or was revoked, or the purchase cannot be claimed any more.
    case gone
    /// No such token was made for the app.
    case unknown
  }

  public var scope: CommandScope { .apps([app]) }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    guard let found = try store.claims.find(token, app: app),
      let old = try store.purchases.find(row: found.row), let receiptID = old.receipt?.id
    else { return .unknown }
    let id = found.claim.id
    switch ClaimDecision.decide(found.claim, by: userID, of: old.purchase, old.receipt, now: store.now) {
    case .otherUser: return .otherUser
    case .gone: return .gone
    case .repeat: return .repeated(id, receiptID)
    case .claim: break
    }
    try store.claims.claim(id, by: userID, at: store.now)
    var record = old
    record.purchase.learn(NamedUser(id: userID, source: .claim, standing: .counts))
    try store.withCause(ChangeCause(requestID: requestID)) { () throws(StoreFault) in
      var joiner = Joiner(store)
      try joiner.decideAndSave(&record, before: old)
      try joiner.offerFreedContexts()
    }
    return .claimed(id, receiptID)
  }
}

/// Revokes claims that were not used.
public struct RevokeClaims: StoreCommand {
  /// What is revoked.
  public enum Choice: Sendable, Equatable {
    case claim(ClaimID)
    /// All claims of a receipt.
    case receipt(ReceiptID)
  }

  public var choice: Choice

  public init(_ choice: Choice) { self.choice = choice }

  /// - Returns: how many were revoked; nil if there is no such claim or receipt.
  public func apply(to store: StoreSession) throws(StoreFault) -> Int? {
    switch choice {
    case .claim(let id):
      guard try store.claims.find(id) != nil else { return nil }
      return try store.claims.revoke(id, at: store.now) ? 1 : 0
    case .receipt(let id):
      guard let record = try store.purchases.find(receipt: id) else { return nil }
      return try store.claims.revokeAll(record.rowID, at: store.now)
    }
  }
}

extension Joiner {
  /// Revokes the unused claims of a receipt whose user became known.
  func revokeClaims(of record: PurchaseRecord, before: PurchaseRecord) throws(StoreFault) {
    guard before.receipt != nil, before.purchase.userID == nil, record.purchase.userID != nil else { return }
    try store.claims.revokeAll(record.rowID, at: store.now)
  }
}
