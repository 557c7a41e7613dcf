// What a session shows of a purchase without an account. Pure; thread-safe.

/// What a screen shows of a purchase without an account, after the customer has opened its link.
public enum ClaimState: Sendable, Hashable {
  /// No link waits.
  case none
  /// The link waits until the customer has signed in.
  case signIn
  /// The customer decides whether the purchase belongs to this account.
  case ask
  /// The relay is being asked.
  case adding
  /// The relay could not decide yet. The customer can try again.
  case later
  /// The purchase belongs to this user.
  case added
  /// The purchase belongs to another user.
  case otherUser
  /// The link has expired. Only the merchant's support can help.
  case expired
  /// The relay has not made this link.
  case unknown

  /// Whether to show the buttons "Add" and "Not now".
  public var isQuestion: Bool { self == .ask || self == .later }

  init(_ result: ClaimResult) {
    self =
      switch result {
      case .claimed, .replay: .added
      case .otherUser: .otherUser
      case .expired: .expired
      case .unknown: .unknown
      case .retryLater: .later
      }
  }
}
