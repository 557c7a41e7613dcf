// One running request: an easy handle, the memory that libcurl reads during the transfer, and its callbacks.
// The pool's thread only. A callback runs inside curl_multi_perform(3) and must not call libcurl.

internal import CCurl
internal import Cryptography
internal import Platform

/// A reusable slot for transfers.
///
/// Owns the easy handle, and the memory that libcurl reads without copying (CURLOPT_CURLU(3),
/// CURLOPT_HTTPHEADER(3), CURLOPT_POSTFIELDS(3)). `release` frees the copy of the body after the handle has
/// left the multi handle. The URL, the header list and all options are kept while the next request differs
/// only in its body, which is the usual case. libcurl's callbacks hold the transfer unretained; the pool
/// keeps it alive until the transfer has ended.
@safe final class Transfer {
  let easy: UnsafeMutableRawPointer
  /// The easy handle's address, used only as a key.
  let key: UInt
  private(set) var tag: UInt64 = 0
  /// The request that the options are set for, without its body; nil when none are set.
  private var configured: TransferRequest?
  private var url: TransferURL?
  private var headerList: UnsafeMutablePointer<curl_slist>?
  private var body: UnsafeMutableRawBufferPointer?
  private var collector = AnswerCollector()
  private var requestWasSent = false
  private(set) var clock = TransferClock(timeout: .zero, connectTimeout: .zero, now: .init(nanoseconds: 0))
  /// The connections that it uses; nil while no request is prepared.
  private(set) var cache: ConnectionCache?
  private let proxies: ProxySettings
  /// Whether the pool ended it because its time was used up.
  private var isOverdue = false
  /// The buffer for libcurl's error message (CURLOPT_ERRORBUFFER(3)). It lives as long as the handle.
  private let message: UnsafeMutableBufferPointer<CChar>

  init(_ proxies: ProxySettings) throws(TransferFailure) {
    self.proxies = proxies
    guard let easy = unsafe curl_easy_init() else { throw .outOfMemory }
    unsafe self.easy = easy
    unsafe message = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe message.initialize(repeating: 0)
    key = UInt(bitPattern: easy)
  }

  deinit {
    release()
    forget()
    unsafe curl_easy_cleanup(easy)
    unsafe message.deallocate()
  }

  /// Prepares the handle for `request`. After a failure, `release` makes the slot usable again.
  func prepare(
    _ request: TransferRequest, tag: UInt64, now: MonotonicInstant,
    cache: (_ origin: String) throws(TransferFailure) -> ConnectionCache
  ) throws(TransferFailure) {
    self.tag = tag
    clock = TransferClock(timeout: request.timeout, connectTimeout: request.connectTimeout, now: now)
    collector.bytesMax = request.answerBytesMax
    unsafe message[0] = 0
    if configured?.differsOnlyInBody(from: request) != true {
      forget()
      try configure(request)
      configured = request.withoutBody
    }
    guard let url else { throw .internalFault }
    let cache = try cache(url.origin)
    try unsafe check(cache.attach(easy))
    self.cache = cache
    try setConnectTimeout(now: now)
    if request.method.hasBody { try setBody(request.body) }
  }

