// The results of requests as values. Pure.

/// The result of one transfer.
///
/// A status that was received is valid, whatever happened to the rest of the answer: a 2xx whose body was
/// cut, slow or endless is a 2xx (R3). So check `status` first; with a status, `failure` describes only the
/// body.
public struct TransferResult: Sendable, Equatable {
  /// The final answer's status code, 200 to 599; nil when none was received. Never an interim (1xx) status.
  public let status: Int?
  /// The final answer's header fields in the order received, without trailers.
  public let headers: [TransferHeader]
  /// The first bytes of the answer's body, up to the request's `answerBytesMax`.
  public let body: [UInt8]
  /// Why the transfer failed; nil when it completed.
  public let failure: TransferFailure?
  /// The address of the failure, and the error of the operating system, libcurl or OpenSSL:
  /// `pay.example:443 (192.0.2.1): Connection refused`. One line without path, query or credentials; nil
  /// without an error message. Part of it may come from the server, such as the name in its certificate.
  public let detail: String?
  /// The address that the connection was made to, and the proxy if it is one:
  /// `192.0.2.1, the proxy proxy.example:3128`. Nil without a connection.
  public let route: String?
  /// Whether any byte of the request may have been sent. A failure without a status is then ambiguous: the
  /// server may have processed the request.
  public let requestWasSent: Bool
  /// When the server's certificate expires, as Unix time in milliseconds. Nil without TLS, when the
  /// certificate was not accepted, and on a connection that was kept from an earlier transfer.
  public let certificateExpiresAt: Int64?
  /// From `start` to the end, on the monotonic clock.
  public let duration: Duration

  public init(
    status: Int?, headers: [TransferHeader] = [], body: [UInt8] = [], failure: TransferFailure? = nil,
    detail: String? = nil, route: String? = nil, requestWasSent: Bool, certificateExpiresAt: Int64? = nil,
    duration: Duration
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.failure = failure
    self.detail = detail
    self.route = route
    self.requestWasSent = requestWasSent
    self.certificateExpiresAt = certificateExpiresAt
    self.duration = duration
  }

  /// The failure with its detail, for messages to people:
  /// `connect_failed: pay.example:443 (192.0.2.1): Connection refused`.
  public var failureText: String? {
    failure.map { failure in detail.map { "\(failure.rawValue): \($0)" } ?? failure.rawValue }
  }

  /// Whether `body` may be incomplete.
  public var bodyTruncated: Bool { status != nil && failure != nil }

  /// The value of the first field of that name, compared without ASCII case (RFC 9110 §5.1); nil if there is
  /// none.
  public func header(_ name: String) -> String? {
    let wanted = name.lowercased()
    return headers.first { $0.name.lowercased() == wanted }?.value
  }
}

/// A completed transfer and the tag of its caller.
public struct TransferCompletion: Sendable, Equatable {
  public let tag: UInt64
  public let result: TransferResult

  public init(tag: UInt64, result: TransferResult) {
    self.tag = tag
    self.result = result
  }
}
