// The key fetcher: fetches the public keys of identity providers at the start, at intervals, and when a token
// names an unknown key. One thread with its own transfers; requests that wait for it hold no thread. A
// failing provider affects only the tokens of its app (R11).

internal import Cryptography
internal import Domain
public import HTTPClient
public import Platform
public import Service

/// Fetches key sets. Thread-safe.
public final class KeyFetcher: Sendable {
  public static let transfersMax = 16
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

  public init(
    transport: any HTTPTransport, directory: AppDirectory, metrics: Metrics, dependencies: Dependencies
  ) {
    worker = Worker("key-fetcher", inbox: Inbox()) { transport.wake() }
    self.transport = transport
    self.metrics = metrics
    self.dependencies = dependencies
    use(directory)
  }

  public func start() throws(SystemError) {
    try worker.start { [self] in
      var run = KeyFetcherRun(self)
      run.loop()
    }
  }

  /// Installs new apps and settings. Keys are kept if their URL has not changed.
  public func use(_ directory: AppDirectory) {
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

  /// Starts no further fetch, and wakes all waiters.
  public func windDown() {
    let dismissed = worker.post { state in
      state.isStopping = true
      return state.caches.keys.flatMap { state.caches[$0]?.answerAll(.stopping) ?? [] }
    }
    for wake in dismissed { wake() }
  }

  /// Ends the thread. Waiters are woken first.
  public func stop() {
    windDown()
    worker.stop()
  }
}
