// Who may post, and for whom: a key of the app, which may for every user, or a token, which may for its own.
// Decided from the head, before any byte of the body; a token whose key has to be fetched first is decided
// once that is over. Any thread; nothing here waits.

public import Apps
internal import Domain
public import HTTPServer
public import HTTPService
public import JSONWebToken
internal import Platform
internal import Telemetry

/// Who a request is from, as far as it shows.
public enum Caller: Sendable {
  /// Whoever has the app's key, or anyone where anyone may.
  case app
  /// The user of a token that was checked.
  case user(String)
  /// The bearer of a token whose key is not known yet.
  case bearer(SignedToken)
}

/// Lets clients in.
public struct ClientGate: Sendable {
  let services: ListenerServices
  let apps: AppRegistry
  /// Nil where nothing is fetched.
  let fetcher: KeyFetcher?

  public init(services: ListenerServices, apps: AppRegistry, fetcher: KeyFetcher?) {
    self.services = services
    self.apps = apps
    self.fetcher = fetcher
  }

  /// Who posts a context.
  public func poster(_ head: RequestHead, _ app: App) -> Result<Caller, Problem> {
    guard app.isRestricted else { return .success(.app) }
    let shown = ContextPost.clientKey(head)
    if app.accepts(clientKey: shown) { return .success(.app) }
    guard let tokens = app.tokens, let bearer = Self.bearer(head) else { return refused(app, "key") }
    // Where there are keys, too, what has not the form of a token was meant as one of them.
    guard SignedToken.hasForm(bearer) || !app.hasKeys else { return refused(app, "key") }
    return decide(bearer, tokens, app)
  }

  /// Who asks for the state of a checkout. Nobody needs to say; but a token that is shown counts.
  public func asker(_ head: RequestHead, _ app: App) -> Result<Caller, Problem> {
    guard let tokens = app.tokens, let bearer = Self.bearer(head), SignedToken.hasForm(bearer),
      !app.accepts(clientKey: bearer)
    else { return .success(.app) }
    return decide(bearer, tokens, app)
  }

  private static func bearer(_ head: RequestHead) -> [UInt8]? {
    head.header("Authorization") == nil ? nil : ContextPost.clientKey(head)
  }

  private func decide(_ bearer: [UInt8], _ tokens: TokenGate, _ app: App) -> Result<Caller, Problem> {
    let token: SignedToken
    do throws(TokenRefusal) {
      token = try SignedToken(parsing: bearer)
    } catch {
      return refused(app, error)
    }
    switch check(token, tokens, app) {
    case .success(let user): return .success(.user(user))
    case .failure(let refusal):
      guard refusal.mayBeNewKey, let fetcher else { return refused(app, refusal.reason) }
      switch fetcher.prospect(token.keyID, app: app.slug) {
      case .fetch: return .success(.bearer(token))
      case .none: return refused(app, refusal.reason)
      case .later(let milliseconds): return unavailable(app, milliseconds)
      }
    }
  }

  private struct Refusal: Error {
    let reason: TokenRefusal
    /// Whether a fetch of the keys could change it.
    let mayBeNewKey: Bool
  }

  private func check(_ token: SignedToken, _ tokens: TokenGate, _ app: App) -> Result<String, Refusal> {
    let isFetched = tokens.keySetURL != nil
    guard let keys = isFetched ? fetcher?.keys(of: app.slug) : tokens.givenKeys else {
      // An algorithm that no key could have is refused whatever the keys are.
      let isPossible = token.algorithm.map { tokens.rules.algorithms.contains($0) } ?? false
      return .failure(Refusal(reason: isPossible ? .unknownKey : .algorithm, mayBeNewKey: isPossible))
    }
    let now = Timestamp(unixMilliseconds: services.clock.wallMilliseconds)
    do throws(TokenRefusal) {
      return .success(try tokens.rules.user(of: token, keys: keys, now: now))
    } catch {
      let isUnnamed = error == .signature && !keys.hasKey(of: token)
      return .failure(
        Refusal(reason: error, mayBeNewKey: isFetched && (error == .unknownKey || isUnnamed)))
    }
  }

  /// Goes on once it is known who the caller is: at once, or when the keys were fetched.
  /// - Parameter proceed: takes the user whom the request must be about; nil when it may be anyone.
  public func settle(
    _ caller: Caller, _ app: App, _ exchange: Exchange,
    proceed: @escaping @Sendable (_ user: String?) -> Void
  ) {
    let waits = settle(caller, app) { result in
      switch result {
      case .success(let user): proceed(user)
      case .failure(let problem): exchange.answer(problem)
      }
    }
    // Nobody waits any more: the place is wanted for others.
    if waits { exchange.answerOnHangUp(.keysUnavailable(1000)) }
  }

