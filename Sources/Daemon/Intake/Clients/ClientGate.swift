// Authorizes the clients that post contexts: a client key of the app is valid for every user, a token for its
// own user. The decision uses only the head, before any byte of the body. A token whose key must be fetched
// is decided after the fetch. Thread-safe; nothing here blocks.

internal import Cryptography
internal import Domain
internal import Formats
internal import HTTPServer
internal import Platform
internal import Service

/// The authenticated caller of a request, as far as the head shows.
enum Caller: Sendable {
  /// A caller with the app's key, or any caller if the app requires none.
  case app
  /// The user of a valid token.
  case user(TokenUser)
  /// The bearer of a token whose key is not known yet.
  case bearer(SignedToken)
}

/// The user of a valid token.
struct TokenUser: Sendable {
  let id: UserID
  /// The user's e-mail address; nil unless the issuer has verified it. Never stored or logged (R7).
  let email: String?
}

/// Authorizes clients.
struct ClientGate: Sendable {
  let services: ListenerServices
  let apps: AppRegistry
  /// Nil if no keys are fetched.
  let fetcher: KeyFetcher?

  /// Authorizes a caller that posts a context.
  func poster(_ head: RequestHead, _ app: App) -> Result<Caller, Problem> {
    guard app.isRestricted else { return .success(.app) }
    let shown = ContextPost.clientKey(head, or: app.keyHeaders)
    if app.accepts(clientKey: shown) { return .success(.app) }
    guard let tokens = app.tokens, let bearer = Self.bearer(head) else { return refused(app, "key") }
    // If the app has keys, a credential without the form of a token is treated as a key.
    guard SignedToken.hasForm(bearer) || !app.hasKeys else { return refused(app, "key") }
    return decide(bearer, tokens, app)
  }

