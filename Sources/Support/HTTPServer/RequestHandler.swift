// The interface between the server and the application.

/// The application's decision on a request whose header fields have arrived.
public enum Admission: Sendable {
  /// Read the body, and hand it over if it is not longer than this.
  /// - handler: handles the complete request instead of the application's `handle`, so that work done for the
  ///   admission is not repeated. The rules of `handle` apply to it.
  case body(maximumBytes: Int, handler: (@Sendable (Request, Responder) -> Void)? = nil)
  /// Answer without reading the body.
  case answer(Response)
}

/// Why the server answers a request without the application's `handle`. The application writes the text of
/// the answer.
public enum Rejection: Sendable, Equatable {
  /// The target is not valid UTF-8, the head is not well-formed, or the length of the body or the host is
  /// ambiguous: 400. The connection is closed after the answer.
  case malformed
  /// The head is longer than `ServerConfiguration.headerBytesMax`: 431. The connection is closed after the
  /// answer.
  case headTooLarge
  /// The body is longer than admitted: 413. The connection is closed after the answer.
  case bodyTooLarge(maximumBytes: Int)
  /// The bodies of all requests, or of those from this address, have reached their limit: 503, with a retry.
  case noRoom
  /// Only the reserved connections are left, and the request may not use them: 503, with a retry. The
  /// connection is closed after the answer.
  case crowded
  /// The request was not complete in time: 408. The connection is closed after the answer.
  case tooSlow
  /// The application dropped the responder without an answer: 500.
  case abandoned
  /// The server stopped before the application answered: 503.
  case stopping
}

/// The application behind a server. Called from several of the server's threads concurrently.
public protocol RequestHandler: Sendable {
  /// Called after the header fields, before any byte of the body. Must not block.
  func admit(_ head: RequestHead) -> Admission

  /// Whether the request may use the reserved connections (`reservedConnections`). Called before `admit`, and
  /// only when no others are left.
  func mayUseReserve(_ head: RequestHead) -> Bool

  /// Called once the request is complete. Must not block: slow work keeps the responder and answers later.
  func handle(_ request: Request, _ responder: Responder)

  /// The answer to a request that the server rejects.
  /// - Parameter head: nil when the request's head is incomplete or malformed.
  func response(to rejection: Rejection, head: RequestHead?) -> Response
}

extension RequestHandler {
  public func mayUseReserve(_ head: RequestHead) -> Bool { true }
}
