// All transfers of one thread on one multi handle. Everything except `wake` belongs to the thread that owns
// the pool. Must never block longer than the timeout of `run`.

internal import CCurl
internal import Formats
internal import Platform
internal import Synchronization

/// Runs many HTTP requests concurrently, over connections that are kept and reused.
///
/// Owns the multi handle and all easy handles; `deinit` frees them and ends active transfers. One thread
/// creates the pool, starts transfers and calls `run`; only `wake` is thread-safe. Requests use HTTP/2 or
/// HTTP/1.1 over TLS 1.2 or later, with a verified certificate; http is for loopback addresses only.
/// Redirects are not followed; there are no cookies, no netrc and no decompression. The process must ignore
/// SIGPIPE, because OpenSSL writes without MSG_NOSIGNAL.
///
/// After a failure, the next transfer to the same origin makes a new connection, and so does one that is
/// older than `TransferLimits.connectionLifetime`.
///
/// If a kept connection is dead before any byte of an answer, libcurl sends the request once more on a new
/// one, within the same transfer and its timeout.
@safe public final class TransferPool: @unchecked Sendable {
  private let multi: UnsafeMutableRawPointer
  private let connectionsMax: Int
  private let proxies: ProxySettings
  private var caches: ConnectionCaches
  private var running: [UInt: Transfer] = [:]
  private var idle: [Transfer] = []
  private let woken = Atomic<Bool>(false)

  /// libcurl's process-wide initialization, done once (curl_global_init(3)). It is never undone, because
  /// other code may use the library.
  private static let libraryIsReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