  /// Authorizes a caller that reads the state of a checkout. No credential is required, but a token that is
  /// sent is checked.
  func reader(_ head: RequestHead, _ app: App) -> Result<Caller, Problem> {
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
      case .later(let wait): return unavailable(app, wait)
      }
    }
  }

  private struct Refusal: Error {
    let reason: TokenRefusal
    /// Whether fetching the keys may change it.
    let mayBeNewKey: Bool
  }

  private func check(_ token: SignedToken, _ tokens: TokenGate, _ app: App) -> Result<TokenUser, Refusal> {
    let isFetched = tokens.keySetURL != nil
    guard let keys = isFetched ? fetcher?.keys(of: app.slug) : tokens.givenKeys else {
      // An algorithm that no key may have is refused, whatever the keys are.
      let isPossible = token.algorithm.map { tokens.rules.algorithms.contains($0) } ?? false
      return .failure(Refusal(reason: isPossible ? .unknownKey : .algorithm, mayBeNewKey: isPossible))
    }
    let now = Timestamp(unixMilliseconds: services.clock.wallMilliseconds)
    do throws(TokenRefusal) {
      let identity = try tokens.rules.identity(
        of: token, keys: keys, now: .milliseconds(now.unixMilliseconds))
      return .success(TokenUser(id: UserID(identity.user), email: identity.email))
    } catch {
      let isUnnamed = error == .signature && !keys.hasKey(of: token)
      return .failure(
        Refusal(reason: error, mayBeNewKey: isFetched && (error == .unknownKey || isUnnamed)))
    }
  }

  /// Calls `proceed` when the caller is known: at once, or after the keys were fetched. Answers refusals.
  /// - Parameter proceed: receives the user that the request must be about; nil for any user.
  func authorize(
    _ caller: Caller, _ app: App, _ exchange: Exchange,
    proceed: @escaping @Sendable (_ user: UserID?) -> Void
  ) {
    identify(caller, app, exchange) { proceed($0?.id) }
  }

  /// The same for a request that also needs what the token says about its user.
  func identify(
    _ caller: Caller, _ app: App, _ exchange: Exchange,
    proceed: @escaping @Sendable (_ user: TokenUser?) -> Void
  ) {
    let waits = authorize(caller, app) { result in
      switch result {
      case .success(let user): proceed(user)
      case .failure(let problem): exchange.answer(problem)
      }
    }
    // A client that hung up must not keep its place.
    if waits { exchange.answerOnHangUp(.keysUnavailable(.seconds(1))) }
  }

  /// The same without a request.
  /// - Parameter decided: called once, with the user that the request must be about (nil for any user), or
  ///   with the problem to answer.
  /// - Returns: whether a fetch of the keys must end first.
  func authorize(
    _ caller: Caller, _ app: App, decided: @escaping @Sendable (Result<TokenUser?, Problem>) -> Void
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
      case .later(let wait):
        decided(resume(token, slug, after: .failed(retryAfter: wait)))
      }
    }
    return false
  }

  /// - Parameter slug: of the app. The app is looked up again, because a reload may have changed its rules.
  private func resume(
    _ token: SignedToken, _ slug: AppSlug, after waking: KeySetCache.Waking
  ) -> Result<TokenUser?, Problem> {
    guard let app = apps.current[slug] else { return .failure(.unknownApp) }
    // The app has no tokens any more. The client's next attempt is decided by the new rules.
    guard let tokens = app.tokens else { return .failure(problem(of: unavailable(app, .seconds(1)))) }
    switch check(token, tokens, app) {
    case .success(let user): return .success(user)
    case .failure(let refusal) where !refusal.mayBeNewKey:
      return .failure(problem(of: refused(app, refusal.reason)))
    case .failure(let refusal): return .failure(verdict(on: token, refusal, app, after: waking))
    }
  }

  /// The problem of a token whose key is still unknown after a fetch.
  private func verdict(
    on token: SignedToken, _ refusal: Refusal, _ app: App, after waking: KeySetCache.Waking
  ) -> Problem {
    switch waking {
    case .stopping: return .stopping
    case .failed(let wait): return problem(of: unavailable(app, wait))
    case .fetched:
      // The refusal is final only if this fetch, or an earlier one, looked for the token's key.
      switch fetcher?.prospect(token.keyID, app: app.slug) {
      case .some(.none): return problem(of: refused(app, refusal.reason))
      case .later(let wait): return problem(of: unavailable(app, wait))
      case .fetch, nil: return problem(of: unavailable(app, .seconds(1)))
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

  private func unavailable(_ app: App, _ wait: Duration) -> Result<Caller, Problem> {
    count(app, "keys_unavailable")
    return .failure(.keysUnavailable(wait))
  }

  /// Counts a context that exceeded a rate limit.
  /// - Parameter of: which limit: "user" or "address".
  func limited(_ app: App, of kind: StaticString) {
    services.metrics.contexts.increment(app.slug.text, "limited")
    services.metrics.clientRefusals.increment(app.slug.text, "limited")
    services.requestLog.limitedContext(of: "\(kind)", app: app.slug)
  }

  /// - Parameter reason: one of a fixed set.
  func count(_ app: App, _ reason: String) {
    services.metrics.clientRefusals.increment(app.slug.text, reason)
    services.requestLog.refusedClient(reason, app: app.slug)
  }
}

extension Problem {
  static let unauthorized = Problem(
    slug: "unauthorized", status: 401,
    detail: "Send one of the app's client keys as `Authorization: Bearer KEY` or `X-API-KEY: KEY`.",
    headers: ["WWW-Authenticate": "Bearer"])

  /// The answer if no credential that can be checked was sent; without an error code (RFC 6750 §3.1).
  static func unauthorized(_ app: App) -> Problem {
    guard app.tokens != nil else { return .unauthorized }
    let key = app.hasKeys ? ", or one of the app's client keys as `X-API-KEY: KEY`" : ""
    return Problem(
      slug: "unauthorized", status: 401,
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

  static func keysUnavailable(_ wait: Duration) -> Problem {
    .unavailable(
      "keys-unavailable",
      "The keys for checking tokens are not available now. Nothing of this request was stored; send it "
        + "again.",
      retryAfterSeconds: Int(clamping: max(1, wait.secondsRoundedUp)))
  }

  static let wrongUser = Problem(
    slug: "wrong-user", title: "Another user's context", status: 403,
    detail: "The request names another user than the token. Name no user; the token's user is used then.")
}
