// What the application tells the server, and the server the application.

/// What the application says to a request whose header fields have come.
public enum Admission: Sendable {
  /// Go on, and hand over the body if it is not longer than this.
  /// - handler: takes the complete request in place of the application's `handle`, so that what was found out
  ///   for the admission need not be found out twice. The same holds for it.
  case body(maximumBytes: Int, handler: (@Sendable (Request, Responder) -> Void)? = nil)
  /// The answer is clear without the body.
  case answer(Response)
}

/// Why the server must answer a request itself. The text of the answer is the application's.
public enum Rejection: Sendable, Equatable {
  /// The target is not valid UTF-8, a header field is malformed, or the length of the body is ambiguous: 400.
  case malformed
  /// More bytes than were admitted: 413. The connection is closed after the answer.
  case bodyTooLarge(maximumBytes: Int)
  /// The bodies of all requests hold what they may, or those from this address do: 503, to be tried again.
  case noRoom
  /// Only the reserved connections are left, and the request may not use them: 503, to be tried again. The
  /// connection is closed after the answer.
  case crowded
  /// The request was not complete in time: 408. The connection is closed after the answer.
  case tooSlow
  /// The application dropped the responder without an answer: 500.
  case abandoned
  /// The server stops before the application answered: 503.
  case stopping
}

/// The application behind a server. Called from the server's threads, from several at once.
public protocol RequestHandler: Sendable {
  /// Called after the header fields, before any byte of the body. Must not block.
  func admit(_ head: RequestHead) -> Admission

  /// Whether the request may use the connections that the server keeps free (`reservedConnections`). Called
  /// before `admit`, and only when there are no others.
  func mayUseReserve(_ head: RequestHead) -> Bool

  /// Called once the request is complete. Must not block: what takes time keeps the responder and answers
  /// later.
  func handle(_ request: Request, _ responder: Responder)

  /// The answer to a request that the server turns away.
  /// - Parameter head: nil when the request did not come that far.
  func response(to rejection: Rejection, head: RequestHead?) -> Response
}

extension RequestHandler {
  public func mayUseReserve(_ head: RequestHead) -> Bool { true }
}
