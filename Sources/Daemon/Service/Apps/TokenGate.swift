// The tokens that an app accepts, and the keys that verify them. Immutable.

internal import Config
public import Cryptography
internal import Domain

/// The tokens of one app.
public struct TokenGate: Sendable {
  private enum Keys: Sendable {
    case given(KeySet)
    case fetched(url: String)
  }

  public let rules: TokenRules
  private let keys: Keys

  /// - Throws: `Fault` if the keys cannot be read.
  init(_ tokens: AppConfiguration.Tokens, app: AppSlug) throws(Fault) {
    var rules = tokens.rules
    switch tokens.keys {
    case .fetched(let url):
      keys = .fetched(url: url)
      // A fetched key is public, so it must not verify HMAC tokens.
      rules.algorithms.removeAll { $0 == .hs256 }
    case .given(let secret):
      let text = try secret.reveal()
      do throws(KeySetFault) {
        keys = .given(try KeySet(reading: Array(text.utf8)))
      } catch {
        throw Fault(path: "apps.\(app).client.jwt.keys", message: error.words)
      }
    }
    self.rules = rules
  }

  /// The URL of the key set; nil if the keys are in the configuration.
  public var keySetURL: String? {
    if case .fetched(let url) = keys { url } else { nil }
  }

  /// The keys of the configuration; nil if they are fetched.
  public var givenKeys: KeySet? {
    if case .given(let keys) = keys { keys } else { nil }
  }
}