  /// - Parameters:
  ///   - connectionsMax: the maximum number of concurrent transfers, and of origins with kept connections. An
  ///     origin has at most as many as it had transfers at a time.
  ///   - proxies: which requests go through a proxy.
  public init(
    connectionsMax: Int, proxies: ProxySettings = .ofProcess
  ) throws(TransferFailure) {
    guard TransferPool.libraryIsReady else { throw .internalFault }
    guard let multi = unsafe curl_multi_init() else { throw .outOfMemory }
    let limit = min(max(connectionsMax, 1), Int(Int32.max))
    // `start` enforces the limit, so no transfer queues for a connection inside libcurl. There the wait would
    // use up its timeout, and one slow server could delay the others (R11).
    guard unsafe ccurl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, limit) == CURLM_OK,
      unsafe ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, limit) == CURLM_OK
    else {
      unsafe curl_multi_cleanup(multi)
      throw .internalFault
    }
    unsafe self.multi = multi
    self.connectionsMax = limit
    self.proxies = proxies
    caches = ConnectionCaches(originsMax: limit)
  }

  deinit {
    // curl_multi_cleanup(3) requires this order: remove the easy handles, free them, free the multi handle.
    for transfer in running.values { unsafe curl_multi_remove_handle(multi, transfer.easy) }
    running.removeAll()
    idle.removeAll()
    unsafe curl_multi_cleanup(multi)
  }

  /// The number of transfers that were started and not yet returned by `run` or `cancelAll`.
  public var active: Int { running.count }

  /// Starts a transfer; it makes progress during `run`.
  /// - Parameter tag: returned with the completion. The pool does not require it to be unique.
  /// - Throws: `refusedURL`, `refusedHeader`, `certificateAuthorityUnreadable`, `poolFull`, `outOfMemory` or
  ///   `internalFault`. Nothing was sent then, and there is no completion.
  public func start(_ request: TransferRequest, tag: UInt64) throws(TransferFailure) {
    guard active < connectionsMax else { throw .poolFull }
    let transfer = if let last = idle.popLast() { last } else { try Transfer(proxies) }
    do throws(TransferFailure) {
      let now = MonotonicInstant.now()
      try transfer.prepare(request, tag: tag, now: now) { origin throws(TransferFailure) in
        try caches.cache(of: origin, isFresh: request.wantsFreshConnection, now: now)
      }
      let code = unsafe curl_multi_add_handle(multi, transfer.easy)
      guard code == CURLM_OK else { throw code == CURLM_OUT_OF_MEMORY ? .outOfMemory : .internalFault }
    } catch {
      transfer.release()
      idle.append(transfer)
      throw error
    }
    running[transfer.key] = transfer
  }

  /// Advances all transfers until one or more have ended, `wake` was called, or the timeout has elapsed.
  /// - Parameter timeout: zero does not wait.
  /// - Returns: the completed transfers; empty after a wake or a timeout.
  public func run(timeout: Duration) -> [TransferCompletion] {
    let deadline = MonotonicInstant.now().advanced(by: max(timeout, .zero))
    while true {
      var stillRunning: Int32 = 0
      for transfer in running.values where transfer.clock.isLookingUp {
        try? transfer.setConnectTimeout(now: .now())
      }
      // After an error the transfers cannot be continued (curl_multi_perform(3)).
      guard unsafe curl_multi_perform(multi, &stillRunning) == CURLM_OK
      else { return endAll(with: .internalFault) }
      let completions = collect() + endOverdue()
      let wasWoken = woken.exchange(false, ordering: .acquiringAndReleasing)
      let now = MonotonicInstant.now()
      if wasWoken || !completions.isEmpty || now >= deadline { return completions }
      let next = running.values.reduce(deadline) { min($0, $1.clock.deadline) }
      // Rounded up, because the next deadline is not reached before.
      let remaining = next.duration(since: now).milliseconds + 1
      guard unsafe curl_multi_poll(multi, nil, 0, Int32(clamping: remaining), nil) == CURLM_OK
      else { return endAll(with: .internalFault) }
    }
  }

  /// Makes the current call of `run` return, else the next one. Called from any thread.
  public func wake() {
    woken.store(true, ordering: .releasing)
    unsafe curl_multi_wakeup(multi)
  }

  /// Ends all active transfers; `run` does not return them afterwards.
  /// - Returns: one completion for each, with the failure `cancelled` and whether its request had been sent.
  @discardableResult public func cancelAll() -> [TransferCompletion] {
    endAll(with: .cancelled)
  }

  /// Ends the transfers with a tag; they have no completion.
  public func cancel(tag: UInt64) {
    for transfer in running.values where transfer.tag == tag { retire(transfer) }
  }

  private func collect() -> [TransferCompletion] {
    var completions: [TransferCompletion] = []
    var left: Int32 = 0
    while let message = unsafe curl_multi_info_read(multi, &left) {
      // The message becomes invalid when its handle is removed (curl_multi_info_read(3)).
      let key = unsafe UInt(bitPattern: message.pointee.easy_handle)
      let code = unsafe message.pointee.data.result
      guard unsafe message.pointee.msg == CURLMSG_DONE, let transfer = running[key] else { continue }
      completions.append(end(transfer, transfer.result(code: code)))
    }
    return completions
  }

  private func endOverdue() -> [TransferCompletion] {
    let now = MonotonicInstant.now()
    return running.values.filter { $0.clock.deadline <= now }.map { end($0, $0.timeOut()) }
  }

  private func end(_ transfer: Transfer, _ result: TransferResult) -> TransferCompletion {
    if result.failure != nil, let cache = transfer.cache { caches.retire(cache) }
    retire(transfer)
    return TransferCompletion(tag: transfer.tag, result: result)
  }

  private func endAll(with failure: TransferFailure) -> [TransferCompletion] {
    running.values.map { transfer in
      let result = transfer.result(code: CURLE_ABORTED_BY_CALLBACK, failure: failure)
      retire(transfer)
      return TransferCompletion(tag: transfer.tag, result: result)
    }
  }

  private func retire(_ transfer: Transfer) {
    unsafe curl_multi_remove_handle(multi, transfer.easy)
    running[transfer.key] = nil
    transfer.release()
    idle.append(transfer)
  }
}

// MARK: - HTTPTransport

// The interface of the HTTP transport for workers. `TransferPool` implements it with libcurl; tests have
// their own.

/// Sends requests and collects their answers. One thread calls everything except `wake`.
public protocol HTTPTransport: Sendable {
  /// See `TransferPool.start`.
  func start(_ request: TransferRequest, tag: UInt64) throws(TransferFailure)
  /// See `TransferPool.run`.
  func run(timeout: Duration) -> [TransferCompletion]
  /// See `TransferPool.cancel`.
  func cancel(tag: UInt64)
  /// See `TransferPool.cancelAll`.
  func cancelAll() -> [TransferCompletion]
  /// Makes `run` return. Called from any thread.
  func wake()
}

extension TransferPool: HTTPTransport {}