  /// The same without a request.
  /// - Parameter decided: called once, with the user whom the request must be about (nil when it may be
  ///   anyone), or with what to answer.
  /// - Returns: whether a fetch of the keys has to end first.
  func settle(
    _ caller: Caller, _ app: App, decided: @escaping @Sendable (Result<String?, Problem>) -> Void
  ) -> Bool {
    switch caller {
    case .app: decided(.success(nil))
    case .user(let user): decided(.success(user))
    case .bearer(let token):
      let slug = app.slug
      let prospect = fetcher?.wait(for: token.keyID, app: slug) { waking in
        decided(resume(token, slug, after: waking))
      }
      switch prospect {
      case .fetch: return true
      case nil, .some(.none): decided(resume(token, slug, after: .fetched))
      case .later(let milliseconds):
        decided(resume(token, slug, after: .failed(retryAfterMilliseconds: milliseconds)))
      }
    }
    return false
  }

  /// - Parameter slug: of the app, by whose rules of now it goes: a reload may have come meanwhile.
  private func resume(
    _ token: SignedToken, _ slug: String, after waking: KeySetBook.Waking
  ) -> Result<String?, Problem> {
    guard let app = apps.current[slug] else { return .failure(.unknownApp) }
    // Without tokens other rules hold now; whoever comes again is let in by them, or is not.
    guard let tokens = app.tokens else { return .failure(problem(of: unavailable(app, 1000))) }
    switch check(token, tokens, app) {
    case .success(let user): return .success(user)
    case .failure(let refusal) where !refusal.mayBeNewKey:
      return .failure(problem(of: refused(app, refusal.reason)))
    case .failure(let refusal): return .failure(verdict(on: token, refusal, app, after: waking))
    }
  }

  /// What is said of a token whose key is not known, now that a fetch is over.
  private func verdict(
    on token: SignedToken, _ refusal: Refusal, _ app: App, after waking: KeySetBook.Waking
  ) -> Problem {
    switch waking {
    case .stopping: return .stopping
    case .failed(let milliseconds): return problem(of: unavailable(app, milliseconds))
    case .fetched:
      // It is final only if that fetch, or one before, looked for its key.
      switch fetcher?.prospect(token.keyID, app: app.slug) {
      case .some(.none): return problem(of: refused(app, refusal.reason))
      case .later(let milliseconds): return problem(of: unavailable(app, milliseconds))
      case .fetch, nil: return problem(of: unavailable(app, 1000))
      }
    }
  }

  private func problem(of result: Result<Caller, Problem>) -> Problem {
    if case .failure(let problem) = result { problem } else { .internalFault }
  }

  // MARK: Refusals, counted

  private func refused(_ app: App, _ reason: TokenRefusal) -> Result<Caller, Problem> {
    count(app, reason.rawValue)
    return .failure(.invalidToken(reason))
  }

  private func refused(_ app: App, _ reason: String) -> Result<Caller, Problem> {
    count(app, reason)
    return .failure(.unauthorized(app))
  }

  private func unavailable(_ app: App, _ milliseconds: Int64) -> Result<Caller, Problem> {
    count(app, "keys_unavailable")
    return .failure(.keysUnavailable(milliseconds))
  }

  /// Counts a context that was one too many.
  /// - Parameter of: what had too many: a user or an address.
  public func limited(_ app: App, of kind: StaticString) {
    services.metrics.contexts.increment(app.slug, "limited")
    services.requestLog.limitedContext(of: "\(kind)", app: app.slug)
  }

  /// - Parameter reason: one of a fixed set.
  func count(_ app: App, _ reason: String) {
    services.metrics.clientRefusals.increment(app.slug, reason)
    services.requestLog.refusedClient(reason, app: app.slug)
  }
}

extension Problem {
  /// Nothing that could be checked was shown (RFC 6750 §3.1: then without an error code).
  static func unauthorized(_ app: App) -> Problem {
    guard app.tokens != nil else { return .unauthorized }
    let key = app.hasKeys ? ", or one of the app's client keys as `X-API-KEY: KEY`" : ""
    return Problem(
      slug: "unauthorized", title: "Unauthorized", status: 401,
      detail: "Send the user's token as `Authorization: Bearer TOKEN`\(key).",
      headers: ["WWW-Authenticate": "Bearer"])
  }

  /// RFC 6750 §3.1.
  static func invalidToken(_ reason: TokenRefusal) -> Problem {
    Problem(
      slug: "invalid-token", title: "Token refused", status: 401,
      detail: "\(reason.words) Get a new one and send the request again.",
      headers: ["WWW-Authenticate": "Bearer error=\"invalid_token\", error_description=\"\(reason.words)\""],
      reason: reason.rawValue)
  }

  static func keysUnavailable(_ milliseconds: Int64) -> Problem {
    .unavailable(
      "keys-unavailable",
      "The keys that tokens are checked with cannot be had now. Nothing of this request was kept; send it "
        + "again.",
      retryAfterSeconds: Int(clamping: max(1, (milliseconds / 1000) + (milliseconds % 1000 > 0 ? 1 : 0))))
  }

  static let wrongUser = Problem(
    slug: "wrong-user", title: "Another user's context", status: 403,
    detail: "The token is not of the user that the request names. Name no user, and the token's is taken.")
}
