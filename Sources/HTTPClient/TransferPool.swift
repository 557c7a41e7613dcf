// All transfers of one thread on one multi handle. Everything but `wake` belongs to the thread that owns the
// pool. Must never block longer than `run` is told to.

internal import CCurl
internal import Platform
internal import Synchronization

/// Runs many HTTP requests at once, over connections that are kept and reused.
///
/// Owns the multi handle and all easy handles; freed with it, which cuts off what is still active. One
/// thread creates it, starts transfers and calls `run`; `wake` alone may come from any. Requests go by
/// HTTP/2 or HTTP/1.1 over TLS 1.2 or later, with the certificate verified; http is for loopback only.
/// Redirects are not followed; there are no cookies, no netrc and no decompression. The process must ignore
/// SIGPIPE: OpenSSL writes without MSG_NOSIGNAL.
///
/// On a kept connection that turns out dead before any byte of an answer, libcurl sends the request once
/// more on a fresh one, within the same transfer and its time.
@safe public final class TransferPool: @unchecked Sendable {
  private let multi: UnsafeMutableRawPointer
  private let connectionsMax: Int
  private var running: [UInt: Transfer] = [:]
  private var idle: [Transfer] = []
  private let woken = Atomic<Bool>(false)

  /// libcurl's process-wide set-up, done once (curl_global_init(3)); never undone, as others may use the
  /// library.
  private static let libraryIsReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

  /// - Parameter connectionsMax: the most transfers at a time, and so the most connections, kept ones
  ///   included.
  public init(connectionsMax: Int) throws(TransferFailure) {
    guard TransferPool.libraryIsReady else { throw .internalFault }
    guard let multi = unsafe curl_multi_init() else { throw .outOfMemory }
    let limit = min(max(connectionsMax, 1), Int(Int32.max))
    // `start` keeps the number of transfers within the limit, so none ever queues for a connection inside of
    // libcurl, where waiting would eat its time and one slow server could hold up the others (R11).
    guard unsafe ccurl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, limit) == CURLM_OK,
      unsafe ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, limit) == CURLM_OK
    else {
      unsafe curl_multi_cleanup(multi)
      throw .internalFault
    }
    unsafe self.multi = multi
    self.connectionsMax = limit
  }

  deinit {
    // curl_multi_cleanup(3): first every easy handle leaves, then they are freed, then the multi handle.
    for transfer in running.values { unsafe curl_multi_remove_handle(multi, transfer.easy) }
    running.removeAll()
    idle.removeAll()
    unsafe curl_multi_cleanup(multi)
  }

  /// Transfers that were started and have not come out of `run` or `cancelAll`.
  public var active: Int { running.count }

  /// Starts a transfer; it moves on during `run`.
  /// - Parameter tag: comes back with the completion. The pool does not care whether it is unique.
  /// - Throws: `refusedURL`, `refusedHeader`, `certificateAuthorityUnreadable`, `poolFull`, `outOfMemory` or
  ///   `internalFault`: nothing was sent, no completion will come.
  public func start(_ request: TransferRequest, tag: UInt64) throws(TransferFailure) {
    guard active < connectionsMax else { throw .poolFull }
    let transfer = if let last = idle.popLast() { last } else { try Transfer() }
    do throws(TransferFailure) {
      try transfer.prepare(request, tag: tag)
      let code = unsafe curl_multi_add_handle(multi, transfer.easy)
      guard code == CURLM_OK else { throw code == CURLM_OUT_OF_MEMORY ? .outOfMemory : .internalFault }
    } catch {
      transfer.release()
      idle.append(transfer)
      throw error
    }
    running[transfer.key] = transfer
  }

  /// Moves all transfers on until one or more have ended, `wake` was called, or the time is up.
  /// - Parameter timeoutMilliseconds: 0 only does what can be done at once.
  /// - Returns: what ended; empty after a wake or when the time is up.
  public func run(timeoutMilliseconds: Int) -> [TransferCompletion] {
    let deadline = MonotonicInstant.now().advanced(byMilliseconds: Int64(max(timeoutMilliseconds, 0)))
    while true {
      var stillRunning: Int32 = 0
      // After an error the transfers cannot be continued (curl_multi_perform(3)).
      guard unsafe curl_multi_perform(multi, &stillRunning) == CURLM_OK
      else { return endAll(with: .internalFault) }
      let completions = collect()
      let wasWoken = woken.exchange(false, ordering: .acquiringAndReleasing)
      let remaining = deadline.milliseconds(since: .now())
      if wasWoken || !completions.isEmpty || remaining <= 0 { return completions }
      guard unsafe curl_multi_poll(multi, nil, 0, Int32(clamping: remaining), nil) == CURLM_OK
      else { return endAll(with: .internalFault) }
    }
  }

  /// Makes `run` return: the one that waits now, else the next. From any thread.
  public func wake() {
    woken.store(true, ordering: .releasing)
    unsafe curl_multi_wakeup(multi)
  }

  /// Cuts off everything that is active; nothing is left to come out of `run`.
  /// - Returns: one completion for each, with the failure `cancelled` and whether its request had been sent.
  @discardableResult public func cancelAll() -> [TransferCompletion] {
    endAll(with: .cancelled)
  }

  private func collect() -> [TransferCompletion] {
    var completions: [TransferCompletion] = []
    var left: Int32 = 0
    while let message = unsafe curl_multi_info_read(multi, &left) {
      // The message dies with the removal of its handle (curl_multi_info_read(3)).
      let key = unsafe UInt(bitPattern: message.pointee.easy_handle)
      let code = unsafe message.pointee.data.result
      guard unsafe message.pointee.msg == CURLMSG_DONE, let transfer = running[key] else { continue }
      completions.append(TransferCompletion(tag: transfer.tag, result: transfer.result(code: code)))
      retire(transfer)
    }
    return completions
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
