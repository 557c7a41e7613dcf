// The key fetcher: fetches the public keys of identity providers at the start, at intervals, and when a token
// names an unknown key. One thread with its own transfers; requests that wait for it hold no thread. A
// failing provider affects only the tokens of its app (R11).

internal import Cryptography
internal import Domain
internal import Formats
internal import HTTPClient
internal import Platform
internal import Service

/// Fetches key sets. Thread-safe.
final class KeyFetcher: NetworkWorker {
  static let transfersMax = 16
  static let timeout: Duration = .seconds(5)
  static let connectTimeout: Duration = .seconds(3)

  struct Inbox: WorkerInbox {
    /// By app.
    var caches: [AppSlug: KeySetCache] = [:]
    var isStopping = false
  }

  let worker: Worker<Inbox>
  let dependencies: Dependencies
  let transport: any HTTPTransport
  let metrics: Metrics

  init(
    transport: any HTTPTransport, directory: AppDirectory, metrics: Metrics, dependencies: Dependencies
  ) {
    worker = Worker("key-fetcher", inbox: Inbox()) { transport.wake() }
    self.transport = transport
    self.metrics = metrics
    self.dependencies = dependencies
    use(directory)
  }

  func drive<Failure: Error>(_ body: (inout KeyFetcherRun) throws(Failure) -> Void) throws(Failure) {
    var run = KeyFetcherRun(self)
    try body(&run)
  }

  /// Installs new apps and settings. Keys are kept if their URL has not changed.
  func use(_ directory: AppDirectory) {
    let now = dependencies.clock.monotonic
    let addresses = directory.apps.compactMapValues { $0.tokens?.keySetURL }
    let dismissed = worker.post { state in
      var caches: [AppSlug: KeySetCache] = [:]
      var dismissed: [@Sendable () -> Void] = []
      for (app, url) in addresses where state.caches[app]?.url != url {
        caches[app] = KeySetCache(url: url, now: now)
      }
      for (app, var cache) in state.caches {
        if addresses[app] == cache.url {
          caches[app] = cache
        } else {
          dismissed += cache.answerAll(.failed(retryAfter: .seconds(1)))
        }
      }
      state.caches = caches
      return dismissed
    }
    for wake in dismissed { wake() }
  }

  /// The valid keys of an app; nil if there are none, or if they are too old.
  func keys(of app: AppSlug) -> KeySet? {
    let now = dependencies.clock.monotonic
    return worker.withInbox { $0.caches[app]?.keys(now: now) }
  }

  func prospect(_ keyID: String?, app: AppSlug) -> KeySetCache.Prospect {
    let now = dependencies.clock.monotonic
    return worker.withInbox { state in
      guard !state.isStopping, let cache = state.caches[app] else { return .later(.seconds(1)) }
      return cache.prospect(keyID, now: now)
    }
  }

  /// Waits for the fetch that may bring a token's key; starts one if necessary.
  /// - Parameter wake: called once, without a lock, after the fetch or a timeout: on the fetcher's thread, or
  ///   on the one that reloads or stops. Not called unless the result is `.fetch`.
  /// - Returns: whether a fetch may bring the key.
  func wait(
    for keyID: String?, app: AppSlug, wake: @escaping @Sendable (KeySetCache.Waking) -> Void
  ) -> KeySetCache.Prospect {
    let now = dependencies.clock.monotonic
    let prospect = worker.withInbox { state -> KeySetCache.Prospect in
      guard !state.isStopping else { return .later(.seconds(5)) }
      let prospect = state.caches[app]?.prospect(keyID, now: now) ?? .later(.seconds(1))
      if prospect == .fetch { state.caches[app]?.wait(for: keyID, now: now, wake) }
      return prospect
    }
    if prospect == .fetch { worker.post { _ in } }
    return prospect
  }

  /// Also wakes all waiters.
  func windDown() {
    let dismissed = worker.post { state in
      state.isStopping = true
      return state.caches.keys.flatMap { state.caches[$0]?.answerAll(.stopping) ?? [] }
    }
    for wake in dismissed { wake() }
  }
}

// MARK: - Steps

// The fetcher's thread. It must not call waiters while it holds the lock.

/// One run of the fetcher, from start to stop.
struct KeyFetcherRun: NetworkRun {
  typealias Query = (app: AppSlug, url: String)

  private let fetcher: KeyFetcher
  private let clock: any Clock
  private let log: Log
  var transfers: Transfers<Query>

  init(_ fetcher: KeyFetcher) {
    self.fetcher = fetcher
    transfers = Transfers(fetcher.transport)
    clock = fetcher.dependencies.clock
    log = fetcher.dependencies.log
  }

  /// The thread's longest sleep.
  private static let sleepMax: Duration = .hours(1)

  mutating func step() -> Duration? {
    let now = clock.monotonic
    var due: [Query] = []
    var expired: [@Sendable () -> Void] = []
    let room = KeyFetcher.transfersMax - transfers.calls.count
    let isOver = fetcher.worker.read { state in
      if state.isStopping { return true }
      for app in state.caches.keys {
        guard var cache = state.caches[app] else { continue }
        expired += cache.expire(now: now)
        if due.count < room, cache.begin(now: now) { due.append((app, cache.url)) }
        state.caches[app] = cache
      }
      return false
    }
    for wake in expired { wake() }
    guard !isOver else { return nil }
    for query in due { ask(query) }
    return sleep(stepStart: now)
  }

