// What the configuration says about who may post for an app. Pure; any thread.

public import JSONWebToken

extension AppConfiguration {
  /// Who may post contexts.
  public enum ClientAccess: Sendable, Equatable {
    /// Anyone.
    case open
    /// Who shows one of these keys, for any user, or a token, for the user that it names. There is at least
    /// one way in.
    case restricted(keys: [Secret], tokens: Tokens?)

    /// Who shows one of these keys; at least one.
    public static func keys(_ keys: [Secret]) -> ClientAccess { .restricted(keys: keys, tokens: nil) }
  }

  /// Which tokens count.
  public struct Tokens: Sendable, Equatable {
    /// Where the issuer's keys are.
    public enum Keys: Sendable, Equatable {
      /// A JWK Set, a JWK, or PEM.
      case given(Secret)
      /// The address of a JWK Set; https, or http to this machine.
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
