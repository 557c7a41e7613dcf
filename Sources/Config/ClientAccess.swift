// The configuration of an app's clients. Pure; any thread.

public import Cryptography

extension AppConfiguration {
  /// The clients that may post contexts.
  public enum ClientAccess: Sendable, Equatable {
    /// Any client.
    case open
    /// A client with one of these keys, for any user, or with a token, for the user that the token names. At
    /// least one of the two is configured.
    case restricted(keys: [Secret], tokens: Tokens?)

    /// A client with one of these keys; at least one.
    public static func keys(_ keys: [Secret]) -> ClientAccess { .restricted(keys: keys, tokens: nil) }
  }

  /// Which tokens are accepted.
  public struct Tokens: Sendable, Equatable {
    /// Where the issuer's keys come from.
    public enum Keys: Sendable, Equatable {
      /// A JWK Set, a JWK, or PEM.
      case given(Secret)
      /// The URL of a JWK Set; https, or http to this machine.
      case fetched(url: String)
    }

    public var rules: TokenRules
    public var keys: Keys

    public init(rules: TokenRules, keys: Keys) {
      self.rules = rules
      self.keys = keys
    }
  }
}