  /// Called last: a request that could not be sent is due again soon.
  private func sleep(stepStart: MonotonicInstant) -> Duration {
    let next = fetcher.worker.withInbox { state in
      // A key set that is due but has no free transfer waits for an answer.
      state.caches.values.map(\.nextAt).filter { $0 > stepStart }.min()
    }
    let sleep = next.map { $0.duration(since: clock.monotonic) + .milliseconds(1) } ?? Self.sleepMax
    return min(max(.zero, sleep), Self.sleepMax)
  }

  private mutating func ask(_ query: Query) {
    let request = TransferRequest(
      method: .get, url: query.url,
      headers: [
        TransferHeader("Accept", "application/jwk-set+json, application/json"),
        TransferHeader("User-Agent", Version.userAgent),
      ],
      timeout: KeyFetcher.timeout,
      connectTimeout: KeyFetcher.connectTimeout, answerBytesMax: KeySet.bytesMax)
    do throws(TransferFailure) {
      try transfers.start(request, for: query)
    } catch {
      finish(query, .failure(Refusal(reason: error.rawValue, isAnswer: false)), maxAge: nil)
    }
  }

  /// Why an answer has no usable keys.
  private struct Refusal: Error {
    let reason: String
    /// Whether there was an answer that cannot be used.
    let isAnswer: Bool
  }

  mutating func finish(_ query: Query, _ result: TransferResult) {
    guard result.status == 200, result.failure == nil else {
      let reason = result.failureText ?? "HTTP \(result.status ?? 0)"
      return finish(query, .failure(Refusal(reason: reason, isAnswer: false)), maxAge: nil)
    }
    do throws(KeySetFault) {
      // A secret that can be fetched would let every reader sign tokens.
      let keys = try KeySet(reading: result.body).withoutSecrets
      // A provider without any key has an error: keep the previous keys, or all tokens would be refused.
      guard !keys.keys.isEmpty else {
        let refusal = Refusal(reason: "it has no usable key", isAnswer: true)
        return finish(query, .failure(refusal), maxAge: nil)
      }
      finish(query, .success(keys), maxAge: CacheAge.duration(result.header("Cache-Control")))
    } catch {
      finish(query, .failure(Refusal(reason: "\(error)", isAnswer: true)), maxAge: nil)
    }
  }

  private mutating func finish(_ query: Query, _ answer: Result<KeySet, Refusal>, maxAge: Duration?) {
    let now = clock.monotonic
    let keys = try? answer.get()  // a refusal is logged below
    let outcome = fetcher.worker.withInbox {
      state -> (isNews: Bool, woken: [@Sendable () -> Void])? in
      // A reload may have removed the app or changed its issuer.
      guard var cache = state.caches[query.app], cache.url == query.url else { return nil }
      let isRecovery = cache.failures > 0 || cache.keys(now: now) == nil
      let woken = cache.finish(keys, maxAge: maxAge, now: now)
      let isNews = keys == nil ? cache.warns(now: now) : isRecovery
      state.caches[query.app] = cache
      return (isNews, woken)
    }
    guard let outcome else { return }
    notify(query.app, answer, isNews: outcome.isNews)
    for wake in outcome.woken { wake() }
  }

  private func notify(_ app: AppSlug, _ answer: Result<KeySet, Refusal>, isNews: Bool) {
    switch answer {
    case .success(let keys):
      fetcher.metrics.keySetFetches.increment(app.text, "fetched")
      guard isNews else { return }
      log.info("fetched an app's key set", ["app": app.text, "keys": String(keys.keys.count)])
    case .failure(let refusal):
      fetcher.metrics.keySetFetches.increment(app.text, refusal.isAnswer ? "unusable" : "failed")
      guard isNews else { return }
      log.warning(
        "could not fetch an app's key set; tokens are checked with the keys that were fetched before, if "
          + "any, for at most 7 days. Look at client.jwt.jwks and at the identity provider",
        ["app": app.text, "reason": refusal.reason])
    }
  }
}

/// The lifetime of an answer according to its `Cache-Control` (RFC 9111 §5.2.2).
enum CacheAge {
  /// `max-age`, whatever the number; zero for an answer that must not be cached; nil without either.
  static func duration(_ field: String?) -> Duration? {
    guard let field else { return nil }
    var age: Duration?
    for part in field.lowercased().split(separator: ",") {
      let directive = part.filter { $0 != " " && $0 != "\t" && $0 != "\"" }
      if directive == "no-store" || directive == "no-cache" { return .zero }
      guard directive.hasPrefix("max-age=") else { continue }
      let digits = directive.dropFirst("max-age=".count)
      guard digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), !digits.isEmpty else { continue }
      // A number too large for Int64 exceeds the limit, too.
      age = .seconds(Int64(digits) ?? .max)
    }
    return age
  }
}
