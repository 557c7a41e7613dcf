// The failures of a transfer: a closed set, classified once, here. They contain no URLs, headers or bodies.

internal import CCurl
internal import Platform

/// Why a transfer was not started or failed. The raw values are stored and shown.
public enum TransferFailure: String, Sendable, Error, CaseIterable {
  /// The host name could not be resolved.
  case resolveFailed = "resolve_failed"
  /// No connection: refused or unreachable.
  case connectFailed = "connect_failed"
  /// The proxy cannot be reached, or refused to connect to the server.
  case proxyFailed = "proxy_failed"
  /// The TLS handshake failed for a reason other than the server's certificate.
  case tlsFailed = "tls_failed"
  /// The server's certificate could not be verified: signer, name or dates.
  case certificateRejected = "certificate_rejected"
  /// `certificateAuthorityFile` cannot be read as certificates.
  case certificateAuthorityUnreadable = "certificate_authority_unreadable"
  /// A timeout elapsed: that of the name lookup, or one of the request's two.
  case timeout
  /// The connection ended early: reset, or closed before the end of the answer.
  case connectionLost = "connection_lost"
  /// The data is not an HTTP answer, or has too many interim answers.
  case malformedAnswer = "malformed_answer"
  /// The answer exceeded a limit of `TransferLimits` after its status.
  case answerTooLarge = "answer_too_large"
  /// The answer has a content coding, although the request accepts none.
  case codedAnswer = "coded_answer"
  /// The URL is malformed, contains a user or a password, or is neither https nor http to a loopback address.
  case refusedURL = "refused_url"
  /// A header field cannot be sent, or is reserved for libcurl.
  case refusedHeader = "refused_header"
  /// The maximum number of transfers is active; retry when one has ended.
  case poolFull = "pool_full"
  /// `cancelAll` ended it.
  case cancelled
  case outOfMemory = "out_of_memory"
  /// libcurl failed in any other way.
  case internalFault = "internal_fault"
}

extension TransferFailure {
  /// Classifies an error of libcurl (libcurl-errors(3)).
  ///
  /// Some codes have a different meaning after the request was sent. A "receive error" before it comes from a
  /// proxy's CONNECT. "Out of memory" after it is the error of libcurl 7.88 for a header line over 100 KiB.
  init(code: CURLcode, requestWasSent sent: Bool) {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: self = .resolveFailed
    case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_PROXY: self = .connectFailed
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
      CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      self = .certificateRejected
    case CURLE_SSL_CACERT_BADFILE: self = .certificateAuthorityUnreadable
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT,
      CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED,
      CURLE_SSL_CRL_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_USE_SSL_FAILED:
      self = .tlsFailed
    case CURLE_OPERATION_TIMEDOUT: self = .timeout
    case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND,
      CURLE_HTTP2, CURLE_HTTP2_STREAM:
      self = sent ? .connectionLost : .connectFailed
    case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR: self = .malformedAnswer
    case CURLE_FILESIZE_EXCEEDED: self = .answerTooLarge
    case CURLE_UNSUPPORTED_PROTOCOL: self = sent ? .malformedAnswer : .refusedURL
    case CURLE_URL_MALFORMAT: self = .refusedURL
    case CURLE_OUT_OF_MEMORY: self = sent ? .malformedAnswer : .outOfMemory
    default: self = .internalFault
    }
  }
}

extension TransferFailure {
  /// Whether the proxy may have caused it, before it connected to the server.
  var concernsProxy: Bool { self == .resolveFailed || self == .connectFailed || self == .timeout }

  static let detailBytesMax = 300

  /// One line about a failure to connect or to get an answer; nil for failures that need no details.
  /// - Parameters:
  ///   - systemError: errno of the last connect(2); 0 when there was none.
  ///   - said: libcurl's message. Part of it may come from the server.
  func detail(address: String, systemError: Int32, said: String) -> String? {
    switch self {
    case .connectFailed where systemError != 0, .proxyFailed where systemError != 0:
      return Self.line("\(address): \(SystemError(code: systemError, operation: "connect").reason)")
    case .resolveFailed, .connectFailed, .proxyFailed, .tlsFailed, .certificateRejected,
      .certificateAuthorityUnreadable,
      .timeout, .connectionLost, .malformedAnswer:
      return Self.line(said.isEmpty ? address : "\(address): \(said)")
    case .answerTooLarge, .codedAnswer, .refusedURL, .refusedHeader, .poolFull, .cancelled, .outOfMemory,
      .internalFault:
      return nil
    }
  }

  /// Limits the length, and removes characters that could end a line or control a terminal.
  private static func line(_ text: String) -> String {
    let printable = text.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint }
      .map { scalar -> Character in
        scalar.properties.generalCategory == .control ? " " : Character(scalar)
      }
    var line = String(printable)
    while line.utf8.count > detailBytesMax { line.removeLast() }
    return line
  }
}
