// Claims: a customer who paid, and whose purchase names no user, gives it to their account with a secret
// token. Pure; any thread.

internal import Formats

/// The secret text of a claim, `clm_` and 26 characters of Crockford's base32: 130 random bits. It is derived
/// from nothing, it is stored as a keyed hash only, and its description does not contain it.
public struct ClaimToken: Sendable, Hashable, CustomStringConvertible {
  public static let prefix = "clm_"
  private static let characters = 26

  /// The secret.
  public let text: String

  /// Parses untrusted input.
  /// - Returns: nil if it does not have the form of a token.
  public init?(_ text: String) {
    let prefix = Self.prefix.utf8
    guard text.utf8.count == prefix.count + Self.characters, text.utf8.starts(with: prefix),
      text.utf8.dropFirst(prefix.count).allSatisfy(crockfordAlphabet.contains)
    else { return nil }
    self.text = text
  }

  /// A new token.
  /// - Parameter random: must be unpredictable.
  public init(random: inout some RandomNumberGenerator) {
    let characters = (0..<Self.characters).map { _ in crockfordAlphabet[Int(random.next() >> 59)] }
    text = Self.prefix + String(decoding: characters, as: UTF8.self)
  }

  public var description: String { "\(Self.prefix)…" }
}

/// The state of a claim.
public enum ClaimState: String, Sendable, CaseIterable {
  case offered, claimed, expired, revoked
}

/// Who made a claim.
public enum ClaimOrigin: String, Sendable, CaseIterable {
  /// The customer, on the return page.
  case page
  /// The operator.
  case `operator`
  /// receiptd, for the webhook `purchase.unclaimed`.
  case webhook
}

/// A claim as stored, without its token.
public struct Claim: Sendable, Equatable {
  /// How many claims of one receipt may be open at once.
  public static let openMax = 5
  /// How long after the payment the return page offers a claim.
  public static let pagePeriod: Duration = .hours(1)

  public var id: ClaimID
  public var origin: ClaimOrigin
  /// Who made it, as in the audit; nil if receiptd did.
  public var actor: String?
  public var offeredAt: Timestamp
  public var expiresAt: Timestamp
  /// When it was claimed or revoked.
  public var endedAt: Timestamp?
  /// Who claimed it. Personal data.
  public var userID: UserID?

  public init(
    id: ClaimID, origin: ClaimOrigin, actor: String? = nil, offeredAt: Timestamp, expiresAt: Timestamp,
    endedAt: Timestamp? = nil, userID: UserID? = nil
  ) {
    self.id = id
    self.origin = origin
    self.actor = actor
    self.offeredAt = offeredAt
    self.expiresAt = expiresAt
    self.endedAt = endedAt
    self.userID = userID
  }

  /// A token expires without a change of its row.
  public func state(at now: Timestamp) -> ClaimState {
    if userID != nil { return .claimed }
    if endedAt != nil { return .revoked }
    return expiresAt > now ? .offered : .expired
  }
}

/// An app's rules for claims.
public struct ClaimPolicy: Sendable, Equatable {
  /// How long a token is valid.
  public var lifetime: Duration
  /// Whether the app's webhook learns of each purchase that lacks a user.
  public var announces: Bool

  /// The defaults: 7 days, not announced.
  public init() { (lifetime, announces) = (.days(7), false) }
}

/// What a webhook learns of a paid purchase without a user: the message `purchase.unclaimed`.
public struct ClaimAnnouncement: Sendable, Equatable {
  /// Made for this message.
  public var claim: Claim
  public var token: ClaimToken
  public var receiptID: ReceiptID
  public var purchase: Purchase

  public init(claim: Claim, token: ClaimToken, receiptID: ReceiptID, purchase: Purchase) {
    self.claim = claim
    self.token = token
    self.receiptID = receiptID
    self.purchase = purchase
  }
}

/// What follows when a user brings a token.
public enum ClaimDecision: Sendable, Equatable {
  /// The purchase becomes the user's.
  case claim
  /// This user has claimed the purchase before.
  case `repeat`
  /// Another user has claimed it with this token.
  case otherUser
  /// The token expired or was revoked, or the purchase cannot be claimed any more.
  case gone

  /// Decides about a token.
  /// - Parameters:
  ///   - purchase: the claim's.
  ///   - receipt: of the purchase.
  public static func decide(
    _ claim: Claim, by user: UserID, of purchase: Purchase, _ receipt: Receipt?, now: Timestamp
  ) -> ClaimDecision {
    let state = claim.state(at: now)
    if state == .claimed { return claim.userID == user ? .repeat : .otherUser }
    // The customer has used another token of the same receipt.
    if purchase.userSource == .claim, purchase.userID == user { return .repeat }
    return state == .offered && purchase.canBeClaimed(receipt) ? .claim : .gone
  }
}

extension Purchase {
  /// Whether a claim may give it a user: it is paid, its receipt lacks nothing but a user, and its object did
  /// not end.
  /// - Parameter receipt: its own.
  public func canBeClaimed(_ receipt: Receipt?) -> Bool {
    guard let receipt, receipt.state == .waiting || receipt.state == .failed, receipt.reason == .user,
      receipt.copyOf == nil
    else { return false }
    return isPaid && !isForeign && userID == nil && !isReversed && !hasEnded && !isErased
  }
}