  /// Sets every option but the body.
  private func configure(_ request: TransferRequest) throws(TransferFailure) {
    let url = try TransferURL(request.url)
    self.url = url
    try setDestination(url)
    try setCertificates(request)
    try setHeaders(request)
    if request.method.hasBody { try set(CURLOPT_POST, 1) }
    // Only the name of the method differs from POST.
    if request.method == .patch { try set(CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
    try setConduct()
    try setCallbacks()
  }

  /// The result of the transfer.
  /// - Parameter failure: why the pool ended it; nil when libcurl ended it with `code`.
  func result(code: CURLcode, failure: TransferFailure? = nil) -> TransferResult {
    var reason = failure ?? collector.refusal
    if reason == nil {
      if code != CURLE_OK {
        reason = TransferFailure(code: code, requestWasSent: requestWasSent)
      } else if collector.status == nil {
        reason = .malformedAnswer
      } else if collector.isCoded {
        reason = .codedAnswer
      }
    }
    if let failed = reason, failed.concernsProxy, isStoppedByProxy { reason = .proxyFailed }
    return TransferResult(
      status: collector.status, headers: collector.headers, body: collector.body, failure: reason,
      detail: detail(of: reason), route: route, requestWasSent: requestWasSent,
      certificateExpiresAt: certificate?.expiresAt,
      duration: MonotonicInstant.now().duration(since: clock.startedAt))
  }

  /// The proxy that the transfer goes through; nil for none.
  private var proxy: String? {
    guard let url, !url.isLoopback, proxies.applies(to: url.host) else { return nil }
    return proxies.address
  }

  /// Whether the proxy was not reached, or has made no connection to the server.
  private var isStoppedByProxy: Bool {
    proxy != nil && !requestWasSent && number(CURLINFO_HTTP_CONNECTCODE) != 200
  }

  /// The address that the connection was made to; nil without a connection.
  private var peer: String? {
    var text: UnsafePointer<CChar>?
    guard unsafe ccurl_get_string(easy, CURLINFO_PRIMARY_IP, &text) == CURLE_OK, let text = unsafe text,
      let peer = unsafe String(validatingCString: text), !peer.isEmpty
    else { return nil }
    return peer
  }

  private var route: String? {
    guard let peer else { return nil }
    return proxy.map { "\(peer), the proxy \($0)" } ?? peer
  }

  private func number(_ info: CURLINFO) -> Int {
    var number = 0
    unsafe ccurl_get_long(easy, info, &number)
    return number
  }

  /// Details of a failure before a status was received.
  private func detail(of reason: TransferFailure?) -> String? {
    guard let reason, let url, collector.status == nil else { return nil }
    var address = url.authority
    let isProxyFault = reason == .proxyFailed
    if isProxyFault, let proxy {
      let known = peer.map { proxy.hasPrefix($0) ? "" : " (\($0))" } ?? ""
      address = "the proxy \(proxy)\(known), asked for \(url.authority)"
    } else if let proxy {
      address += " through the proxy \(proxy)"
    } else if let peer, peer != url.host {
      address += " (\(peer))"
    }
    // After an answer to CONNECT, the connection to the proxy has no error.
    let error = number(CURLINFO_HTTP_CONNECTCODE) == 0 ? number(CURLINFO_OS_ERRNO) : 0
    let said = unsafe message.baseAddress.flatMap { unsafe String(validatingCString: $0) } ?? ""
    return reason.detail(
      address: address, systemError: Int32(clamping: error), said: isOverdue ? clock.overrun : said)
  }

  /// The server's certificate; nil unless this transfer made the connection (CURLINFO_CERTINFO(3)).
  private var certificate: Certificate? {
    var chain: UnsafeMutablePointer<curl_certinfo>?
    guard unsafe ccurl_get_certificates(easy, &chain) == CURLE_OK, let chain = unsafe chain?.pointee,
      unsafe chain.num_of_certs > 0
    else { return nil }
    // A list of lines "name:value", of which one is the certificate in PEM.
    let name = "Cert:"
    var line = unsafe chain.certinfo?.pointee
    while let entry = unsafe line {
      let text = unsafe entry.pointee.data.flatMap { unsafe String(validatingCString: $0) } ?? ""
      if text.hasPrefix(name) { return try? Certificate(pem: Array(text.utf8.dropFirst(name.utf8.count))) }
      unsafe line = entry.pointee.next
    }
    return nil
  }

  /// Resets the result, and frees the body after libcurl has dropped its pointer to it. The handle must not
  /// be in a multi handle.
  func release() {
    if unsafe body != nil {
      unsafe ccurl_set_pointer(easy, CURLOPT_POSTFIELDS, nil)
      unsafe body?.deallocate()
      unsafe body = nil
    }
    collector = AnswerCollector()
    requestWasSent = false
    isOverdue = false
    unsafe ConnectionCache.detach(easy)
    cache = nil
  }

  /// Resets all options, and then frees the memory that they pointed to.
  private func forget() {
    configured = nil
    unsafe curl_easy_reset(easy)
    url = nil
    unsafe curl_slist_free_all(headerList)
    unsafe headerList = nil
  }

  /// The result of a transfer that has used up its time.
  func timeOut() -> TransferResult {
    isOverdue = true
    return result(code: CURLE_OPERATION_TIMEDOUT, failure: .timeout)
  }

  /// Must be called before libcurl may notice the end of a name lookup.
  func setConnectTimeout(now: MonotonicInstant) throws(TransferFailure) {
    try set(CURLOPT_CONNECTTIMEOUT_MS, clock.connectLimit(now: now))
  }
}

// The options, by topic.
extension Transfer {
  private func setDestination(_ url: TransferURL) throws(TransferFailure) {
    try unsafe check(ccurl_set_url(easy, CURLOPT_CURLU, url.handle))
    try set(CURLOPT_PROTOCOLS_STR, url.scheme)
    // A loopback address must never use a proxy. An empty text makes libcurl ignore the environment.
    let usesProxy = !url.isLoopback && proxies.applies(to: url.host)
    try set(CURLOPT_PROXY, usesProxy ? proxies.url ?? "" : "")
    try set(CURLOPT_NOPROXY, "")
    // The answer to a proxy's CONNECT is not the server's answer.
    try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    try set(CURLOPT_SSL_VERIFYPEER, 1)
    try set(CURLOPT_SSL_VERIFYHOST, 2)
    try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
    try set(CURLOPT_CERTINFO, 1)
  }

  private func setCertificates(_ request: TransferRequest) throws(TransferFailure) {
    if let certificate = request.clientCertificateFile, let key = request.clientKeyFile {
      guard !certificate.utf8.contains(0), !key.utf8.contains(0) else { throw .tlsFailed }
      try set(CURLOPT_SSLCERT, certificate)
      try set(CURLOPT_SSLKEY, key)
    }
    guard let file = request.certificateAuthorityFile else { return }
    guard !file.utf8.contains(0) else { throw .certificateAuthorityUnreadable }
    // libcurl keeps the authorities of a file for a day (CURLOPT_CA_CACHE_TIMEOUT(3)).
    try set(CURLOPT_CA_CACHE_TIMEOUT, Int(TransferLimits.connectionLifetime.components.seconds))
    try set(CURLOPT_CAINFO, file)
    // Otherwise libcurl would use the system's directory of authorities in addition to the file.
    try unsafe check(ccurl_set_string(easy, CURLOPT_CAPATH, nil))
  }

  private func setHeaders(_ request: TransferRequest) throws(TransferFailure) {
    var lines: [String] = []
    for header in request.headers {
      guard header.isSendable else { throw .refusedHeader }
      // libcurl's syntax for a field with an empty value is a semicolon.
      let isEmpty = header.value.allSatisfy(\.isWhitespace)
      lines.append(isEmpty ? "\(header.name);" : "\(header.name): \(header.value)")
    }
    // A name without a value removes a default header of libcurl: `Expect: 100-continue`, and its
    // `Content-Type` for forms.
    lines.append("Expect:")
    let hasType = request.headers.contains { $0.name.lowercased() == "content-type" }
    if !hasType { lines.append("Content-Type:") }
    // Without the field any coding would be acceptable (RFC 9110 §12.5.3), and none is decoded here.
    lines.append("Accept-Encoding: identity")
    for line in lines {
      guard let list = unsafe curl_slist_append(headerList, line) else { throw .outOfMemory }
      unsafe headerList = list
    }
    try unsafe check(ccurl_set_list(easy, CURLOPT_HTTPHEADER, headerList))
  }

  private func setBody(_ bytes: [UInt8]) throws(TransferFailure) {
    // Never nil: with a null pointer libcurl would call a read callback.
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 1)
    unsafe copy.copyBytes(from: bytes)
    unsafe body = copy
    try unsafe check(ccurl_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bytes.count)))
    try unsafe check(ccurl_set_pointer(easy, CURLOPT_POSTFIELDS, copy.baseAddress))
  }

  private func setConduct() throws(TransferFailure) {
    try set(CURLOPT_NOSIGNAL, 1)
    try set(CURLOPT_FOLLOWLOCATION, 0)
    try set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
    // Otherwise a timeout during a name lookup waits for the resolver's thread, which blocks all transfers.
    try set(CURLOPT_QUICK_EXIT, 1)
  }

  private func setCallbacks() throws(TransferFailure) {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    try unsafe check(ccurl_set_write_callback(easy, CURLOPT_HEADERFUNCTION, receiveHeader))
    try unsafe check(ccurl_set_pointer(easy, CURLOPT_HEADERDATA, context))
    try unsafe check(ccurl_set_write_callback(easy, CURLOPT_WRITEFUNCTION, receiveBody))
    try unsafe check(ccurl_set_pointer(easy, CURLOPT_WRITEDATA, context))
    try unsafe check(ccurl_set_prereq_callback(easy, CURLOPT_PREREQFUNCTION, noteRequest))
    try unsafe check(ccurl_set_pointer(easy, CURLOPT_PREREQDATA, context))
    try unsafe check(ccurl_set_resolver_callback(easy, CURLOPT_RESOLVER_START_FUNCTION, noteLookup))
    try unsafe check(ccurl_set_pointer(easy, CURLOPT_RESOLVER_START_DATA, context))
    try unsafe check(ccurl_set_socket_callback(easy, CURLOPT_SOCKOPTFUNCTION, noteConnect))
    try unsafe check(ccurl_set_pointer(easy, CURLOPT_SOCKOPTDATA, context))
    try unsafe check(ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, message.baseAddress))
  }

  private func set(_ option: CURLoption, _ value: Int) throws(TransferFailure) {
    try unsafe check(ccurl_set_long(easy, option, value))
  }

  private func set(_ option: CURLoption, _ value: String) throws(TransferFailure) {
    try unsafe check(ccurl_set_string(easy, option, value))
  }

  private func check(_ code: CURLcode) throws(TransferFailure) {
    guard code != CURLE_OK else { return }
    throw code == CURLE_OUT_OF_MEMORY ? .outOfMemory : .internalFault
  }
}

