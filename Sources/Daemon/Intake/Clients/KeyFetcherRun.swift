// The steps of the key fetcher. The fetcher's thread. It must not call waiters while it holds the lock.

internal import Cryptography
internal import Domain
internal import Formats
internal import HTTPClient
internal import Platform
internal import Service

/// One run of the fetcher, from start to stop.
struct KeyFetcherRun {
  private let fetcher: KeyFetcher
  private let clock: any Clock
  private let log: Log
  /// Fetches under way, by tag.
  private var queries: [UInt64: (app: AppSlug, url: String)] = [:]
  private var lastTag: UInt64 = 0

  init(_ fetcher: KeyFetcher) {
    self.fetcher = fetcher
    clock = fetcher.dependencies.clock
    log = fetcher.dependencies.log
  }

  /// The longest that the thread sleeps.
  private static let sleepMax: Duration = .hours(1)

  /// Runs steps until the stop.
  mutating func loop() {
    while let sleep = step() { handleAnswers(within: sleep) }
    _ = fetcher.transport.cancelAll()
  }

  /// Does what is due now, without waiting.
  /// - Returns: for how long nothing is due except answers; nil after the stop.
  mutating func step() -> Duration? {
    let now = clock.monotonic
    var due: [(app: AppSlug, url: String)] = []
    var expired: [@Sendable () -> Void] = []
    let room = KeyFetcher.transfersMax - queries.count
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

  /// Handles the answers of providers; waits for them at most `time`.
  mutating func handleAnswers(within time: Duration) {
    for completion in fetcher.transport.run(timeout: time) {
      finish(completion)
    }
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

  private mutating func ask(_ query: (app: AppSlug, url: String)) {
    lastTag += 1
    let request = TransferRequest(
      method: .get, url: query.url,
      headers: [
        TransferHeader("Accept", "application/jwk-set+json, application/json"),
        TransferHeader("User-Agent", Version.userAgent),
      ],
      timeout: KeyFetcher.timeout,
      connectTimeout: KeyFetcher.connectTimeout, answerBytesMax: KeySet.bytesMax)
    do throws(TransferFailure) {
      try fetcher.transport.start(request, tag: lastTag)
      queries[lastTag] = query
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

  private mutating func finish(_ completion: TransferCompletion) {
    guard let query = queries.removeValue(forKey: completion.tag) else { return }
    let result = completion.result
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

  private mutating func finish(
    _ query: (app: AppSlug, url: String), _ answer: Result<KeySet, Refusal>, maxAge: Duration?
  ) {
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
