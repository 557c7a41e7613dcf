// Which tokens an app takes, and with which keys they are checked. Never changes; any thread.

internal import Configuration
public import JSONWebToken

/// The tokens of one app.
public struct TokenGate: Sendable {
  private enum Keys: Sendable {
    case given(KeySet)
    case fetched(url: String)
  }

  public let rules: TokenRules
  private let keys: Keys

  /// - Throws: `Fault` when the keys cannot be read.
  init(_ tokens: AppConfiguration.Tokens, app: String) throws(Fault) {
    var rules = tokens.rules
    switch tokens.keys {
    case .fetched(let url):
      keys = .fetched(url: url)
      // What everyone may fetch is no secret: no fetch could bring a key for it.
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

  /// Where the keys are fetched; nil when they are at hand.
  public var keySetURL: String? {
    if case .fetched(let url) = keys { url } else { nil }
  }

  /// The keys that are at hand.
  public var givenKeys: KeySet? {
    if case .given(let keys) = keys { keys } else { nil }
  }
}
