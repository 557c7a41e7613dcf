// What became of a request, as values. Pure.

/// The end of one transfer.
///
/// A status that was received stands, whatever happened to the rest of the answer: a 2xx whose body was cut,
/// slow or endless is a 2xx (R3). So look at `status` first; `failure` beside a status tells of the body
/// only.
public struct TransferResult: Sendable, Equatable {
  /// The final answer's status code, 200 to 599; nil when none was received. Never an interim (1xx) one.
  public let status: Int?
  /// The final answer's header fields, in order of arrival, without trailers.
  public let headers: [TransferHeader]
  /// The first bytes of the answer's body, as many as the request's `answerBytesMax` allows.
  public let body: [UInt8]
  /// Why the transfer did not come to its proper end.
  public let failure: TransferFailure?
  /// The address that the failure is about, and what the operating system, libcurl or OpenSSL said of it:
  /// `pay.example:443 (192.0.2.1): Connection refused`. One line without path, query or credentials; nil
  /// where nothing was said. Part of it may come from the server, such as the name in its certificate.
  public let detail: String?
  /// Whether any byte of the request may have left. A failure without a status is then ambiguous: the server
  /// may have acted on the request.
  public let requestWasSent: Bool
  /// From `start` to the end, in milliseconds, on the monotonic clock.
  public let durationMilliseconds: Int64

  public init(
    status: Int?, headers: [TransferHeader] = [], body: [UInt8] = [], failure: TransferFailure? = nil,
    detail: String? = nil, requestWasSent: Bool, durationMilliseconds: Int64
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.failure = failure
    self.detail = detail
    self.requestWasSent = requestWasSent
    self.durationMilliseconds = durationMilliseconds
  }

  /// The failure with its detail, for people: `connect_failed: pay.example:443 (192.0.2.1): Connection
  /// refused`.
  public var failureText: String? {
    failure.map { failure in detail.map { "\(failure.rawValue): \($0)" } ?? failure.rawValue }
  }

  /// Whether `body` may lack its end.
  public var bodyTruncated: Bool { status != nil && failure != nil }

  /// The value of the first field of that name in ASCII letters of any case (RFC 9110 §5.1); nil without
  /// one.
  public func header(_ name: String) -> String? {
    let wanted = name.lowercased()
    return headers.first { $0.name.lowercased() == wanted }?.value
  }
}

/// A transfer that ended, and what its starter called it.
public struct TransferCompletion: Sendable, Equatable {
  public let tag: UInt64
  public let result: TransferResult

  public init(tag: UInt64, result: TransferResult) {
    self.tag = tag
    self.result = result
  }
}