// The callbacks. Any return value other than the number of bytes received ends the transfer with
// CURLE_WRITE_ERROR.
extension Transfer {
  fileprivate static func from(_ context: UnsafeMutableRawPointer) -> Transfer {
    unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  }

  fileprivate func collect(headerLine bytes: UnsafeRawBufferPointer) -> Bool {
    unsafe collector.collectHeaderLine(Array(bytes))
  }

  fileprivate func collect(body bytes: UnsafeRawBufferPointer) -> Bool {
    unsafe collector.collectBody(bytes)
  }

  fileprivate func noteThatRequestLeaves() {
    requestWasSent = true
    clock.exchangeBegan(now: .now())
  }

  fileprivate func noteLookupBegins() { clock.lookupBegan(now: .now()) }
  fileprivate func noteConnectBegins() { clock.connectBegan(now: .now()) }
}

private let receiveHeader: curl_write_callback = { bytes, size, count, context in
  guard let context = unsafe context else { return 0 }
  let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
  return unsafe Transfer.from(context).collect(headerLine: line) ? line.count : Int(CURL_WRITEFUNC_ERROR)
}

private let receiveBody: curl_write_callback = { bytes, size, count, context in
  guard let context = unsafe context else { return 0 }
  let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
  return unsafe Transfer.from(context).collect(body: piece) ? piece.count : Int(CURL_WRITEFUNC_ERROR)
}

/// Called after the connection is made, including TLS, and before the first byte of a request. Called again
/// when libcurl repeats a request on a new connection because a kept one was dead
/// (CURLOPT_PREREQFUNCTION(3)).
private let noteRequest: curl_prereq_callback = { context, _, _, _, _ in
  guard let context = unsafe context else { return CURL_PREREQFUNC_ABORT }
  unsafe Transfer.from(context).noteThatRequestLeaves()
  return CURL_PREREQFUNC_OK
}

/// Called before a name lookup, also of a numeric address, unless the cache has its result
/// (CURLOPT_RESOLVER_START_FUNCTION(3)).
private let noteLookup: curl_resolver_start_callback = { _, _, context in
  guard let context = unsafe context else { return 1 }
  unsafe Transfer.from(context).noteLookupBegins()
  return 0
}

/// Called with each new socket, after the lookup and before connect(2) (CURLOPT_SOCKOPTFUNCTION(3)).
private let noteConnect: curl_sockopt_callback = { context, _, _ in
  guard let context = unsafe context else { return CURL_SOCKOPT_ERROR }
  unsafe Transfer.from(context).noteConnectBegins()
  return CURL_SOCKOPT_OK
}
