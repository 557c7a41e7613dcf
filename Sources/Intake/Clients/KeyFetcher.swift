// The key fetcher: fetches the public keys of identity providers, at the start, at intervals, and when a
// token names a key that is not known. One thread with transfers of its own; requests wait for it without a
// thread. Whatever becomes of a provider, nothing but the tokens of its app notices (R11).

public import Apps
public import HTTPClient
internal import JSONWebToken
public import Platform
public import Telemetry

/// Fetches key sets.
public final class KeyFetcher: Sendable {
  public static let transfersMax = 16
  static let timeoutMilliseconds = 5000
  static let connectTimeoutMilliseconds = 3000

  struct Inbox: WorkerInbox {
    /// By app.
    var books: [String: KeySetBook] = [:]
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

  /// New apps and settings. Keys from an address that stays are kept.
  public func use(_ directory: AppDirectory) {
    let now = dependencies.clock.monotonic
    let addresses = directory.apps.compactMapValues { $0.tokens?.keySetURL }
    let dismissed = worker.post { state in
      var books: [String: KeySetBook] = [:]
      var dismissed: [@Sendable () -> Void] = []
      for (app, url) in addresses where state.books[app]?.url != url {
        books[app] = KeySetBook(url: url, now: now)
      }
      for (app, var book) in state.books {
        if addresses[app] == book.url {
          books[app] = book
        } else {
          dismissed += book.dismissAll(.failed(retryAfterMilliseconds: 1000))
        }
      }
      state.books = books
      return dismissed
    }
    for wake in dismissed { wake() }
  }

  /// The keys in force for an app; nil when there are none, or none that are young enough.
  func keys(of app: String) -> KeySet? {
    let now = dependencies.clock.monotonic
    return worker.withInbox { $0.books[app]?.keys(now: now) }
  }

  func prospect(_ keyID: String?, app: String) -> KeySetBook.Prospect {
    let now = dependencies.clock.monotonic
    return worker.withInbox { state in
      guard !state.isStopping, let book = state.books[app] else { return .later(milliseconds: 1000) }
      return book.prospect(keyID, now: now)
    }
  }

  /// Waits for the fetch that may bring a token's key; causes it if need be.
  /// - Parameter wake: called once, without a lock, when it is over or its time is up: on the fetcher's
  ///   thread, or on the one that reloads or stops. Not at all when there is no prospect of a fetch.
  /// - Returns: what there is to hope for.
  func wait(
    for keyID: String?, app: String, wake: @escaping @Sendable (KeySetBook.Waking) -> Void
  ) -> KeySetBook.Prospect {
    let now = dependencies.clock.monotonic
    let prospect = worker.withInbox { state -> KeySetBook.Prospect in
      guard !state.isStopping else { return .later(milliseconds: 5000) }
      let prospect = state.books[app]?.prospect(keyID, now: now) ?? .later(milliseconds: 1000)
      if prospect == .fetch { state.books[app]?.wait(for: keyID, now: now, wake) }
      return prospect
    }
    if prospect == .fetch { worker.post { _ in } }
    return prospect
  }

  /// Fetches nothing more, and lets everyone go who waits.
  public func windDown() {
    let dismissed = worker.post { state in
      state.isStopping = true
      return state.books.keys.flatMap { state.books[$0]?.dismissAll(.stopping) ?? [] }
    }
    for wake in dismissed { wake() }
  }

  /// Ends the thread.
  public func stop() {
    windDown()
    worker.stop()
  }
}
