// Which kept connections a transfer may use. The pool's thread only.

internal import CCurl
internal import Platform

/// Connections to one origin, and the addresses of its name (libcurl-share(3)).
///
/// Its users keep it alive. Its connections are closed when the last one releases it, so no transfer can get
/// a connection that was made before its cache.
@safe final class ConnectionCache {
  private let share: UnsafeMutableRawPointer
  fileprivate let madeAt: MonotonicInstant

  init(now: MonotonicInstant) throws(TransferFailure) {
    guard let share = unsafe curl_share_init() else { throw .outOfMemory }
    guard unsafe ccurl_share(share, CURL_LOCK_DATA_CONNECT) == CURLSHE_OK,
      unsafe ccurl_share(share, CURL_LOCK_DATA_DNS) == CURLSHE_OK
    else {
      unsafe curl_share_cleanup(share)
      throw .internalFault
    }
    unsafe self.share = share
    madeAt = now
  }

  deinit {
    unsafe curl_share_cleanup(share)
  }

  /// Makes a handle use the cache. `detach` must be called before the cache is released.
  func attach(_ easy: UnsafeMutableRawPointer) -> CURLcode {
    unsafe ccurl_set_pointer(easy, CURLOPT_SHARE, share)
  }

  static func detach(_ easy: UnsafeMutableRawPointer) { unsafe ccurl_set_pointer(easy, CURLOPT_SHARE, nil) }
}

/// The cache that the next transfer to each origin uses.
///
/// libcurl keeps an HTTP/2 connection after a time-out on it, and a busy one for ever (CURLOPT_TIMEOUT_MS(3),
/// CURLOPT_MAXLIFETIME_CONN(3)). A peer that fell silent would be asked again and again, and a name that
/// moved would not be followed. So a cache is replaced after a failure, and when it is old.
struct ConnectionCaches {
  /// The maximum number of origins with kept connections.
  let originsMax: Int
  private var caches: [String: ConnectionCache] = [:]

  init(originsMax: Int) { self.originsMax = originsMax }

  /// - Parameter isFresh: whether the transfer needs a new connection and a new name lookup.
  mutating func cache(
    of origin: String, isFresh: Bool, now: MonotonicInstant
  ) throws(TransferFailure) -> ConnectionCache {
    caches = caches.filter { now.duration(since: $0.value.madeAt) < TransferLimits.connectionLifetime }
    if isFresh { caches[origin] = nil }
    if let known = caches[origin] { return known }
    if caches.count >= originsMax, let oldest = caches.min(by: { $0.value.madeAt < $1.value.madeAt }) {
      caches[oldest.key] = nil
    }
    let new = try ConnectionCache(now: now)
    caches[origin] = new
    return new
  }

  /// After a failure on one of its connections no later transfer uses them.
  mutating func retire(_ cache: ConnectionCache) { caches = caches.filter { $0.value !== cache } }
}
