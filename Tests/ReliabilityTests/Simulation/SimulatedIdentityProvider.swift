// The token issuer: a server with the public keys, behind the current weather, and the tokens of the relay's
// callers. The relay's decisions are checked against what it received: a token is accepted exactly when the
// last usable response contains its key and is not older than seven days.

import Cryptography
import Formats
import HTTPClient
import Platform
import TestSupport

@testable import Service

/// A token that a caller presents.
struct KnockingToken: Sendable {
  let text: String
  /// The key that signed it; nil for a forged token, which no key verifies.
  let key: Int?
}

/// Keys and tokens, created once: each signature starts a process.
struct TokenPool: Sendable {
  static let user = "bearer"
  static let rules = TokenRules(issuer: "https://id.simulated/", audiences: ["relay"])
  static let made = Result { try TokenPool() }

  /// The JWKs of the keys, and one symmetric key.
  let keys: [JSONValue]
  let secret: JSONValue
  let good: [KnockingToken]
  let forged: [KnockingToken]

  private init() throws {
    let issuers = try (0..<5).map { try TokenIssuer(.p256, keyID: "key-\($0)") }
    let published = try TokenIssuer(.secret, keyID: "published")
    keys = try issuers.map { try $0.jwk() }
    secret = try published.jwk()
    // Valid until the year 2300, whatever the simulated clock says.
    let claims: JSONValue = [
      "iss": .string(Self.rules.issuer), "aud": "relay", "sub": .string(Self.user), "exp": 10_413_792_000,
    ]
    good = try issuers.enumerated().map { try KnockingToken(text: $1.token(claims), key: $0) }
    forged = try [
      issuers[4].token(claims, header: #"{"alg":"ES256","kid":"key-0"}"#),
      issuers[4].token(claims, header: #"{"alg":"ES256","kid":"key-1"}"#),
      published.token(claims),
      issuers[0].token(claims, header: #"{"alg":"none","kid":"key-0"}"#),
    ].map { KnockingToken(text: $0, key: nil) }
  }
}

/// One server for all apps, with separate keys for each.
final class SimulatedIdentityProvider: SimulatedServer {
  private struct Site {
    var weather = Weather.fine
    var fineSince: Int64 = 0
    /// The keys that it signs with and serves.
    var keys: Set<Int> = [0]
    /// The keys that the relay received last, and when.
    var trusted: (keys: Set<Int>, at: Int64)?
    var isAsked = false
    /// The times of the requests within the last minute.
    var asks: [Int64] = []
  }

  private struct State {
    var random: SeededGenerator
    var sites: [String: Site] = [:]
    var faults: [String] = []
    var count = 0
  }

  private static let origin = "http://127.0.0.1:9/keys/"
  /// Tokens may cause one fetch in ten seconds; failures add a few.
  private static let asksInMinuteMax = 12
  /// Keys that cannot be fetched again are trusted for seven days.
  private static let keptTime: Int64 = 7 * 86_400_000

  private let pool: TokenPool
  private let state: Monitor<State>

  init(seed: UInt64, pool: TokenPool) {
    self.pool = pool
    state = Monitor(State(random: SeededGenerator(seed: seed)))
  }

  static func url(of app: String) -> String { origin + app }

  /// The number of requests for keys.
  var count: Int { state.withLock { $0.count } }

  func change(_ app: String, weather: Weather, now: Int64) {
    state.withLock { state in
      state.sites[app, default: Site()].weather = weather
      state.sites[app]?.fineSince = now
    }
  }

  /// Replaces the signing keys; an old one may stay.
  func rotate(_ app: String, to keys: Set<Int>) {
    state.withLock { $0.sites[app, default: Site()].keys = keys }
  }

  /// The relay ended, and lost the keys that it had fetched.
  func forget() {
    state.withLock { state in
      for app in state.sites.keys {
        state.sites[app]?.trusted = nil
        state.sites[app]?.isAsked = false
        state.sites[app]?.asks = []
      }
    }
  }

  func drainFaults() -> [String] {
    state.withLock { state in
      defer { state.faults = [] }
      return state.faults
    }
  }

  func answer(_ request: TransferRequest, now: Int64) -> SimulatedAnswer {
    let app = String(request.url.dropFirst(Self.origin.count))
    let (fate, served, result) = state.withLock { state -> (Fate, Set<Int>?, TransferResult) in
      var site = state.sites[app] ?? Site()
      if site.isAsked { state.faults.append("\(app): its keys are fetched twice at once") }
      site.isAsked = true
      site.asks = site.asks.filter { now - $0 < SimulatedWorld.minute } + [now]
      if site.asks.count > Self.asksInMinuteMax {
        state.faults.append("\(app): its keys were fetched \(site.asks.count) times in a minute")
      }
      state.sites[app] = site
      state.count += 1
      let fate = Fate.draw(site.weather, patience: request.timeout, &state.random)
      let age =
        ["no-store", "max-age=3600", "max-age=20000", "max-age=90000000", nil]
        .randomElement(using: &state.random) ?? nil
      let others: Set<Int> = [3]
      let result = fate.result(
        (200, age.map { [TransferHeader("Cache-Control", $0)] } ?? [], body(site.keys)), other: body(others))
      return (fate, fate.isHonest ? site.keys : fate.lie == .other ? others : nil, result)
    }
    return SimulatedAnswer(after: fate.after, result: result) { [state] in
      state.withLock { state in
        state.sites[app]?.isAsked = false
        if let served { state.sites[app]?.trusted = (served, now + fate.after) }
      }
    }
  }

  private func body(_ keys: Set<Int>) -> [UInt8] {
    let set: JSONValue = ["keys": .array(keys.sorted().map { pool.keys[$0] } + [pool.secret])]
    return set.serialized()
  }

  // MARK: Callers

  /// A token, usually signed with a current key.
  func token(of app: String, random: inout SeededGenerator) -> KnockingToken? {
    let keys = state.withLock { $0.sites[app]?.keys } ?? [0]
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return pool.forged.randomElement(using: &random)
    case 1: return pool.good.randomElement(using: &random)
    default: return keys.sorted().randomElement(using: &random).map { pool.good[$0] }
    }
  }

  /// Whether a token is signed with a current key that the relay could have fetched for at least this time.
  func isCurrent(_ token: KnockingToken, app: String, for milliseconds: Int64, now: Int64) -> Bool {
    state.withLock { state in
      guard let site = state.sites[app], let key = token.key else { return false }
      return site.keys.contains(key) && site.weather == .fine && now - site.fineSince >= milliseconds
    }
  }

  /// Checks the relay's decision about a token.
  func judge(_ token: KnockingToken, app: String, _ result: Result<String?, Problem>, now: Int64) {
    state.withLock { state in
      let trusted = state.sites[app]?.trusted.flatMap { now - $0.at < Self.keptTime ? $0.keys : nil }
      let counts = token.key.map { trusted?.contains($0) ?? false } ?? false
      switch result {
      case .success(let user):
        if !counts { state.faults.append("\(app): a token was accepted whose key was never served") }
        if user != TokenPool.user { state.faults.append("\(app): a token was taken for another user's") }
      case .failure(let problem):
        if counts { state.faults.append("\(app): a good token was refused (\(problem.slug))") }
      }
    }
  }
}
